import { setTimeout as pause } from 'node:timers/promises'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { hasCode, invalidInput } from '../../../server/http/errors.ts'
import type { AssetCheckOptions, AssetCheckResult, CheckTarget, ScanRunOptions } from '../types.ts'
import type { CheckDeps } from '../deps.ts'
import type { PartsUse } from '../../../checks/scan-parts.ts'
import { publicIdOf } from '../kind.ts'
import { presentPartsUse } from '../parts/parts-use.ts'
import { withLeases } from './leases.ts'
import { runScan, type ScannedCheck, type ScanRun } from './scan.ts'
import { selectChecks } from './select.ts'

/** Milliseconds between two tries while all sessions of a source are in use. */
const BUSY_RETRY_MS = 5_000
/** Findings of one result. */
const MAX_FINDINGS = 1_000

/** The target of a check that is asked for, as `server.plugins.checks.resolveTarget` gives it. */
export async function resolveTarget(
  { catalog, kinds }: Pick<CheckDeps, 'catalog' | 'kinds'>,
  trx: Transaction,
  { companyId, assetId, tablePath }: { companyId: string; assetId: string; tablePath: string | undefined },
): Promise<CheckTarget> {
  const asset = await catalog.findAsset(trx, assetId)
  const table = tablePath === undefined ? asset.table : await catalog.findTable(trx, asset, tablePath)
  if (!asset.source.isActive) throw catalog.sourceInactive(asset.source)
  const target = { companyId, sourceId: asset.source.id, tableId: table?.id }
  if ((await findCheckedTables({ kinds }, trx, target)).length > 0) return target
  const name = table?.qualifiedName ?? asset.source.name
  const error = `${name} has no active checks: make a rule (POST /api/v1/sdk/validity/${assetId}), a metric or a referential check`
  throw invalidInput([{ field: 'asset_id', error }])
}

/** Runs all active checks of a target, as `server.plugins.checks.check` does. */
export async function checkAsset(
  deps: CheckDeps,
  target: CheckTarget,
  { signal, onProgress, slotWaitMs }: AssetCheckOptions,
): Promise<AssetCheckResult | null> {
  const { companyId } = target
  const { name, tables } = await deps.db.company(companyId, async trx => {
    const { source } = await deps.catalog.findAsset(trx, target.sourceId)
    return { name: source.name, tables: await findCheckedTables(deps, trx, target) }
  })
  const tableIds = tables.map(({ id }) => id)
  const found = await withLeases(deps, { companyId, tableIds }, async release => {
    const scanned: TableFindings[] = []
    for (const [index, table] of tables.entries()) {
      if (onProgress && !(await onProgress(Math.floor((100 * index) / tables.length)))) return null
      // Once some tables are done, waiting costs less than doing them again.
      const brief = scanned.length === 0 && slotWaitMs !== undefined ? { slotWaitMs } : {}
      const { statements, parts, checks } = await scanWhenFree({ signal, ...brief }, () =>
        runScan(
          deps,
          { companyId, tableId: table.id, which: 'asked' },
          selectChecks(deps, table.id, 'active'),
          // The first table shows whether the source can be reached: a wrong password is not tried for each of them.
          { signal, respectsBreaker: index > 0, ...brief },
        ),
      )
      await release(table.id)
      scanned.push({
        statements,
        parts,
        findings: checks.map(check => findingOf(table.qualifiedName, check)),
      })
    }
    return scanned
  })
  if (!found) return null
  return summarizeFindings(target.tableId === undefined ? name : (tables[0]?.qualifiedName ?? name), found)
}

interface TableFindings {
  statements: number
  parts: PartsUse | null
  findings: AssetCheckResult['findings']
}

/** Runs in a job, so it retries while the source is busy, but not with `slotWaitMs`. A table that is gone has no checks. */
async function scanWhenFree(
  { signal, slotWaitMs }: Pick<ScanRunOptions, 'slotWaitMs'> & { signal: AbortSignal },
  scan: () => Promise<ScanRun>,
): Promise<ScanRun> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await scan()
    } catch (error) {
      if (hasCode(error, 'ASSET_NOT_FOUND')) return { asked: 0, statements: 0, parts: null, checks: [] }
      if (!hasCode(error, 'UNAVAILABLE') || slotWaitMs !== undefined) throw error
      await pause(BUSY_RETRY_MS, undefined, { signal })
    }
  }
}

function findingOf(asset: string, { kind, row, results, outcome }: ScannedCheck) {
  return {
    feature: kind.feature,
    asset,
    id: publicIdOf(kind, row),
    ...kind.describe(row, results, outcome),
  }
}

/** The worst first. */
const STATUSES = ['fail', 'error', 'warning', 'pass'] as const
const SEVERITIES = ['critical', 'warning', 'info'] as const

function summarizeFindings(asset: string, found: readonly TableFindings[]): AssetCheckResult {
  const findings = found.flatMap(({ findings: some }) => some)
  const count = (status: (typeof STATUSES)[number]) =>
    findings.filter(finding => finding.status === status).length
  const rank = ({ status, severity }: AssetCheckResult['findings'][number]) =>
    STATUSES.indexOf(status) * SEVERITIES.length + SEVERITIES.indexOf(severity)
  return {
    asset,
    tables: found.length,
    checks: findings.length,
    passed: count('pass') + count('warning'),
    failed: count('fail'),
    errors: count('error'),
    statements: found.reduce((total, { statements }) => total + statements, 0),
    parts: sumParts(found),
    findings: findings.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS),
  }
}

/** What was read of the parts of all tables; null where all were read whole. */
function sumParts(found: readonly TableFindings[]): AssetCheckResult['parts'] {
  const uses = found.flatMap(({ parts }) => parts ?? [])
  const sum = (field: keyof PartsUse) => uses.reduce((total, use) => total + use[field], 0)
  if (uses.length === 0) return null
  return presentPartsUse({
    parts: sum('parts'),
    read: sum('read'),
    rowsRead: sum('rowsRead'),
    rowsKnown: sum('rowsKnown'),
  })
}

/** The tables of a target that have active checks, by name. */
function findCheckedTables(
  { kinds }: Pick<CheckDeps, 'kinds'>,
  trx: Transaction,
  { companyId, sourceId, tableId }: CheckTarget,
): Promise<{ id: string; qualifiedName: string }[]> {
  return rows(
    trx,
    `select id, qualified_name from tables where company_id = :companyId and id in (
       select table_id from checks where company_id = :companyId and source_id = :sourceId and is_active
         and kind = any(:kinds) and (cast(:tableId as uuid) is null or table_id = :tableId))
     order by qualified_name`,
    { companyId, sourceId, tableId: tableId ?? null, kinds: [...kinds.keys()] },
  )
}
