import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { loadModule } from 'libpg-query'
import { formatName, tablePath } from '../../../connectors/catalog.ts'
import type { Connection, ViewDefinition } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { DiscoveredCatalog, DiscoveryReader } from '../../catalog/api.ts'
import type { SeenEdge } from '../api.ts'
import { recordEdges } from '../graph/record.ts'
import type { TableName } from './columns.ts'
import { recordForeignKeys } from './foreign-keys.ts'
import { hashView, readView, type ReadView } from './read-view.ts'
import { makeTableIndex } from './table-index.ts'

/** Milliseconds for which definitions are parsed before other requests get their turn. */
const PARSE_TURN_MS = 20

/** Views and foreign keys of a source, read with each discovery. */
export function lineageReader(server: Server): DiscoveryReader {
  return {
    name: 'lineage',
    async read(connection, found) {
      const views = await readViews(server, connection, found)
      const tablesHash = createHash('sha256')
        .update(JSON.stringify([...found.prints].sort(([a], [b]) => (a < b ? -1 : 1))))
        .digest('base64')
      return async trx => {
        if (views) await recordViews(trx, found.source.id, views)
        await recordForeignKeys(trx, found.source.id, tablesHash)
      }
    },
  }
}

interface FoundView {
  view: ViewDefinition
  hash: string
  reading: ReadView
}

interface FoundViews {
  /** Those whose definition or tables changed since they were read. */
  changed: FoundView[]
  /** Ids of tables that are no views any more. */
  goneIds: string[]
}

interface KnownView {
  tableId: string
  path: string
  hash: string
  names: TableName[]
}

/** @returns undefined where the engine has no definitions, or does not give them: what is known stays */
async function readViews(
  server: Server,
  connection: Connection,
  { source, tables, signal }: DiscoveredCatalog,
): Promise<FoundViews | undefined> {
  if (!connection.viewDefinitions) return undefined
  const isView = new Map(
    tables.filter(({ kind }) => kind.endsWith('view')).map(table => [tablePath(table), table]),
  )
  const defined = isView.size > 0 ? await readDefinitions(server, connection, source.id, signal) : []
  if (!defined) return undefined
  const known = new Map(
    (await server.db.company(source.companyId, trx => knownViews(trx, source.id))).map(view => [
      view.path,
      view,
    ]),
  )
  if (defined.length === 0 && known.size === 0) return { changed: [], goneIds: [] }
  await loadModule()
  const isPostgresql = server.plugins.catalog.connectorOf(source).viewGrammar === 'postgresql'
  const index = makeTableIndex(tables)
  const changed: FoundView[] = []
  let turnBegan = performance.now()
  for (const view of defined) {
    const table = isView.get(tablePath(view))
    if (!table || view.definition === null) continue
    const context = { index, isPostgresql, table }
    const former = known.get(tablePath(view))
    if (former && former.hash === hashView(view, former.names, context)) continue
    const reading = readView(view, context)
    changed.push({ view, reading, hash: hashView(view, reading.names, context) })
    if (performance.now() - turnBegan < PARSE_TURN_MS) continue
    await setImmediate()
    signal.throwIfAborted()
    turnBegan = performance.now()
  }
  const goneIds = [...known.values()].filter(({ path }) => !isView.has(path)).map(({ tableId }) => tableId)
  return { changed, goneIds }
}

async function readDefinitions(
  server: Server,
  connection: Connection,
  sourceId: string,
  signal: AbortSignal,
): Promise<ViewDefinition[] | undefined> {
  try {
    return await connection.viewDefinitions?.({ signal })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ConnectorError)) throw error
    server.pino.info({ err: error.message, source_id: sourceId }, 'definitions of views could not be read')
    return undefined
  }
}

function knownViews(trx: Transaction, sourceId: string): Promise<KnownView[]> {
  return rows<{
    tableId: string
    catalog: string
    schema: string
    name: string
    hash: string
    names: TableName[]
  }>(
    trx,
    `select v.table_id, t.catalog_name as catalog, t.schema_name as schema, t.name, v.hash, v.names
       from lineage_views v join tables t on t.company_id = :companyId and t.id = v.table_id
      where v.company_id = :companyId and v.source_id = :sourceId`,
    { companyId: companyOf(trx), sourceId },
  ).then(found =>
    found.map(({ tableId, hash, names, ...table }) => ({ tableId, hash, names, path: tablePath(table) })),
  )
}

async function recordViews(
  trx: Transaction,
  sourceId: string,
  { changed, goneIds }: FoundViews,
): Promise<void> {
  if (changed.length > 0 || goneIds.length > 0) {
    const ids = await tableIds(trx, sourceId)
    const stored = changed.flatMap(found => {
      const id = ids.get(tablePath(found.view))
      return id === undefined ? [] : [{ ...found, id }]
    })
    await recordEdges(trx, {
      origin: 'view',
      sourceId,
      isComplete: true,
      downstreamIds: [...stored.map(({ id }) => id), ...goneIds],
      edges: stored.flatMap(({ id, view, reading }) => edgesInto(id, view, reading, ids)),
    })
    await storeViews(trx, sourceId, stored, goneIds)
  }
  await trx.raw(
    `update lineage_edge_origins set last_seen_at = now()
      where company_id = :companyId and source_id = :sourceId and origin in ('view', 'foreign_key')
        and last_seen_at < now() - interval '1 day'`,
    { companyId: companyOf(trx), sourceId },
  )
}

function edgesInto(
  id: string,
  { schema, name }: ViewDefinition,
  { upstream, confidence }: ReadView,
  ids: ReadonlyMap<string, string>,
): SeenEdge[] {
  return [...upstream].flatMap(([path, columns]): SeenEdge[] => {
    const tableId = ids.get(path)
    if (tableId === undefined || tableId === id) return []
    return [
      {
        upstream: { tableId },
        downstream: { tableId: id },
        detail: formatName([schema, name]),
        confidence,
        ...(columns && { columns }),
      },
    ]
  })
}

/** The ids of the active tables of a source by path. */
async function tableIds(trx: Transaction, sourceId: string): Promise<Map<string, string>> {
  const found = await rows<{ id: string; catalog: string; schema: string; name: string }>(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name from tables
      where company_id = :companyId and source_id = :sourceId and is_active`,
    { companyId: companyOf(trx), sourceId },
  )
  return new Map(found.map(({ id, ...table }) => [tablePath(table), id]))
}

async function storeViews(
  trx: Transaction,
  sourceId: string,
  changed: readonly (FoundView & { id: string })[],
  goneIds: readonly string[],
): Promise<void> {
  await trx.raw(
    `delete from lineage_views where company_id = :companyId and source_id = :sourceId
        and table_id = any(cast(:goneIds as uuid[]))`,
    { companyId: companyOf(trx), sourceId, goneIds: [...goneIds] },
  )
  await trx.raw(
    `insert into lineage_views (table_id, company_id, source_id, hash, names)
     select id, :companyId, :sourceId, hash, names
       from jsonb_to_recordset(cast(:views as jsonb)) as v (id uuid, hash text, names jsonb)
     on conflict (table_id) do update
       set hash = excluded.hash, names = excluded.names, parsed_at = now()`,
    {
      companyId: companyOf(trx),
      sourceId,
      views: JSON.stringify(changed.map(({ id, hash, reading }) => ({ id, hash, names: reading.names }))),
    },
  )
}
