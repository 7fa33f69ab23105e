import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import type { Connection, ViewDefinition } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { DiscoveredCatalog, DiscoveryReader } from '../../catalog/api.ts'
import type { LineageDeps } from '../deps.ts'
import type { TableName } from './columns.ts'
import { recordForeignKeys } from './foreign-keys.ts'
import { ChangedViewReader, type ReadingOfView } from './read-changed.ts'
import { hashView, readNames, type ViewContext } from './read-view.ts'
import { recordViews, type FoundView, type FoundViews } from './record-views.ts'
import { wordRulesOf } from './sql-words.ts'
import { GrowingTableIndex } from './table-index.ts'
import { TableWords } from './table-words.ts'
import type { PackedView } from './view-batch.ts'

/** Views and foreign keys of a source, read with each discovery. */
export function lineageReader(deps: LineageDeps): DiscoveryReader {
  return {
    name: 'lineage',
    async read(connection, found) {
      const views = await readViews(deps, connection, found)
      const tablesHash = await hashTables(found.prints)
      return async trx => {
        if (views) await recordViews(trx, found.source.id, views)
        await recordForeignKeys(trx, found.source.id, tablesHash)
      }
    },
  }
}

interface KnownView {
  tableId: string
  path: string
  hash: string
  names: TableName[]
}

/** @returns undefined where the engine has no definitions, or does not give them: what is known stays */
async function readViews(
  deps: LineageDeps,
  connection: Connection,
  { source, tables, signal }: DiscoveredCatalog,
): Promise<FoundViews | undefined> {
  if (!connection.viewDefinitions) return undefined
  const isView = new Map(
    tables.filter(({ kind }) => kind.endsWith('view')).map(table => [tablePath(table), table]),
  )
  const defined = isView.size > 0 ? await readDefinitions(deps.pino, connection, source.id, signal) : []
  if (!defined) return undefined
  const known = new Map(
    (await deps.db.company(source.companyId, trx => knownViews(trx, source.id))).map(view => [
      view.path,
      view,
    ]),
  )
  if (defined.length === 0 && known.size === 0) return { changed: [], goneIds: [] }
  const { viewGrammar, dialect } = deps.catalog.connectorOf(source)
  const isPostgresql = viewGrammar === 'postgresql'
  const rules = wordRulesOf(dialect.lexicon)
  const { index, words } = await indexTables(tables)
  const reader = new ChangedViewReader({
    pool: deps.textPool,
    log: deps.pino,
    companyId: source.companyId,
    sourceId: source.id,
    words,
    isPostgresql,
    rules,
    signal,
  })
  const pause = makePauses()
  for (const view of defined) {
    await pause()
    signal.throwIfAborted()
    if (reader.isOver) break
    const table = isView.get(tablePath(view))
    if (!table || view.definition === null) continue
    const former = known.get(tablePath(view))
    const context = { index, isPostgresql, rules, table }
    if (former && former.hash === hashView(view, former.names, context)) continue
    await reader.add({ view, table })
  }
  await reader.end()
  const changed: FoundView[] = []
  for (const { view, table, reading } of reader.readings) {
    await pause()
    const context = { index, isPostgresql, rules, table }
    const packed = packReading(view, reading, context)
    changed.push({ view, reading: packed, hash: hashView(view, packed?.names ?? [], context) })
  }
  const goneIds = [...known.values()].filter(({ path }) => !isView.has(path)).map(({ tableId }) => tableId)
  return { changed, goneIds }
}

async function indexTables(tables: readonly TableInfo[]) {
  const [index, words, pause] = [new GrowingTableIndex(), new TableWords(), makePauses()]
  for (const table of tables) {
    index.add(table)
    words.add(table)
    await pause()
  }
  return { index, words }
}

/** @returns null where nothing could be read */
function packReading(view: ViewDefinition, reading: ReadingOfView, context: ViewContext): PackedView | null {
  if ('packed' in reading) return reading.packed
  if (!reading.names) return null
  const { upstream, ...read } = readNames(view, reading.names, context)
  return { ...read, words: [], upstream: [...upstream.keys()].map(path => ({ path, pairs: null })) }
}

/** A hash of the fingerprints of all tables. */
async function hashTables(prints: DiscoveredCatalog['prints']): Promise<string> {
  const [hash, pause] = [createHash('sha256'), makePauses()]
  for (const path of [...prints.keys()].sort()) {
    hash.update(JSON.stringify([path, prints.get(path)]))
    await pause()
  }
  return hash.digest('base64')
}

async function readDefinitions(
  log: Logger,
  connection: Connection,
  sourceId: string,
  signal: AbortSignal,
): Promise<ViewDefinition[] | undefined> {
  try {
    return await connection.viewDefinitions?.({ signal })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ConnectorError)) throw error
    log.info({ err: error.message, source_id: sourceId }, 'definitions of views could not be read')
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
