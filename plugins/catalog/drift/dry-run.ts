import type { AnyRequest } from '../../../server/http/access.ts'
import { tablePath } from '../../../connectors/catalog.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { findAsset, findTable, type Asset } from '../assets/assets.ts'
import { compareCatalogs } from '../discovery/compare.ts'
import { statementTimeoutMs } from '../sources/connections.ts'
import { failureOf } from '../sources/failures.ts'
import type { Impact, SchemaDifference } from './diff.ts'
import { readCatalog, type CatalogReading } from '../discovery/read-catalog.ts'
import type { SessionDeps } from '../deps.ts'
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
/** Changes that are listed, and listed in short; all are counted. */
const MAX_LISTED_CHANGES = 100
const MAX_SAMPLES = 10

/**
 * Reads the catalog of a source now, and returns what a discovery would record for it, or for one table. Stores nothing.
 * @throws 429 `RATE_LIMITED` after 10 an hour
 */
export async function dryRun(deps: SessionDeps, request: AnyRequest, companyId: string, body: SchemaDryRun) {
  const { asset, history, past } = await deps.db.company(companyId, async trx => {
    const named = await findAsset(trx, body.asset_id)
    const path = body.table_path
    const asked = path === undefined ? named : { ...named, table: await findTable(trx, named, path) }
    return {
      asset: asked,
      history: await countChanges(trx, companyId, asked, body.lookback_days),
      past: await readPast(trx, asked, body.lookback_days),
    }
  })
  await request.server.limits.take(`schema-dry-run:${asset.source.id}`, DRY_RUNS_AN_HOUR, 3_600, request)
  const report = await runDryRun(deps, asset)
  return {
    asset_id: asset.table?.id ?? asset.source.id,
    qualified_name: qualifiedName(asset),
    ...report,
    history: { lookback_days: body.lookback_days, changes: history.recent, unacknowledged: history.open },
    schedule_type: asset.source.discoveryInterval,
    baseline_exists: asset.source.lastDiscoveryAt !== null,
    tables_in_baseline: past.acceptedTables,
    tables_in_current: report.table_count ?? 0,
    changes_detected: report.total_changes > 0,
    estimated_alerts_per_week: Math.ceil((7 * past.changedTables) / body.lookback_days),
    recommendation: recommend(asset, report),
  }
}

/** What is stored of an asset: tables of its baseline, and how often a discovery recorded changes of a table lately. */
async function readPast(trx: Transaction, { source, table }: Asset, days: number) {
  const [past] = await rows<{ acceptedTables: number; changedTables: number }>(
    trx,
    `select (select count(*)::int from tables where company_id = :companyId and source_id = :sourceId
        and (cast(:tableId as uuid) is null or id = :tableId) and absence is distinct from 'excluded'
        and case when baseline is null then is_active else baseline -> 'absent' is null end) as accepted_tables,
      (select count(distinct (table_id, discovery_id))::int from schema_changes
        where company_id = :companyId and source_id = :sourceId
        and (cast(:tableId as uuid) is null or table_id = :tableId)
        and detected_at >= now() - make_interval(days => :days)) as changed_tables`,
    { companyId: source.companyId, sourceId: source.id, tableId: table?.id ?? null, days },
  )
  if (!past) throw new Error('Counting gave no row')
  return past
}

function recommend({ source }: Asset, report: DryRunReport): string {
  const { error_message: problem, total_changes: total, alert_count: alerts } = report
  const start = `POST /api/v1/sdk/schema/${source.id}/monitoring`
  if (problem !== null) return `The catalog could not be read: ${problem}`
  if (source.lastDiscoveryAt === null) return `There is no baseline yet: ${start} makes one`
  const outlook =
    total === 0
      ? 'Nothing has changed'
      : `${countOf(total, 'change')} would be recorded, with ${countOf(alerts ?? 0, 'alert')}`
  return source.discoveryInterval === 'off'
    ? `${outlook}; nothing is discovered on schedule: ${start} starts it`
    : `${outlook} at the next discovery, which is ${source.discoveryInterval.replaceAll('_', ' ')}`
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** What a discovery would record; nothing where the catalog could not be read. */
async function runDryRun(deps: SessionDeps, asset: Asset): Promise<DryRunReport> {
  const { source } = asset
  try {
    const timeout = AbortSignal.timeout(statementTimeoutMs(deps.config, source))
    const reading = await readCatalog(deps, source, timeout, { purpose: 'dry_run', isLowPriority: true })
    return await deps.db.company(source.companyId, trx => compare(trx, asset, reading))
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    const { code, message } = failureOf(error)
    return { ...EMPTY_REPORT, error_code: code, error_message: message }
  }
}

interface DryRunReport extends Record<CountName, number | null> {
  changes: object[]
  total_changes: number
  changes_summary: Record<string, number>
  sample_changes: object[]
  error_code: string | null
  error_message: string | null
}

type CountName =
  | 'table_count'
  | 'column_count'
  | 'unread_count'
  | 'change_count'
  | 'critical_count'
  | 'warning_count'
  | 'info_count'
  | 'alert_count'

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
  total_changes: 0,
  changes_summary: {},
  sample_changes: [],
  error_code: null,
  error_message: null,
}

async function compare(
  trx: Transaction,
  { source, table }: Asset,
  reading: CatalogReading,
): Promise<DryRunReport> {
  // Read again: while the catalog was being read, a discovery may have ended.
  const { ids, drifts, partlyHidden } = await compareCatalogs(
    trx,
    await Source.query(trx).findById(source.id).throwIfNotFound(),
    reading,
  )
  const path = table && storedTablePath(table)
  const isAsked = (other: string) => path === undefined || other === path
  const tables = reading.tables.filter(read => isAsked(tablePath(read)))
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
    unread_count: [...reading.unread.keys(), ...partlyHidden.keys()].filter(isAsked).length,
    change_count: changes.length,
    critical_count: count('high'),
    warning_count: count('medium'),
    info_count: count('low'),
    alert_count: asked.filter(({ news }) => news.length > 0).length,
    changes: changes.slice(0, MAX_LISTED_CHANGES).map(({ change, isTakenBack }) => ({
      ...presentDifference(change, ids),
      is_reverting: isTakenBack,
    })),
    total_changes: changes.length,
    changes_summary: Object.fromEntries(
      [...Map.groupBy(changes, ({ change }) => change.changeType)].map(([type, all]) => [type, all.length]),
    ),
    sample_changes: changes.slice(0, MAX_SAMPLES).map(({ change }) => presentSample(change)),
  }
}

function presentSample(change: SchemaDifference) {
  const { change_type, table_path, column_name, old_value, new_value, severity } = presentDifference(change)
  return { change_type, table_name: table_path, column_name, old_value, new_value, severity }
}
