import { loadModule } from 'libpg-query'
import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import { readDefinition } from '../views/definition.ts'
import { makeTableIndex, searchPathOf, type NamedTable } from '../views/table-index.ts'
import { isRecord, textOf, type Json } from './json.ts'

/** What a column is made from: upstream column, own column, and whether its values come from it. */
export type ColumnPair = [upstream: string, downstream: string, kind: 'direct' | 'indirect']

/** The columns that a model uses of each relation, by the unique id of the relation. */
export type UpstreamColumns = Record<string, ColumnPair[]>

/** Adapters whose engine has PostgreSQL's grammar, which alone tells columns of the SQL of models. */
const ADAPTERS = new Set(['postgres', 'redshift'])

/**
 * Finds in the compiled SQL of models which columns they are made from. It is read where the artifacts are, so that no SQL
 * is sent. Columns of relations, which a star stands for, are those of catalog.json.
 * @param manifest as dbt wrote it
 * @param catalog as dbt wrote it
 * @returns by the unique id of the model; models whose SQL cannot be read are left out
 */
export async function readColumnLineage(
  manifest: Json,
  catalog: Json,
): Promise<Map<string, UpstreamColumns>> {
  const found = new Map<string, UpstreamColumns>()
  if (!isRecord(manifest) || !isRecord(manifest.metadata) || !isRecord(manifest.nodes)) return found
  const relations = readRelations(catalog)
  if (!ADAPTERS.has(textOf(manifest.metadata.adapter_type) ?? '') || relations.size === 0) return found
  await loadModule()
  const index = makeTableIndex([...relations.values()])
  const idByPath = new Map([...relations].map(([id, relation]) => [tablePath(relation), id]))
  for (const [id, node] of Object.entries(manifest.nodes)) {
    const own = relations.get(id)
    // Before dbt 1.3 it had another name.
    const text = isRecord(node) ? (textOf(node.compiled_code) ?? textOf(node.compiled_sql)) : undefined
    if (!own || !text || !id.startsWith('model.')) continue
    const upstream = readModel(text, own, index)
    // An incremental model reads what it wrote before.
    upstream?.delete(tablePath(own))
    if (upstream)
      found.set(
        id,
        Object.fromEntries(
          [...upstream].flatMap(([path, columns]) => {
            const upstreamId = idByPath.get(path)
            return upstreamId !== undefined && columns ? [[upstreamId, columns]] : []
          }),
        ),
      )
  }
  return found
}

function readModel(
  text: string,
  own: NamedTable,
  index: ReturnType<typeof makeTableIndex>,
): Map<string, ColumnPair[] | null> | undefined {
  const at = searchPathOf(own, true)
  try {
    const { upstream } = readDefinition(
      text,
      name => index.find(name, at),
      own.columns.map(({ name }) => name),
    )
    return new Map(
      [...upstream].map(([path, columns]) => [
        path,
        columns?.map(({ upstream: from, downstream: to, kind = 'direct' }): ColumnPair => [from, to, kind]) ??
          null,
      ]),
    )
  } catch {
    // A model in Python, or nested too deeply: its relations are known without.
    return undefined
  }
}

/** The relations of catalog.json with their columns in the order of the table, by unique id. */
function readRelations(catalog: Json): Map<string, NamedTable> {
  if (!isRecord(catalog)) return new Map()
  const entries = [catalog.nodes, catalog.sources].flatMap(part =>
    isRecord(part) ? Object.entries(part) : [],
  )
  return new Map(
    entries.flatMap(([id, entry]): [string, NamedTable][] => {
      if (!isRecord(entry) || !isRecord(entry.metadata) || !isRecord(entry.columns)) return []
      const { database, schema, name } = entry.metadata
      if (typeof schema !== 'string' || typeof name !== 'string') return []
      const ref: TableRef = { catalog: textOf(database) ?? '', schema, name }
      const columns = Object.entries(entry.columns)
        .map(([key, column]) => ({
          name: (isRecord(column) ? textOf(column.name) : undefined) ?? key,
          place: Number(isRecord(column) ? column.index : 0),
        }))
        .toSorted((a, b) => a.place - b.place)
      return [[id, { ...ref, columns }]]
    }),
  )
}

/** The pairs that were found before, in an entry of a manifest that was reduced already. */
export function keepUpstreamColumns(given: Json): UpstreamColumns | undefined {
  if (!isRecord(given)) return undefined
  return Object.fromEntries(
    Object.entries(given).map(([id, pairs]) => [
      id,
      (Array.isArray(pairs) ? pairs : []).flatMap((pair: Json): ColumnPair[] => {
        const [upstream, downstream, kind] = Array.isArray(pair) ? (pair as Json[]).map(textOf) : []
        return upstream !== undefined && downstream !== undefined && upstream !== '' && downstream !== ''
          ? [[upstream, downstream, kind === 'indirect' ? 'indirect' : 'direct']]
          : []
      }),
    ]),
  )
}
