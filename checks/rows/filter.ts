/** Which rows a check is about: those for which a boolean expression in the engine's SQL is true. */
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { sql } from '../../connectors/sql.ts'
import { isRowRule, type Check, type CheckContext, type Filter } from '../check.ts'
import { checkCustomSql, parseCustomSql, type CustomSqlResult } from '../sql/custom-sql.ts'
import { renderCustomSql } from '../sql/render.ts'

/** Longest filter, in characters. */
export const MAX_FILTER_CHARACTERS = 2_000

/** What a filter is read by. */
export interface FilterReader {
  dialect: Dialect
  table: Pick<TableInfo, 'columns'>
}

/**
 * What is wrong with the text of a filter, in a sentence; null if nothing is. It is one boolean expression as CUSTOM_SQL
 * takes it: without sub-queries and denied functions. Whether the engine has its names and types, only the engine knows.
 */
export async function findFilterProblem(text: string, reader: FilterReader): Promise<string | null> {
  const { dialect, table } = reader
  return problemOf(await checkCustomSql(text, { dialect, columns: table.columns }), text, reader)
}

/** Reads the text of a filter, once `findFilterProblem` was awaited in this process. @throws Error with what is wrong */
export function readFilter(text: string, reader: FilterReader): Filter {
  const { dialect, table } = reader
  const read = parseCustomSql(text, { dialect, columns: table.columns })
  const problem = problemOf(read, text, reader)
  if (problem !== null || 'error' in read) throw new Error(problem ?? 'the filter cannot be read')
  return { condition: sql`(${renderCustomSql(read, dialect)})`, text: read }
}

function problemOf(read: CustomSqlResult, text: string, { table }: FilterReader): string | null {
  if (text.length > MAX_FILTER_CHARACTERS) return `filter has more than ${MAX_FILTER_CHARACTERS} characters.`
  // The reader of CUSTOM_SQL names the field and the forms of that rule.
  if ('error' in read)
    return read.error.replaceAll('sql_expression', 'filter').replace('expression or one SELECT', 'expression')
  if (read.form === 'select')
    return "filter must be one boolean expression, such as country = 'DE', not a SELECT."
  const column = table.columns.find(({ name }) => name === read.columnAlone)
  if (read.isNoCondition || (column && !MAY_BE_CONDITIONS.has(column.kind)))
    return `filter must be a condition that is true or false of each row, such as country = 'DE'.`
  return null
}

/** Kinds of column of which a value alone may be true or false. */
const MAY_BE_CONDITIONS: ReadonlySet<string> = new Set(['boolean', 'other'])

/**
 * How a filter is applied: `where` reads only its rows, in a statement of checks with that filter; `aggregates` counts only
 * its rows, in a statement that reads others for other checks.
 */
export type FilterMode = 'where' | 'aggregates'

type FilterOn = Pick<CheckContext, 'dialect' | 'table'> & {
  /** Checks that share a statement with those of their number alone, by their ids. */
  groups: ReadonlyMap<string, number>
}

/**
 * How the filter of each check that has one is applied, by the ids of the checks. Those that share a statement with checks of
 * other rows have it in their aggregates, so that the table is read once for all; where all of a statement are about the
 * same rows, only these are read. A type that knows nothing of filters has a statement of its rows.
 * @param checks whose configs were found good
 */
export function filterModes(checks: readonly Check[], on: FilterOn): Map<string, FilterMode> {
  const modes = new Map<string, FilterMode>()
  const sets = Map.groupBy(checks, ({ id, groupBy = [], window }) =>
    JSON.stringify([groupBy, window?.column, window?.grid, on.groups.get(id)]),
  )
  for (const together of sets.values()) {
    const sharing = together.filter(check => sharesStatement(check, on))
    const isOneFilter = new Set(sharing.map(({ filter }) => filter)).size === 1
    for (const check of together) {
      const { type, filter, id } = check
      if (filter === undefined) continue
      const appliesFilter = isRowRule(type) || type.filters === true
      const isShared = sharing.includes(check) && !isOneFilter && appliesFilter
      modes.set(id, isShared ? 'aggregates' : 'where')
    }
  }
  return modes
}

function sharesStatement({ type, config }: Check, on: FilterOn): boolean {
  return type.userSql !== true && !type.ownStatement && type.namesItsRows?.(config, on) !== true
}
