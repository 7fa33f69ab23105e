import type { Server } from '@hapi/hapi'
import { referential, type ReferentialConfig } from '../../checks/referential.ts'
import type { CheckType } from '../../checks/check.ts'
import { presentFields } from '../../server/http/fields.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import type { MeasuredRow } from '../scans/api.ts'
import { checksWithNames } from './checks.ts'
import { findBreaches, judgeOutcome, limitsOf, type JudgedOrphans } from './judge.ts'
import { ReferentialResult, type NamedCheck, type ReferentialCheck } from './models.ts'
import { limitFields } from './fields.ts'
import { childPath, parentPath } from './present.ts'

/** What checks want measured of their child's table, or why one cannot be, as far as the catalog knows. */
export async function loadCheckSpecs(server: Server, checks: readonly ReferentialCheck[], trx: Transaction) {
  const parents = new Map<string, TableContext | undefined>()
  for (const id of new Set(checks.map(({ parentTableId }) => parentTableId)))
    parents.set(id, await server.plugins.catalog.loadTable(trx, id))
  return checks.map(check => checkSpecOf(server, check, parents.get(check.parentTableId)))
}

type MeasuredCheck = Parameters<typeof limitsOf>[0] &
  Pick<ReferentialCheck, 'childColumnName' | 'parentColumnName'>

/** What a check wants measured, which need not be stored. */
export function checkSpecOf(server: Server, check: MeasuredCheck, parent: TableContext | undefined) {
  const { catalog } = server.plugins
  if (!parent?.table.isActive) {
    const name = parent?.table.qualifiedName ?? 'of the parent'
    return {
      kind: 'missing-object',
      message: `The table ${name} is no longer in the source: the last discovery did not find it`,
    }
  }
  const { minChildCount, maxChildCount } = limitsOf(check)
  const config: ReferentialConfig = {
    parent: catalog.tableInfo(parent.table),
    parentColumn: check.parentColumnName,
    minChildren: minChildCount,
    maxChildren: maxChildCount,
  }
  // Orphans are values of the parent's kind: an email that no customer has is one all the same.
  const isPersonal = catalog.personalColumns(parent).has(check.parentColumnName)
  return {
    type: referential as unknown as CheckType,
    column: check.childColumnName,
    config: { ...config },
    ...(isPersonal && { maskedColumns: [check.childColumnName] }),
  }
}

/** Judges outcomes and stores results and alerts. */
export async function recordResults(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  taken: readonly MeasuredRow<ReferentialCheck>[],
  at: Date,
): Promise<ReferentialResult[]> {
  const judgements = taken.map(item => ({ ...item, judged: judgeOutcome(item.row, item.outcome) }))
  for (const { judged } of judgements) server.telemetry.verdict('referential', 'orphans', judged.status)
  const storing = insertAll(
    judgements.map(({ row, judged, slot, outcome }) => ({
      referentialCheckId: row.id,
      ...judged,
      queryDurationMs: Math.round(outcome.durationMs),
      scheduledFor: slot,
      checkedAt: at,
    })),
    chunk => ReferentialResult.query(trx).insert(chunk),
  )
  const latest = judgements.map(({ row, judged }) => ({ id: row.id, status: judged.status }))
  const updating = rows(
    trx,
    `update referential_checks c set latest_status = l.status, last_check_at = :at
     from jsonb_to_recordset(cast(:latest as jsonb)) as l(id uuid, status text)
     where c.company_id = :companyId and c.id = l.id`,
    { at, latest: JSON.stringify(latest), companyId: companyOf(trx) },
  )
  const byId = new Map(judgements.map(({ row, judged }) => [row.id, { before: row.latestStatus, judged }]))
  const [stored, , checks] = await Promise.all([
    storing,
    updating,
    checksWithNames(trx).findByIds([...byId.keys()]),
  ])
  await updateAlerts(
    server,
    trx,
    loaded,
    checks.map(check => ({ check, ...byId.get(check.id)! })),
  )
  return stored
}

/** A check that was judged, with how it did before. */
interface JudgedCheck {
  check: NamedCheck
  before: ReferentialCheck['latestStatus']
  judged: JudgedOrphans
}

/** Raises the alerts of checks that fail, and resolves those of checks that pass again or have lost their parent. */
async function updateAlerts(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  all: readonly JudgedCheck[],
): Promise<void> {
  const { alerts } = server.plugins
  // After a pass, and before the first result, no alert is open.
  const recovered = all.filter(
    ({ before, judged }) => judged.status === 'pass' && before !== 'pass' && before !== null,
  )
  const causes = recovered.map(({ check }) => check.id)
  await alerts.resolveAll(trx, 'referential_failure', causes)
  const orphaned = all.filter(({ check, judged }) => judged.status === 'error' && !check.parentIsActive)
  await alerts.resolveOrphaned(trx, {
    type: 'referential_failure',
    causes: orphaned.map(({ check }) => check.id),
  })
  // An inactive check never runs again, so its alert would never be resolved.
  const failing = all.filter(({ check, judged }) => judged.status === 'fail' && check.isActive)
  await alerts.raiseAll(
    trx,
    failing.map(item => eventOf(server, loaded, item)),
  )
}

function eventOf(server: Server, { source, table }: TableContext, { check, judged }: JudgedCheck) {
  return {
    type: 'referential_failure' as const,
    cause: check.id,
    severity: check.severity,
    sourceId: source.id,
    asset: {
      id: table.id,
      qualifiedName: table.qualifiedName,
      assetType: table.kind,
      tags: server.plugins.catalog.tagsOf(source, table, [check.childColumnName]),
    },
    ruleName: check.name,
    title: `${check.name}: ${describeBreaches(check, judged)}`,
    details: {
      check_id: check.id,
      child_table_path: childPath(check),
      child_column_name: check.childColumnName,
      parent_table_path: parentPath(check),
      parent_column_name: check.parentColumnName,
      orphan_count: judged.orphanCount,
      orphan_percent: judged.orphanPercent,
      total_child_rows: judged.totalChildRows,
      parents_below_min: judged.parentsBelowMin,
      parents_above_max: judged.parentsAboveMax,
      ...presentFields(limitFields, limitsOf(check)),
    },
  }
}

/** The numbers that are beyond a limit, in words. */
function describeBreaches(check: NamedCheck, judged: JudgedOrphans): string {
  const { orphanCount, orphanPercent, totalChildRows, parentsBelowMin, parentsAboveMax } = judged
  const { minChildCount, maxChildCount } = limitsOf(check)
  const share = Number((orphanPercent ?? 0).toPrecision(3))
  const words = {
    orphans: `${orphanCount} of ${totalChildRows} rows of ${childPath(check)} have a ${check.childColumnName} that is not in ${parentPath(check)} (${share} % of those that have one)`,
    below: `parents with fewer rows than ${minChildCount}: ${parentsBelowMin}`,
    above: `parents with more rows than ${maxChildCount}: ${parentsAboveMax}`,
  }
  return findBreaches(check, judged)
    .map(breach => words[breach])
    .join('; ')
}
