import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { rows, type Transaction } from '../../server/database/database.ts'
import { hasCode, invalidInput } from '../../server/http/errors.ts'
import type { AssetCheckResult, CheckTarget, CheckFeature, ScanRunOptions, ScansApi } from './api.ts'
import { withLeases } from './leases.ts'
import { runScan, type ScanRun } from './run.ts'
import { selectChecks } from './select.ts'

/** Milliseconds between two tries while all sessions of a source are in use. */
const BUSY_RETRY_MS = 5_000
/** Findings of one result. */
const MAX_FINDINGS = 1_000

/** The target of a check that is asked for, as `server.plugins.scans.resolveTarget` gives it. */
export async function resolveTarget(
  server: Server,
  features: readonly CheckFeature[],
  trx: Transaction,
  { companyId, assetId, tablePath }: { companyId: string; assetId: string; tablePath: string | undefined },
): Promise<CheckTarget> {
  const { catalog } = server.plugins
  const asset = await catalog.findAsset(trx, assetId)
  const table = tablePath === undefined ? asset.table : await catalog.findTable(trx, asset, tablePath)
  if (!asset.source.isActive) throw catalog.sourceInactive(asset.source)
  const target = { companyId, sourceId: asset.source.id, tableId: table?.id }
  if ((await findCheckedTables(features, trx, target)).length > 0) return target
  const name = table?.qualifiedName ?? asset.source.name
  const error = `${name} has no active checks: make a rule (POST /api/v1/sdk/validity/${assetId}), a metric or a referential check`
  throw invalidInput([{ field: 'asset_id', error }])
}

/** Runs all active checks of a target, as `server.plugins.scans.check` does. */
export async function checkAsset(
  server: Server,
  features: readonly CheckFeature[],
  target: CheckTarget,
  { signal, onProgress, slotWaitMs }: Parameters<ScansApi['checkAsset']>[1],
): Promise<AssetCheckResult | null> {
  const { companyId } = target
  const { name, tables } = await server.db.company(companyId, async trx => {
    const { source } = await server.plugins.catalog.findAsset(trx, target.sourceId)
    return { name: source.name, tables: await findCheckedTables(features, trx, target) }
  })
  const tableIds = tables.map(({ id }) => id)
  const found = await withLeases(server, { companyId, tableIds }, async release => {
    const scanned: TableFindings[] = []
    for (const [index, table] of tables.entries()) {
      if (onProgress && !(await onProgress(Math.floor((100 * index) / tables.length)))) return null
      // Once some tables are done, waiting costs less than doing them again.
      const brief = scanned.length === 0 && slotWaitMs !== undefined ? { slotWaitMs } : {}
      const { statements, results } = await scanWhenFree({ signal, ...brief }, () =>
        runScan(
          server,
          { companyId, tableId: table.id, which: 'asked' },
          selectChecks(features, table.id, 'active'),
          // The first table shows whether the source can be reached: a wrong password is not tried for each of them.
          { signal, respectsBreaker: index > 0, ...brief },
        ),
      )
      await release(table.id)
      scanned.push({ statements, findings: results.map(result => findingOf(table.qualifiedName, result)) })
    }
    return scanned
  })
  if (!found) return null
  return summarizeFindings(target.tableId === undefined ? name : (tables[0]?.qualifiedName ?? name), found)
}

interface TableFindings {
  statements: number
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
      if (hasCode(error, 'ASSET_NOT_FOUND')) return { checks: 0, statements: 0, results: [] }
      if (!hasCode(error, 'UNAVAILABLE') || slotWaitMs !== undefined) throw error
      await pause(BUSY_RETRY_MS, undefined, { signal })
    }
  }
}

function findingOf(asset: string, { feature, row, result }: ScanRun['results'][number]) {
  return { feature: feature.name, asset, ...feature.describe(row, result) }
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
    findings: findings.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS),
  }
}

/** The tables of a target that have active checks, by name. */
async function findCheckedTables(
  features: readonly CheckFeature[],
  trx: Transaction,
  { companyId, sourceId, tableId }: CheckTarget,
): Promise<{ id: string; qualifiedName: string }[]> {
  const ids = new Set<string>()
  for (const { model } of features) {
    const having = await model
      .query(trx)
      .where({ sourceId, isActive: true, ...(tableId !== undefined && { tableId }) })
      .distinct('tableId')
    for (const row of having) ids.add(row.tableId)
  }
  return rows(
    trx,
    `select id, qualified_name from tables
     where company_id = :companyId and id = any(cast(:ids as uuid[])) order by qualified_name`,
    { companyId, ids: [...ids] },
  )
}
