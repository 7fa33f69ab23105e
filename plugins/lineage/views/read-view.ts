import { createHash } from 'node:crypto'
import type { TableInfo } from '../../../connectors/catalog.ts'
import type { ViewDefinition } from '../../../connectors/connector.ts'
import type { TableName } from './columns.ts'
import { readDefinition, type ViewReading } from './definition.ts'
import { searchPathOf, type TableIndex } from './table-index.ts'
import { findTableNames } from './table-names.ts'

/** Goes into each hash: raised when a definition is read differently than before. */
const VERSION = 1

/** How sure names are that were found by words alone. */
const WORDS_CONFIDENCE = 0.8

export interface ReadView extends ViewReading {
  confidence: number
}

export interface ViewContext {
  index: TableIndex
  isPostgresql: boolean
  /** The view itself, as the catalog has it. */
  table: TableInfo
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
  const names = findTableNames(text)
  const found = names.flatMap(name => find(name) ?? [])
  return { upstream: new Map(found.map(({ path }) => [path, null])), names, confidence: WORDS_CONFIDENCE }
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
  const tables = names.map(name => context.index.find(name, path) ?? null)
  const own = context.table.columns.map(({ name }) => name)
  return createHash('sha256')
    .update(JSON.stringify([VERSION, view.definition, own, tables]))
    .digest('base64')
}
