import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { countOf } from '../../../checks/explanation.ts'
import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import { trimEnd } from '../../../connectors/trim-end.ts'
import type { ConnectorError } from '../../../connectors/errors.ts'
import type { Vault } from '../../../server/security/vault.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { AlertsApi } from '../../alerts/api.ts'
import type { CatalogDeps, DiscoveryListener } from '../deps.ts'
import { openConfig, connectionTarget } from '../sources/config.ts'
import { failureOf } from '../sources/failures.ts'
import { compareCatalogs, type CatalogComparison } from './compare.ts'
import { acknowledgeExcluded, recordDrift } from '../drift/changes.ts'
import type { CatalogReading } from './read-catalog.ts'
import { Run, Source } from '../models.ts'
import { sourceEventFields, recordConnectionStatus } from '../sources/connection-status.ts'
import { countTags } from '../tags/count-tags.ts'
import * as store from './store.ts'
import { derivePersonalColumns } from '../tags/personal-columns.ts'
import { classify, inheritTags, moveTags, taggedTables } from '../tags/tags.ts'
import { lockRun, lockSourceIfPresent } from '../locks.ts'

/** What a discovery did, as the run's result. */
export interface DiscoveryResult {
  table_count: number
  column_count: number
  changes_detected: number
  /** Tables that are or may be there and could not be read, or some of their columns or keys; what was known of them stays. */
  unread_count: number
  /** The first of them. */
  unread: UnreadTable[]
  duration_ms: number
}

interface UnreadTable {
  table_path: string
  error_code: string
  error_message: string
}

/** What was read, by whom, and since when. */
interface FinishedReading {
  /** The source as it was read. */
  read: Source
  runId: string
  found: CatalogReading
  /** From `performance.now()`. */
  startedAt: number
}

/** What a catalog that was read is recorded with. */
type RecordingDeps = Pick<CatalogDeps, 'alerts' | 'extensions' | 'listeners' | 'pino' | 'vault'>

/** Objects that could not be read and are listed by name. */
const MAX_LISTED = 100

/**
 * Records a catalog that was read: tables, changes, counts and alerts, in statements whose number does not grow with
 * the tables. What did not change is neither read nor written.
 * @returns null when the run was cancelled, or its source removed, meanwhile; `outdated` when it is to be read otherwise
 */
export async function recordDiscovery(
  deps: RecordingDeps,
  trx: Transaction,
  { read, runId, found, startedAt }: FinishedReading,
): Promise<DiscoveryResult | 'outdated' | null> {
  const { alerts, extensions } = deps
  // Read again: while the source was being read, its name may have changed.
  const source = await lockSourceIfPresent(trx, read.id)
  const run = await lockRun(trx, runId)
  if (!source || run?.status !== 'running') return null
  if (isOutdated(deps.vault, read, source)) return 'outdated'
  const isFirst = source.lastDiscoveryAt === null
  const compared = await compareCatalogs(trx, source, found)
  const ids = await writeTables(trx, source, compared)
  await acknowledgeExcluded(alerts, trx, compared.excluded)
  const retired = [...compared.removed, ...compared.excluded]
  await alerts.resolveOrphaned(trx, { assetIds: retired, onlyRechecked: true })
  const changes = await recordDrift(alerts, trx, { source, runId, drifts: compared.drifts, ids })
  const unread = [
    ...[...found.unread, ...compared.partlyHidden].map(([path, error]) => unreadTable(path, error)),
    ...found.tables.flatMap(table =>
      table.constraintsError ? [unreadTable(tablePath(table), table.constraintsError)] : [],
    ),
  ]
  const result: DiscoveryResult = {
    table_count: found.tables.length,
    column_count: found.tables.reduce((sum, table) => sum + table.columns.length, 0),
    changes_detected: changes,
    unread_count: unread.length,
    unread: unread.slice(0, MAX_LISTED),
    duration_ms: Math.round(performance.now() - startedAt),
  }
  if (isFirst || compared.isChanged) {
    await store.countTables(trx, source)
    await countTags(trx, [source.id])
  }
  await completeRun(trx, source, { runId, result })
  await recordConnectionStatus(alerts, trx, source, null)
  await alertUnread(alerts, trx, source, unread)
  Object.assign(source, { lastDiscoveryAt: new Date() })
  await notifyDiscovered(deps.listeners, trx, source)
  await recordReadings(deps.pino, trx, source, found)
  await derivePersonalColumns(extensions, trx, [source.id])
  await alerts.raise(trx, {
    type: 'discovery_complete',
    cause: runId,
    severity: 'info',
    ...sourceEventFields(source),
    ruleName: 'Discovery',
    title: {
      found: `discovery found ${countOf(result.table_count, 'table')} and ${countOf(changes, 'change')}`,
    },
    details: { job_id: runId, ...result },
    isNews: true,
  })
  return result
}

/** Tells other features of a discovery, in its transaction. */
export async function notifyDiscovered(
  listeners: readonly DiscoveryListener[],
  trx: Transaction,
  source: Source,
): Promise<void> {
  for (const listener of listeners) await listener(trx, source)
}

