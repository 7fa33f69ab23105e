import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { tablePath, type TableInfo, type TableRef } from '../../../connectors/catalog.ts'
import type { Connection, HiddenParts, Partition } from '../../../connectors/connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../../connectors/errors.ts'
import { isAway, type Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { tableInfo } from '../assets/assets.ts'
import { failureOf, withConnection, type SessionOptions } from '../sources/connections.ts'
import { fingerprint } from '../drift/diff.ts'
import { pathOf } from '../drift/drift.ts'
import { Run, Source, UNFINISHED, type Patterns } from '../models.ts'
import { inScope } from './patterns.ts'
import { isOutdated, record, type Discovered } from './record.ts'
import { lockSourceIfPresent, lockUnfinishedRun } from '../locks.ts'
import { noteConnection } from '../sources/sources.ts'
import { knownTables, storedTables, type Known } from './store.ts'
import { storableTable } from './storable-table.ts'
import { reducedTable } from './unreadable.ts'

/** What a source's catalog holds now, within its patterns. */
export interface Found {
  tables: TableInfo[]
  /** Fingerprints of the tables as they were read, by `tablePath`. */
  prints: Map<string, string>
  /** Tables that are or may be there and could not be read, by `tablePath`. */
  unread: Map<string, ConnectorError>
  /** Parts of the tables that may be there and are not shown, by `tablePath`. */
  hiddenParts: Map<string, HiddenParts>
  /** Known tables that became partitions, by `tablePath`. */
  partitions: Map<string, Partition>
}

/**
 * Runs one discovery: reads the catalog, compares it with what is known, and records tables, changes and
 * alerts in one transaction. A failure is recorded with the run; it never reports removals.
 * @param signal aborts when the process stops: the run stays unfinished, and its job is tried again
 */
export async function discover(
  server: Server,
  companyId: string,
  runId: string,
  signal: AbortSignal,
): Promise<Discovered | null> {
  const startedAt = performance.now()
  const source = await server.db.company(companyId, trx => begin(trx, runId))
  if (!source) return null
  const cancelling = watchForCancel(server, companyId, runId)
  let found: Found
  try {
    found = await read(server, source, AbortSignal.any([signal, cancelling.signal]))
  } catch (error) {
    // Cancelled: there is nothing to record.
    if (cancelling.signal.aborted) return null
    // Not the source's fault, and the job is tried again: the process stops, all sessions are in use, or our own
    // database is away.
    if (signal.aborted || hasErrorData(error) || isOurs(error)) throw error
    server.pino.warn({ err: (error as Error).message, source_id: source.id }, 'discovery failed')
    const isRecorded = await server.db.company(companyId, trx =>
      fail(server, trx, { read: source, runId, error: error as Error }),
    )
    return isRecorded ? null : await discover(server, companyId, runId, signal)
  } finally {
    cancelling.stop()
  }
  await server.db.company(companyId, async trx => {
    await Run.query(trx).findById(runId).where({ status: 'running' }).patch({ progress: 60 })
  })
  const recorded = await server.db.company(companyId, trx =>
    record(server, trx, { read: source, runId, found, startedAt }),
  )
  return recorded === 'outdated' ? discover(server, companyId, runId, signal) : recorded
}

/** A connector's error may carry the code of a network that is down just as well. */
function isOurs(error: unknown): boolean {
  return !(error instanceof ConnectorError) && isAway(error)
}

/** Ends a discovery that failed for a reason of ours; the source is not blamed for it. */
export async function abandon(server: Server, companyId: string, runId: string): Promise<void> {
  await server.db.company(companyId, async trx => {
    const run = await lockUnfinishedRun(trx, runId)
    if (!run) return
    const error = {
      code: 'other',
      message: 'The discovery was given up after several tries; the log has more',
    }
    await Run.query(trx).findById(runId).patch({ status: 'failed', error, completedAt: new Date() })
    await Source.query(trx).findById(run.sourceId).patch({ discoveryState: 'failed' })
  })
}

async function begin(trx: Transaction, runId: string): Promise<Source | undefined> {
  const run = await lockUnfinishedRun(trx, runId)
  if (!run) return undefined
  await Run.query(trx).findById(runId).patch({ status: 'running', startedAt: new Date(), progress: 10 })
  const [source] = await Source.query(trx)
    .where({ id: run.sourceId })
    .patch({ discoveryState: 'running' })
    .returning('*')
  return source
}

/** How often a discovery that reads looks whether somebody cancelled it, in milliseconds. */
const LOOK_MS = 1_000

/** A signal that aborts when a run is no longer to be run. */
function watchForCancel(
  server: Server,
  companyId: string,
  runId: string,
): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const look = async () => {
    try {
      const isOn = await server.db.company(companyId, async trx =>
        Run.query(trx).findById(runId).where({ status: 'running' }).select('id'),
      )
      if (!isOn) controller.abort(new Error('The discovery was cancelled'))
    } catch (error) {
      server.pino.warn({ err: (error as Error).message, run_id: runId }, 'a run could not be looked at')
    }
  }
  const timer = setInterval(() => void look(), LOOK_MS)
  return { signal: controller.signal, stop: () => clearInterval(timer) }
}

