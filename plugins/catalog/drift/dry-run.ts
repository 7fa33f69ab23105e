import type { Request, Server } from '@hapi/hapi'
import { tablePath } from '../../../connectors/catalog.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { findAsset, findTable, type Asset } from '../assets/assets.ts'
import { compareCatalogs } from '../discovery/compare.ts'
import { failureOf, statementTimeoutMs } from '../sources/connections.ts'
import type { Impact } from './diff.ts'
import { readCatalog, type CatalogReading } from '../discovery/read-catalog.ts'
import { storedTablePath } from './drift.ts'
import { Source } from '../models.ts'
import { qualifiedName } from '../assets/present.ts'
import { countChanges, presentDifference } from './status.ts'

/** The body of `POST /sdk/schema/dry-run`, validated. */
export interface SchemaDryRun {
  asset_id: string
  table_path?: string
  lookback_days: number
}

/** Per source, for all callers together: each reads the whole catalog. */
const DRY_RUNS_AN_HOUR = 10
/** Changes that are listed; all are counted. */
const MAX_LISTED_CHANGES = 100

/**
 * Reads the catalog of a source now, and returns what a discovery would record for it, or for one table. Stores nothing.
 * @throws 429 `RATE_LIMITED` after 10 an hour
 */
export async function dryRun(request: Request, companyId: string, body: SchemaDryRun): Promise<object> {
  const { server } = request
  const { asset, history } = await server.db.company(companyId, async trx => {
    const named = await findAsset(trx, body.asset_id)
    const path = body.table_path
    const asked = path === undefined ? named : { ...named, table: await findTable(trx, named, path) }
    return { asset: asked, history: await countChanges(trx, companyId, asked, body.lookback_days) }
  })
  await server.limits.take(`schema-dry-run:${asset.source.id}`, DRY_RUNS_AN_HOUR, 3_600, request)
  return {
    asset_id: asset.table?.id ?? asset.source.id,
    qualified_name: qualifiedName(asset),
    ...(await runDryRun(server, asset)),
    history: { lookback_days: body.lookback_days, changes: history.recent, unacknowledged: history.open },
  }
}

/** What a discovery would record; nothing where the catalog could not be read. */
interface DryRunReport {
  table_count: number | null
  column_count: number | null
  /** Tables that could not be read. */
  unread_count: number | null
  change_count: number | null
  critical_count: number | null
  warning_count: number | null
  info_count: number | null
  /** Tables that an alert would be raised or counted for. */
  alert_count: number | null
  changes: object[]
  error_code: string | null
  error_message: string | null
}

async function runDryRun(server: Server, asset: Asset): Promise<DryRunReport> {
  const { source } = asset
  try {
    const timeout = AbortSignal.timeout(statementTimeoutMs(server, source))
    const found = await readCatalog(server, source, timeout, { purpose: 'dry_run', isLowPriority: true })
    return await server.db.company(source.companyId, trx => compare(trx, asset, found))
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    const { code, message } = failureOf(error)
    return { ...EMPTY_REPORT, error_code: code, error_message: message }
  }
}

const EMPTY_REPORT: DryRunReport = {
  table_count: null,
  column_count: null,
  unread_count: null,
  change_count: null,
  critical_count: null,
  warning_count: null,
  info_count: null,
  alert_count: null,
  changes: [],
  error_code: null,
  error_message: null,
}

async function compare(
  trx: Transaction,
  { source, table }: Asset,
  found: CatalogReading,
): Promise<DryRunReport> {
  // Read again: while the catalog was being read, a discovery may have ended.
  const { ids, drifts, partlyHidden } = await compareCatalogs(
    trx,
    await Source.query(trx).findById(source.id).throwIfNotFound(),
    found,
  )
  const path = table && storedTablePath(table)
  const isAsked = (other: string) => path === undefined || other === path
  const tables = found.tables.filter(read => isAsked(tablePath(read)))
  const asked = drifts.filter(drift => isAsked(drift.path))
  const changes = asked.flatMap(({ news, takenBack }) => [
    ...news.map(change => ({ change, isTakenBack: false })),
    ...takenBack.map(change => ({ change, isTakenBack: true })),
  ])
  const count = (impact: Impact) => changes.filter(({ change }) => change.impact === impact).length
  return {
    ...EMPTY_REPORT,
    table_count: tables.length,
    column_count: tables.reduce((sum, { columns }) => sum + columns.length, 0),
    unread_count: [...found.unread.keys(), ...partlyHidden.keys()].filter(isAsked).length,
    change_count: changes.length,
    critical_count: count('high'),
    warning_count: count('medium'),
    info_count: count('low'),
    alert_count: asked.filter(({ news }) => news.length > 0).length,
    changes: changes.slice(0, MAX_LISTED_CHANGES).map(({ change, isTakenBack }) => ({
      ...presentDifference(change, ids),
      is_reverting: isTakenBack,
    })),
  }
}
