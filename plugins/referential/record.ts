import type { Server } from '@hapi/hapi'
import { referential, type ReferentialConfig } from '../../checks/referential.ts'
import type { CheckType } from '../../checks/check.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database.ts'
import { named } from './checks.ts'
import { breaches, judge, limitsOf, type Judged } from './judge.ts'
import { ReferentialResult, type NamedCheck, type ReferentialCheck } from './models.ts'
import { childPath, parentPath, presentLimits } from './present.ts'

type Feature = Parameters<Server['plugins']['scans']['contribute']>[0]
type Loaded = Parameters<Feature['record']>[1]
/** A check, locked, with what the scan says of it. */
type Taken = { row: ReferentialCheck } & Pick<Parameters<Feature['record']>[2][number], 'outcome' | 'slot'>

/** What a check wants measured of its child's table, or why it cannot be, as far as the catalog knows. */
export async function wanted(server: Server, check: ReferentialCheck, trx: Transaction) {
  const { catalog } = server.plugins
  const parent = await catalog.load(trx, check.parentTableId)
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
    ...(isPersonal && { masked: [check.childColumnName] }),
  }
}

/** Judges outcomes and stores results and alerts. */
export async function record(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  taken: readonly Taken[],
  at: Date,
): Promise<ReferentialResult[]> {
  const judgements = taken.map(item => ({ ...item, judged: judge(item.row, item.outcome) }))
  const stored = await insertAll(
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
  await rows(
    trx,
    `update referential_checks c set latest_status = l.status, last_check_at = :at
     from jsonb_to_recordset(cast(:latest as jsonb)) as l(id uuid, status text)
     where c.company_id = :companyId and c.id = l.id`,
    { at, latest: JSON.stringify(latest), companyId: companyOf(trx) },
  )
  const tables = await named(trx).findByIds(judgements.map(({ row }) => row.id))
  for (const { row, judged } of judgements) {
    const check = tables.find(({ id }) => id === row.id)
    if (check) await alert(server, trx, loaded, { check, before: row.latestStatus, judged })
  }
  return stored
}

async function alert(
  server: Server,
  trx: Transaction,
  { source, table }: Loaded,
  { check, before, judged }: { check: NamedCheck; before: ReferentialCheck['latestStatus']; judged: Judged },
): Promise<void> {
  const { alerts, catalog } = server.plugins
  if (judged.status === 'pass' && before !== 'pass')
    await alerts.resolve(trx, 'referential_failure', check.id)
  if (judged.status !== 'fail') return
  await alerts.raise(trx, {
    type: 'referential_failure',
    cause: check.id,
    severity: check.severity,
    sourceId: source.id,
    asset: {
      id: table.id,
      qualifiedName: table.qualifiedName,
      assetType: table.kind,
      tags: catalog.tagsOf(source, table, [check.childColumnName]),
    },
    ruleName: check.name,
    title: `${check.name}: ${whatFailed(check, judged)}`,
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
      ...presentLimits(limitsOf(check)),
    },
  })
}

/** The numbers that are beyond a limit, in words. */
function whatFailed(check: NamedCheck, judged: Judged): string {
  const { orphanCount, orphanPercent, totalChildRows, parentsBelowMin, parentsAboveMax } = judged
  const { minChildCount, maxChildCount } = limitsOf(check)
  const share = Number((orphanPercent ?? 0).toPrecision(3))
  const words = {
    orphans: `${orphanCount} of ${totalChildRows} rows of ${childPath(check)} have a ${check.childColumnName} that is not in ${parentPath(check)} (${share} % of those that have one)`,
    below: `parents with fewer rows than ${minChildCount}: ${parentsBelowMin}`,
    above: `parents with more rows than ${maxChildCount}: ${parentsAboveMax}`,
  }
  return breaches(check, judged)
    .map(breach => words[breach])
    .join('; ')
}