/** Reads what the catalog of a source holds within its patterns. @throws ConnectorError */
export async function read(
  server: Server,
  source: Source,
  signal: AbortSignal,
  options?: Partial<SessionOptions>,
): Promise<Found> {
  const patterns = { include: source.includePatterns, exclude: source.excludePatterns }
  const reading = async (connection: Connection): Promise<Found> => {
    const all = await connection.introspect({ signal })
    const seen = await selected(all, patterns)
    const unread = new Map(
      seen.flatMap(table => (table.columnsError ? [[tablePath(table), table.columnsError]] : [])),
    )
    const tables = seen.filter(table => !table.columnsError)
    const prints = new Map(tables.map(table => [tablePath(table), fingerprint(table)]))
    const asksForMissing =
      connection.findHiddenTables ?? connection.findHiddenParts ?? connection.findPartitions
    const known = asksForMissing
      ? await server.db.company(source.companyId, trx => knownTables(trx, source))
      : []
    const missing = missingTables(source, known, seen)
    const isMissing = missing.length > 0
    if (isMissing)
      for (const [path, error] of (await connection.findHiddenTables?.(missing)) ?? [])
        unread.set(path, error)
    const partitions =
      (isMissing && (await connection.findPartitions?.(missing))) || new Map<string, Partition>()
    const hiddenParts = await readHiddenParts(server, source, connection, { tables, prints, known })
    return { tables, prints, unread, hiddenParts, partitions }
  }
  return withConnection(server, source, reading, { purpose: 'discovery', ...options })
}

/** Tables between which other requests get their turn: some hundred patterns take a while over 100,000 tables. */
const TURN = 500

async function selected(all: readonly TableInfo[], patterns: Patterns): Promise<TableInfo[]> {
  const seen: TableInfo[] = []
  for (const [index, table] of all.entries()) {
    if (index % TURN === TURN - 1) await setImmediate()
    if (inScope(patterns, table)) seen.push(storableTable(table))
  }
  return seen
}

/** Tables that are known, within the patterns, and no longer shown. */
function missingTables(source: Source, known: readonly Known[], seen: readonly TableRef[]): TableRef[] {
  const shown = new Set(seen.map(tablePath))
  const patterns = { include: source.includePatterns, exclude: source.excludePatterns }
  return known
    .filter(({ isActive }) => isActive)
    .map(({ catalogName: catalog, schemaName: schema, name }) => ({ catalog, schema, name }))
    .filter(table => !shown.has(tablePath(table)) && inScope(patterns, table))
}

/** Asks after the columns and keys that were known and are no longer shown; only changed tables are compared. */
async function readHiddenParts(
  server: Server,
  source: Source,
  connection: Connection,
  { tables, prints, known }: Pick<Found, 'tables' | 'prints'> & { known: readonly Known[] },
): Promise<Map<string, HiddenParts>> {
  if (!connection.findHiddenParts) return new Map()
  const changed = new Map(
    known
      .filter(table => table.isActive && prints.get(pathOf(table)) !== table.fingerprint)
      .map(table => [pathOf(table), table.id]),
  )
  const read = tables.filter(table => changed.has(tablePath(table)))
  if (read.length === 0) return new Map()
  const ids = read.flatMap(table => changed.get(tablePath(table)) ?? [])
  const stored = await server.db.company(source.companyId, trx => storedTables(trx, ids))
  const reduced = read.flatMap(table => {
    const row = stored.get(tablePath(table))
    return (row && reducedTable(table, tableInfo(row))) ?? []
  })
  return reduced.length > 0 ? connection.findHiddenParts(reduced) : new Map()
}

/** Minutes after which a discovery that failed is tried again: after the first failure in a row, the second, … */
const RETRY_MINUTES = [1, 5, 15, 60]
/** What may be better the next time. A wrong password is not, and trying it again may lock the account. */
const PASSING: readonly ConnectorErrorKind[] = ['network', 'timeout', 'other']

/** @returns false when another database is to be read meanwhile, of which the failure says nothing */
async function fail(
  server: Server,
  trx: Transaction,
  { read: former, runId, error }: { read: Source; runId: string; error: Error },
): Promise<boolean> {
  const source = await lockSourceIfPresent(trx, former.id)
  if (source && isOutdated(server, former, source)) return false
  const ended = await Run.query(trx)
    .findById(runId)
    .whereIn('status', [...UNFINISHED])
    .patch({ status: 'failed', error: failureOf(error), completedAt: new Date() })
  if (ended === 0 || !source) return true
  const kind = error instanceof ConnectorError ? error.kind : 'other'
  const minutes = PASSING.includes(kind) ? RETRY_MINUTES[source.failedDiscoveries] : undefined
  await Source.query(trx)
    .findById(source.id)
    .patch({
      discoveryState: 'failed',
      failedDiscoveries: source.failedDiscoveries + 1,
      retryAt: minutes === undefined ? null : new Date(Date.now() + minutes * 60_000),
    })
  await noteConnection(server, trx, source, error)
  return true
}