/** Records what else was read; a part that fails is rolled back alone. */
async function recordReadings(
  log: Logger,
  trx: Transaction,
  source: Source,
  { recorders }: CatalogReading,
): Promise<void> {
  for (const { name, record } of recorders) {
    await trx.raw('savepoint reading')
    try {
      await record(trx)
      await trx.raw('release savepoint reading')
    } catch (error) {
      await trx.raw('rollback to savepoint reading')
      log.warn({ err: (error as Error).message, source_id: source.id }, `${name} could not be recorded`)
    }
  }
}

/** Whether the source was changed during the reading to another database, another connection or other patterns. */
export function isOutdated(vault: Vault, read: Source, source: Source): boolean {
  // The same secret is sealed anew when the service's key is changed.
  const wayTo = (of: Source) =>
    connectionTarget(read.secrets === source.secrets ? of.config : openConfig(vault, of))
  const partsOf = (of: Source) => [wayTo(of), of.includePatterns, of.excludePatterns]
  return !isDeepStrictEqual(partsOf(read), partsOf(source))
}

function unreadTable(path: string, error: ConnectorError): UnreadTable {
  const { code, message } = failureOf(error)
  return { table_path: path, error_code: code, error_message: message }
}

/** @returns the ids of all tables by path, removed ones too */
async function writeTables(trx: Transaction, source: Source, compared: CatalogComparison) {
  const { ids: known, fresh, baselines, prints } = compared
  // While the rows still hold what was there before.
  const former = await taggedTables(trx, [
    ...compared.removed,
    ...fresh.flatMap(table => known.get(tablePath(table)) ?? []),
  ])
  await store.saveBaselines(trx, source, { stored: baselines.kept, absent: [] })
  await store.completeBaselines(trx, source, baselines.completed)
  await store.retireTables(trx, source, compared.removed, 'removed')
  await store.retireTables(trx, source, compared.excluded, 'excluded')
  await store.retireTables(trx, source, compared.missed, 'removed')
  const stored = await store.storeTables(trx, source, fresh, prints)
  const ids = new Map([...known, ...stored])
  const idsOf = (paths: readonly string[]) => paths.flatMap(path => ids.get(path) ?? [])
  await store.saveBaselines(trx, source, { stored: [], absent: idsOf(baselines.absent) })
  await store.dropBaselines(trx, source, [...idsOf(baselines.dropped), ...compared.excluded])
  await store.saveReadErrors(trx, source, compared.unread, compared.readAgain)
  await store.storeEstimates(trx, source, compared.unchanged)
  await inheritTags(trx, source, former)
  await moveTags(trx, renamesOf(compared, ids))
  await classify(trx, source, tablesWithIds(fresh, ids))
  return ids
}

function tablesWithIds(tables: readonly TableInfo[], ids: ReadonlyMap<string, string>) {
  return tables.flatMap(table => {
    const id = ids.get(tablePath(table))
    return id ? [{ id, columns: table.columns }] : []
  })
}

/** Renamed columns, whose tags go with them. */
function renamesOf({ drifts }: CatalogComparison, ids: ReadonlyMap<string, string>) {
  return drifts
    .flatMap(({ news, takenBack }) => [...news, ...takenBack])
    .flatMap(({ changeType, path, objectName: from, newValue }) => {
      const tableId = ids.get(path)
      if (changeType !== 'column_renamed' || !tableId) return []
      return [{ tableId, from, to: (newValue as { name: string }).name }]
    })
}

async function completeRun(
  trx: Transaction,
  source: Source,
  { runId, result }: { runId: string; result: DiscoveryResult },
): Promise<void> {
  const now = new Date()
  await Source.query(trx)
    .findById(source.id)
    .patch({
      discoveryState: 'completed',
      lastDiscoveryAt: now,
      updatedAt: now,
      failedDiscoveries: 0,
      retryAt: null,
      unreadCount: result.unread_count,
      readPatterns: { include: source.includePatterns, exclude: source.excludePatterns },
    })
  await Run.query(trx).findById(runId).patch({ status: 'completed', progress: 100, result, completedAt: now })
}

/** Tables named in an alert. */
const MAX_NAMED = 20

/** Raises one alert for tables that can no longer be read, and so are not monitored, until all are readable again. */
async function alertUnread(
  alerts: AlertsApi,
  trx: Transaction,
  source: Source,
  unread: readonly UnreadTable[],
) {
  const cause = `${source.id}:unread`
  const [first] = unread
  if (!first) {
    if (source.unreadCount > 0) await alerts.resolve(trx, 'connection_failed', cause)
    return
  }
  // Discovered on request while inactive: no scheduled discovery would resolve the alert.
  if (!source.isActive) return
  await alerts.raise(trx, {
    type: 'connection_failed',
    cause,
    severity: 'warning',
    ...sourceEventFields(source),
    ruleName: 'Connection',
    title: {
      found: `${countOf(unread.length, 'table')} cannot be read, the first is ${first.table_path}: ${trimEnd(first.error_message, '. \n')}`,
    },
    details: { unread_count: unread.length, unread: unread.slice(0, MAX_NAMED) },
  })
}
