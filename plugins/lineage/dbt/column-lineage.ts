import { loadModule } from 'libpg-query'
import { tablePath } from '../../../connectors/catalog.ts'
import type { SeenColumn } from '../api.ts'
import { isRecord, pickTexts, textOf, type Json } from '../json.ts'
import { readDefinition } from '../views/definition.ts'
import { makeTableIndex, searchPathOf, type NamedTable, type TableIndex } from '../views/table-index.ts'

/** A column of a relation, one that is made from it, and how, in short: bodies have many of them. */
type ShortColumn = [upstream: string, downstream: string, kind: 'direct' | 'indirect']

/** The columns that a model uses of each relation, by the unique id of the relation. */
export type UpstreamColumns = Record<string, ShortColumn[]>

/** Adapters whose engine has PostgreSQL's grammar, the only one that is parsed. */
const ADAPTERS = new Set(['postgres', 'redshift'])
/** Characters of SQL that is parsed. */
const MAX_SQL_LENGTH = 1_000_000
/** Longer names of columns are none: engines allow 300 characters at most. */
const MAX_NAME_LENGTH = 300
/** Pairs of columns between two relations; others are left out. */
const MAX_PAIRS = 20_000

/** Whether artifacts have SQL that `findUpstreamColumns` parses. */
export function hasSqlToRead(manifest: Json, catalog: Json): boolean {
  if (!isRecord(catalog) || !isRecord(manifest) || !isRecord(manifest.nodes)) return false
  return Object.values(manifest.nodes).some(node => isRecord(node) && sqlOf(node) !== '')
}

// Before dbt 1.3 it had another name.
const sqlOf = (node: Record<string, Json>) => textOf(node.compiled_code) ?? textOf(node.compiled_sql) ?? ''

/**
 * Finds in the compiled SQL of models which columns they are made from. It is read where the artifacts are, so that no SQL
 * is sent. Columns of relations, which a star stands for, are those of catalog.json.
 * @param manifest as dbt wrote it
 * @param catalog as dbt wrote it
 * @returns by the unique id of the model: nothing of one whose SQL cannot be parsed. Models without compiled SQL, or all
 *   without catalog.json, are left out: their columns are what they were.
 */
export async function findUpstreamColumns(
  manifest: Json,
  catalog: Json,
): Promise<Map<string, UpstreamColumns>> {
  const found = new Map<string, UpstreamColumns>()
  if (!isRecord(manifest) || !isRecord(manifest.metadata) || !isRecord(manifest.nodes)) return found
  if (!ADAPTERS.has(textOf(manifest.metadata.adapter_type) ?? '')) return found
  // A model that another project declares as a source has two ids.
  const byPath = Map.groupBy(readRelations(catalog), ([, table]) => tablePath(table))
  if (byPath.size === 0) return found
  await loadModule()
  const index = makeTableIndex([...byPath.values()].map(same => same.at(-1)![1]))
  for (const [id, node] of Object.entries(manifest.nodes)) {
    if (!id.startsWith('model.') || !isRecord(node)) continue
    const text = sqlOf(node)
    if (text === '') continue
    const upstream = readModel(text, pickTexts(node, ['database', 'schema'] as const), index)
    found.set(
      id,
      Object.fromEntries(
        [...(upstream ?? [])].flatMap(([path, columns]) =>
          (byPath.get(path) ?? []).flatMap(([upstreamId]) =>
            // An incremental model reads what it wrote before.
            columns && upstreamId !== id ? [[upstreamId, shorten(columns)]] : [],
          ),
        ),
      ),
    )
  }
  return found
}

/** The columns by the path of each relation; null where they are not known. */
function readModel(
  text: string,
  { database, schema }: { database?: string; schema?: string },
  index: TableIndex,
): Map<string, SeenColumn[] | null> | undefined {
  if (text.length > MAX_SQL_LENGTH || schema === undefined) return undefined
  const at = searchPathOf({ catalog: database ?? '', schema }, true)
  try {
    // By the names of the query: the table may have its columns in another order, and catalog.json may be older.
    return readDefinition(text, name => index.find(name, at), { isCatalogComplete: false }).upstream
  } catch {
    // Python, SQL that PostgreSQL does not know, or too much of it: its relations are known without.
    return undefined
  }
}

function shorten(columns: readonly SeenColumn[]): ShortColumn[] {
  return limitPairs(
    columns.map(({ upstream, downstream, kind = 'direct' }): ShortColumn => [upstream, downstream, kind]),
  )
}

/** The first pairs of those whose columns both have names: what a star stands for of an unknown table has none. */
function limitPairs(pairs: readonly ShortColumn[]): ShortColumn[] {
  const isNamed = (name: string) => name !== '' && name.length <= MAX_NAME_LENGTH
  return pairs.filter(([from, to]) => isNamed(from) && isNamed(to)).slice(0, MAX_PAIRS)
}

/** The relations of catalog.json with their columns in the order of the table, with their unique ids. */
function readRelations(catalog: Json): [id: string, table: NamedTable][] {
  if (!isRecord(catalog)) return []
  const entries = [catalog.nodes, catalog.sources].flatMap(part =>
    isRecord(part) ? Object.entries(part) : [],
  )
  return entries.flatMap(([id, entry]): [string, NamedTable][] => {
    if (!isRecord(entry) || !isRecord(entry.metadata) || !isRecord(entry.columns)) return []
    const { database = '', schema, name } = pickTexts(entry.metadata, ['database', 'schema', 'name'] as const)
    if (schema === undefined || name === undefined) return []
    const columns = Object.entries(entry.columns)
      .map(([key, column]) => {
        const fields = isRecord(column) ? column : {}
        const place = typeof fields.index === 'number' ? fields.index : 0
        return { name: textOf(fields.name) ?? key, place }
      })
      .toSorted((a, b) => a.place - b.place)
    return [[id, { catalog: database, schema, name, columns }]]
  })
}

/** The pairs that were found before, in an entry of a manifest that was reduced already. */
export function keepUpstreamColumns(given: Json): UpstreamColumns | undefined {
  if (!isRecord(given)) return undefined
  return Object.fromEntries(
    Object.entries(given).map(([id, pairs]) => [
      id,
      limitPairs(
        (Array.isArray(pairs) ? pairs : []).flatMap((pair: Json): ShortColumn[] => {
          const [upstream, downstream, kind] = Array.isArray(pair) ? (pair as Json[]).map(textOf) : []
          return upstream === undefined || downstream === undefined
            ? []
            : [[upstream, downstream, kind === 'indirect' ? 'indirect' : 'direct']]
        }),
      ),
    ]),
  )
}
