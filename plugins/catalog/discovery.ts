import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { formatName, tablePath, type TableInfo } from '../../connectors/catalog.ts'
import { insertAll, rows, type Transaction } from '../../server/database.ts'
import { hasErrorData } from '../../server/errors.ts'
import { tableInfo } from './assets.ts'
import { failureOf, withConnection } from './connections.ts'
import { diff, fingerprint, type Change, type Impact } from './diff.ts'
import { Run, SchemaChange, Source, Table } from './models.ts'
import { noteConnection } from './sources.ts'

/** What a discovery did, as the run's result. */
export interface Discovered {
  table_count: number
  column_count: number
  changes_detected: number
  duration_ms: number
}

/**
 * Runs one discovery: reads the catalog, compares it with what is known, and records tables, changes and
 * alerts in one transaction. A failure is recorded with the run; it never reports removals.
 */
export async function discover(server: Server, companyId: string, runId: string): Promise<Discovered | null> {
  const startedAt = performance.now()
  const source = await server.db.company(companyId, trx => begin(trx, runId))
  if (!source) return null
  let found: TableInfo[]
  try {
    found = await withConnection(server, source, connection => connection.introspect())
  } catch (error) {
    // All sessions of the source are in use: not its fault, and the job is tried again.
    if (hasErrorData(error)) throw error
    server.pino.warn({ err: (error as Error).message, source_id: source.id }, 'discovery failed')
    await server.db.company(companyId, trx => fail(server, trx, { source, runId, error: error as Error }))
    return null
  }
  return server.db.company(companyId, trx =>
    record(server, trx, { sourceId: source.id, runId, found, startedAt }),
  )
}

/** Ends a discovery that failed for a reason of ours; the source is not blamed for it. */
export async function abandon(server: Server, companyId: string, runId: string): Promise<void> {
  await server.db.company(companyId, async trx => {
    const run = await Run.query(trx).findById(runId).whereIn('status', UNFINISHED).forUpdate()
    if (!run) return
    const error = {
      code: 'other',
      message: 'The discovery was given up after several tries; the log has more',
    }
    await Run.query(trx).findById(runId).patch({ status: 'failed', error, completedAt: new Date() })
    await Source.query(trx).findById(run.sourceId).patch({ discoveryState: 'failed' })
  })
}

const UNFINISHED = ['pending', 'running']

async function begin(trx: Transaction, runId: string): Promise<Source | undefined> {
  const run = await Run.query(trx).findById(runId).forUpdate()
  if (!run || (run.status !== 'pending' && run.status !== 'running')) return undefined
  await Run.query(trx).findById(runId).patch({ status: 'running', startedAt: new Date(), progress: 10 })
  await Source.query(trx).findById(run.sourceId).patch({ discoveryState: 'running' })
  return Source.query(trx).findById(run.sourceId)
}

async function record(
  server: Server,
  trx: Transaction,
  {
    sourceId,
    runId,
    found,
    startedAt,
  }: { sourceId: string; runId: string; found: TableInfo[]; startedAt: number },
): Promise<Discovered | null> {
  // Read again: while the source was being read, its name may have changed.
  const source = await Source.query(trx).findById(sourceId).forUpdate()
  const run = await Run.query(trx).findById(runId).forUpdate()
  if (!source || run?.status !== 'running') return null
  const { changes, ids } = await store(trx, source, found)
  const isFirst = source.lastDiscoveryAt === null
  if (!isFirst && changes.length > 0) await recordChanges(server, trx, { source, runId, changes, ids })
  const result: Discovered = {
    table_count: found.length,
    column_count: found.reduce((sum, table) => sum + table.columns.length, 0),
    changes_detected: isFirst ? 0 : changes.length,
    duration_ms: Math.round(performance.now() - startedAt),
  }
  const now = new Date()
  await Source.query(trx)
    .findById(source.id)
    .patch({ discoveryState: 'completed', lastDiscoveryAt: now, updatedAt: now })
  await Run.query(trx).findById(runId).patch({ status: 'completed', progress: 100, result, completedAt: now })
  await noteConnection(server, trx, source, null)
  await server.plugins.alerts.raise(trx, {
    type: 'discovery_complete',
    cause: runId,
    severity: 'info',
    sourceId: source.id,
    asset: { id: source.id, qualifiedName: formatName([source.name]), assetType: 'source' },
    ruleName: 'Discovery',
    title: `Discovery of ${source.name} found ${result.table_count} tables and ${result.changes_detected} changes`,
    details: { job_id: runId, ...result },
    isNews: true,
  })
  return result
}

/** Brings the stored tables up to what was found, in three statements, and tells the differences. */
async function store(
  trx: Transaction,
  source: Source,
  found: readonly TableInfo[],
): Promise<{ changes: Change[]; ids: Map<string, string> }> {
  const known = await Table.query(trx)
    .where('sourceId', source.id)
    .select('id', 'catalogName', 'schemaName', 'name', 'fingerprint', 'isActive', 'identity')
  const knownByPath = new Map(known.map(table => [pathOf(table), table]))
  const prints = new Map(found.map(table => [tablePath(table), fingerprint(table)]))
  const isUnchanged = (path: string) => {
    const table = knownByPath.get(path)
    return table !== undefined && table.isActive && table.fingerprint === prints.get(path)
  }
  const fresh = found.filter(table => !isUnchanged(tablePath(table)))
  const stale = known.filter(table => table.isActive && !isUnchanged(pathOf(table)))
  const before =
    stale.length === 0
      ? []
      : await Table.query(trx).whereIn(
          'id',
          stale.map(({ id }) => id),
        )
  const gone = stale.filter(table => !prints.has(pathOf(table)))

  const stored = await upsert(trx, source, fresh, prints)
  if (gone.length > 0) {
    await Table.query(trx)
      .whereIn(
        'id',
        gone.map(({ id }) => id),
      )
      .patch({ isActive: false, updatedAt: new Date() })
  }
  const ids = new Map([...known.map(table => [pathOf(table), table.id] as const), ...stored])
  return { changes: diff(before.map(tableInfo), fresh), ids }
}

