import { createHash } from 'node:crypto'
import type { ViewDefinition } from '../../../connectors/connector.ts'
import type { CatalogTable, TableName } from './columns.ts'
import { readDefinition, type ViewReading } from './definition.ts'
import { searchPathOf, type NamedTable, type TableIndex } from './table-index.ts'
import type { WordRules } from './sql-words.ts'
import { findTableNames } from './table-names.ts'

/** Goes into each hash: raised when a definition is read differently than before. */
const VERSION = 3

/** How sure names are that were found by words alone. */
const WORDS_CONFIDENCE = 0.8

export interface ReadView extends ViewReading {
  confidence: number
}

export interface ViewContext {
  index: TableIndex
  isPostgresql: boolean
  /** How the words of the engine's SQL are read, where no grammar reads it. */
  rules: WordRules
  /** The view itself, as the catalog has it. */
  table: Pick<NamedTable, 'columns'>
}

/** What a view is made from by the names in its definition alone. */
export function readNames(view: ViewDefinition, names: TableName[], context: ViewContext): ReadView {
  const path = searchPathOf(view, context.isPostgresql)
  const found = names.flatMap(name => context.index.find(name, path) ?? [])
  return { upstream: new Map(found.map(table => [table.path, null])), names, confidence: WORDS_CONFIDENCE }
}

/** What a view is made from: its tables, and where the grammar is PostgreSQL's its columns. */
export function readView(view: ViewDefinition, context: ViewContext): ReadView {
  const text = view.definition ?? ''
  const find = (name: TableName) => context.index.find(name, searchPathOf(view, context.isPostgresql))
  const columns = context.table.columns.map(({ name }) => name)
  if (context.isPostgresql)
    for (const queryOf of [() => text, () => queryIn(text)]) {
      try {
        const reading = readDefinition(queryOf(), find, { columns })
        const isKnown = [...reading.upstream.values()].every(found => found !== null)
        return { ...reading, confidence: isKnown ? 1 : WORDS_CONFIDENCE }
      } catch {
        // Not PostgreSQL's grammar, or nested too deeply: its words are left.
      }
    }
  return readNames(view, findTableNames(text, context.rules), context)
}

/** The query in a statement that creates a view with clauses that PostgreSQL does not have. */
function queryIn(text: string): string {
  return fromQuery(text).replace(/\bwith\s+no\s+schema\s+binding\b[\s;]*$/i, '')
}

const QUERY_START = /(?:select|with)\b/iy

/** What follows the first AS that stands before a query, in brackets or not; all of a text without one. */
function fromQuery(text: string): string {
  for (const { index } of text.matchAll(/\bas(?=\s)/gi)) {
    const start = index + 'as'.length
    // Blanks and brackets hold no AS, so that each character is looked at once.
    QUERY_START.lastIndex = start + text.slice(start).search(/[^\s(]|$/)
    if (QUERY_START.test(text)) return text.slice(start)
  }
  return text
}

/** Changes when the definition does, or a table that it names, or the columns of one. */
export function hashView(view: ViewDefinition, names: readonly TableName[], context: ViewContext): string {
  const path = searchPathOf(view, context.isPostgresql)
  const own = context.table.columns.map(({ name }) => name)
  const hash = createHash('sha256').update(JSON.stringify([VERSION, own]))
  for (const name of names) {
    const table = context.index.find(name, path)
    hash.update(table ? digestOf(table) : '-')
  }
  return hash.update(view.definition ?? '').digest('base64')
}

/** Many views name the same tables. */
const digests = new WeakMap<CatalogTable, string>()

function digestOf(table: CatalogTable): string {
  const known = digests.get(table)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(JSON.stringify(table)).digest('base64')
  digests.set(table, digest)
  return digest
}
