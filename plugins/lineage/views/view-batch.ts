/** What a thread of the pool does with definitions of views, which come from databases of customers. */
import { loadModule } from 'libpg-query'
import type { ViewDefinition } from '../../../connectors/connector.ts'
import type { SeenColumn } from '../api.ts'
import type { TableName } from './columns.ts'
import { readView, type ReadView } from './read-view.ts'
import { makeTableIndex } from './table-index.ts'
import type { WordRules } from './sql-words.ts'
import { findTableNames } from './table-names.ts'

interface ViewBatch {
  /** All tables that the definitions name, and maybe others. */
  tables: readonly { catalog: string; schema: string; name: string; columns: readonly string[] }[]
  isPostgresql: boolean
  rules: WordRules
  views: readonly { view: ViewDefinition; columns: readonly string[] }[]
  /** Receives the place of the view that is being read. */
  progress: Int32Array
}

/** A `ReadView` without the thousands of small objects that a wide one has. */
export interface PackedView {
  names: TableName[]
  confidence: number
  /** Names of columns, each once. */
  words: string[]
  /** By table: upstream column, downstream column and kind of each pair as a place in `words` or `KINDS`. */
  upstream: { path: string; pairs: Int32Array | null }[]
}

const KINDS = ['direct', 'indirect'] as const

/** After so many milliseconds a thread answers with what it has read: another company may have its turn. */
const MAX_HELD_MS = 1_000
/** Pairs of columns in one answer, which is copied in one go. */
const MAX_PAIRS_OF_ANSWER = 200_000
/** Pairs between two tables, and of a view: where there are more, its columns count as unknown. */
const MAX_PAIRS_OF_EDGE = 20_000
const MAX_PAIRS = 200_000
/** Names of tables in a definition; others are left out. */
const MAX_NAMES = 5_000

/** @returns the first of the views, one at least */
export async function readViewBatch(batch: ViewBatch): Promise<PackedView[]> {
  const { tables, isPostgresql, rules, views, progress } = batch
  if (isPostgresql) await loadModule()
  const index = makeTableIndex(
    tables.map(({ columns, ...table }) => ({ ...table, columns: columns.map(name => ({ name })) })),
  )
  const packed: PackedView[] = []
  const began = performance.now()
  let pairs = 0
  for (const [place, { view, columns }] of views.entries()) {
    Atomics.store(progress, 0, place)
    const table = { columns: columns.map(name => ({ name })) }
    const reading = pack(readView(view, { index, isPostgresql, rules, table }))
    packed.push(reading)
    pairs += reading.upstream.reduce((sum, each) => sum + (each.pairs?.length ?? 0) / 3, 0)
    if (pairs > MAX_PAIRS_OF_ANSWER || performance.now() - began > MAX_HELD_MS) break
  }
  return packed
}

/** The names of tables in a definition that is too large to be read otherwise. */
export function readNamesOf({ definition, rules }: { definition: string; rules: WordRules }): TableName[] {
  return findTableNames(definition, rules).slice(0, MAX_NAMES)
}

function pack({ names, confidence, upstream }: ReadView): PackedView {
  const total = [...upstream.values()].reduce((sum, columns) => sum + (columns?.length ?? 0), 0)
  const places = new Map<string, number>()
  const placeOf = (word: string): number => {
    const known = places.get(word) ?? places.size
    places.set(word, known)
    return known
  }
  const packed = [...upstream].slice(0, MAX_NAMES).map(([path, columns]) => {
    if (!columns || columns.length > MAX_PAIRS_OF_EDGE || total > MAX_PAIRS) return { path, pairs: null }
    const pairs = new Int32Array(columns.length * 3)
    for (const [index, { upstream: from, downstream: to, kind = 'direct' }] of columns.entries())
      pairs.set([placeOf(from), placeOf(to), KINDS.indexOf(kind)], index * 3)
    return { path, pairs }
  })
  return { names: names.slice(0, MAX_NAMES), confidence, words: [...places.keys()], upstream: packed }
}

/** The pairs of columns between a table and a view. */
export function unpackPairs(pairs: Int32Array, words: readonly string[]): SeenColumn[] {
  return Array.from({ length: pairs.length / 3 }, (_, index) => ({
    upstream: words[pairs[index * 3]!]!,
    downstream: words[pairs[index * 3 + 1]!]!,
    kind: KINDS[pairs[index * 3 + 2]!]!,
  }))
}