async function upsert(
  trx: Transaction,
  source: Source,
  tables: readonly TableInfo[],
  prints: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  if (tables.length === 0) return new Map()
  const records = tables.map(table => ({
    id: v7(),
    catalog_name: table.catalog,
    schema_name: table.schema,
    name: table.name,
    qualified_name: formatName([source.name, table.catalog, table.schema, table.name]),
    kind: table.kind,
    identity: table.identity ?? null,
    comment: table.comment,
    columns: table.columns,
    constraints: table.constraints,
    fingerprint: prints.get(tablePath(table)),
    estimated_rows: table.estimatedRows ?? null,
  }))
  const written = await rows<{ id: string; catalogName: string; schemaName: string; name: string }>(
    trx,
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, identity,
       comment, columns, constraints, fingerprint, estimated_rows)
     select r.id, :companyId, :sourceId, r.catalog_name, r.schema_name, r.name, r.qualified_name, r.kind, r.identity,
       r.comment, r.columns, r.constraints, r.fingerprint, r.estimated_rows
     from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, catalog_name text, schema_name text, name text,
       qualified_name text, kind text, identity text, comment text, columns jsonb, constraints jsonb,
       fingerprint text, estimated_rows bigint)
     on conflict (source_id, catalog_name, schema_name, name) do update set
       qualified_name = excluded.qualified_name,
       kind = excluded.kind, identity = excluded.identity, comment = excluded.comment, columns = excluded.columns,
       constraints = excluded.constraints, fingerprint = excluded.fingerprint,
       estimated_rows = excluded.estimated_rows, is_active = true, updated_at = now()
     returning id, catalog_name, schema_name, name`,
    { companyId: source.companyId, sourceId: source.id, records: JSON.stringify(records) },
  )
  return new Map(written.map(table => [pathOf(table), table.id]))
}

function pathOf(table: { catalogName: string; schemaName: string; name: string }): string {
  return tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
}

const RANK: Record<Impact, number> = { low: 0, medium: 1, high: 2 }
const SEVERITY = { low: 'info', medium: 'warning', high: 'critical' } as const

/** Stores changes, and raises one alert for each table that changed, at its worst change. */
async function recordChanges(
  server: Server,
  trx: Transaction,
  input: { source: Source; runId: string; changes: readonly Change[]; ids: ReadonlyMap<string, string> },
): Promise<void> {
  const { source, runId, changes, ids } = input
  const idOf = (path: string) => {
    const id = ids.get(path)
    if (!id) throw new Error(`No table is stored for ${path}`)
    return id
  }
  await insertAll(
    changes.map(({ path, ...change }) => ({
      id: v7(),
      ...change,
      sourceId: source.id,
      tableId: idOf(path),
      tablePath: path,
      discoveryId: runId,
    })),
    chunk => SchemaChange.query(trx).insert(chunk),
  )
  for (const [path, ofTable] of Map.groupBy(changes, change => change.path)) {
    const worst = ofTable.reduce((a, b) => (RANK[b.impact] > RANK[a.impact] ? b : a))
    const tableId = idOf(path)
    await server.plugins.alerts.raise(trx, {
      type: 'schema_change',
      cause: tableId,
      severity: SEVERITY[worst.impact],
      sourceId: source.id,
      asset: { id: tableId, qualifiedName: `${formatName([source.name])}.${path}`, assetType: 'table' },
      ruleName: 'Schema drift',
      title: sentence(path, ofTable, worst),
      changeType: worst.changeType,
      details: details(worst, path, ofTable),
    })
  }
}

function sentence(path: string, changes: readonly Change[], worst: Change): string {
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : ''
  return `${path}: ${worst.changeType.replaceAll('_', ' ')} (${worst.objectName})${more}`
}

function details(worst: Change, path: string, changes: readonly Change[]): object {
  const value = (worst.newValue ?? worst.oldValue) as { data_type?: string } | null
  const column =
    worst.objectType === 'column' ? { column_name: worst.objectName, column_type: value?.data_type } : {}
  return {
    ...column,
    table_path: path,
    change_count: changes.length,
    old_value: worst.oldValue,
    new_value: worst.newValue,
  }
}

async function fail(
  server: Server,
  trx: Transaction,
  { source, runId, error }: { source: Source; runId: string; error: Error },
): Promise<void> {
  const ended = await Run.query(trx)
    .findById(runId)
    .whereIn('status', UNFINISHED)
    .patch({ status: 'failed', error: failureOf(error), completedAt: new Date() })
  if (ended === 0) return
  await Source.query(trx).findById(source.id).patch({ discoveryState: 'failed' })
  await noteConnection(server, trx, source, error)
}
