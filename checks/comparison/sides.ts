/** The two tables of a comparison, and how their rows are written in SQL. */
import type { ColumnInfo, TableInfo } from '../../connectors/catalog.ts'
import type { Row } from '../../connectors/connector.ts'
import type { ComparisonDialect, Dialect, ValueFamily } from '../../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnPair, ValueRule } from './pairs.ts'

/** One of the two tables. */
export interface ComparedTable {
  dialect: Dialect
  table: TableInfo
  /** Conditions that hold for the rows that are compared. */
  conditions: readonly Sql[]
  query(statement: Sql): Promise<Row[]>
}

export type SideName = 'left' | 'right'

/** One of the two tables, with what its engine has for comparisons. */
export interface Side extends ComparedTable {
  name: SideName
  forms: ComparisonDialect
}

/** @throws TypeError of an engine that has nothing for comparisons */
export function sideOf(name: SideName, table: ComparedTable): Side {
  const forms = table.dialect.comparison
  if (!forms) throw new TypeError('The engine has nothing for comparisons.')
  return { ...table, name, forms }
}

/** What stands in FROM with the WHERE of the rows that are compared, and of those that further conditions hold for. */
export function rowsOf({ dialect, table, conditions }: Side, ...more: readonly Sql[]): Sql {
  const all = [...conditions, ...more]
  const from = dialect.table(table)
  return all.length === 0 ? from : sql`${from} where ${join(all, ' and ')}`
}

/** The quoted column of a side. */
export function columnOf({ dialect, name }: Side, pair: Pick<ColumnPair, SideName>): Sql {
  return dialect.quote(pair[name].name)
}

/** The catalog's entry of the column of a side. */
export function infoOf({ name }: Side, pair: Pick<ColumnPair, SideName>): ColumnInfo {
  return pair[name]
}

/** The text of a column's value that rows are fetched and compared with, after what its rule does to it. */
export function textOf(side: Side, pair: ColumnPair): Sql {
  const value = columnOf(side, pair)
  const { rule, family } = pair
  if (family === 'number' && rule.round !== undefined) return roundedText(side, value, rule.round)
  const text = side.forms.text(value, family, infoOf(side, pair))
  return ruledText(text, family, rule)
}

/** A rounded number is a decimal, whatever the column is. */
function roundedText(side: Side, value: Sql, digits: number): Sql {
  const decimal: ColumnInfo = { ...NUMBER_COLUMN, kind: 'decimal' }
  return side.forms.text(side.forms.round(value, digits), 'number', decimal)
}

const NUMBER_COLUMN: Omit<ColumnInfo, 'kind'> = {
  name: '',
  ordinal: 0,
  type: 'decimal',
  rawType: 'decimal',
  nullable: true,
  default: null,
  comment: null,
}

const CUT_LENGTHS = { second: 19, millisecond: 23, microsecond: 26 } as const

/** What a rule does to the text of a value. */
export function ruledText(text: Sql, family: ValueFamily, rule: ValueRule): Sql {
  if (family === 'timestamp' && rule.precision)
    return sql`substr(${text}, 1, ${raw(String(CUT_LENGTHS[rule.precision]))})`
  if (family !== 'text') return text
  const trimmed = rule.trim ? sql`trim(${text})` : text
  const folded = rule.ignoreCase ? sql`lower(${trimmed})` : trimmed
  return rule.nullIsEmpty ? sql`coalesce(${folded}, '')` : folded
}

/** Digits beyond which a number is not written for a checksum. */
const MAX_ROUNDED_DIGITS = 15

/** The text that goes into checksums: values within a tolerance mostly have the same one, others never. */
function checksumText(side: Side, pair: ColumnPair): Sql {
  const { tolerance } = pair.rule
  if (pair.family !== 'number' || tolerance === undefined || tolerance <= 0 || pair.rule.round !== undefined)
    return textOf(side, pair)
  const digits = Math.max(0, Math.ceil(-Math.log10(tolerance)))
  return digits > MAX_ROUNDED_DIGITS ? textOf(side, pair) : roundedText(side, columnOf(side, pair), digits)
}

/** One text of several values, different for different ones: NULL is apart, and texts begin with their length. */
export function rowText(side: Side, pairs: readonly ColumnPair[]): Sql {
  const texts = pairs.map(pair => {
    const text = checksumText(side, pair)
    const marked =
      pair.family === 'text'
        ? sql`${side.dialect.asText(side.dialect.textLength(text))} || ':' || ${text}`
        : text
    return sql`coalesce(${marked}, '~')`
  })
  return join(texts, ` || '|' || `)
}

/** Whether a row has a key: all of its columns are there. */
export function hasKey(side: Side, keys: readonly ColumnPair[]): Sql {
  return join(
    keys.map(pair => sql`${columnOf(side, pair)} is not null`),
    ' and ',
  )
}
