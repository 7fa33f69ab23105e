/** The two tables of a comparison, and how their rows are written in SQL. */
import type { ColumnInfo, TableInfo } from '../../connectors/catalog.ts'
import type { Row } from '../../connectors/connector.ts'
import type { ComparisonDialect, Dialect, ValueFamily } from '../../connectors/dialect.ts'
import { join, sql, type Sql } from '../../connectors/sql.ts'
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
  const info = infoOf(side, pair)
  if (family === 'timestamp' && rule.precision) return side.forms.cutMoment(value, rule.precision, info)
  const text = side.forms.text(value, family, info)
  return family === 'text' ? ruledText(side, text, rule) : text
}

/** A rounded number is a decimal, whatever the column is. */
function roundedText(side: Side, pair: ColumnPair, digits: number): Sql {
  const decimal: ColumnInfo = { ...NUMBER_COLUMN, kind: 'decimal' }
  const rounded = side.forms.round(columnOf(side, pair), digits, infoOf(side, pair))
  return side.forms.text(rounded, 'number', decimal)
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

/** What a rule does to a text. */
function ruledText({ forms }: Side, text: Sql, rule: ValueRule): Sql {
  const trimmed = rule.trim ? sql`trim(${text})` : text
  const folded = rule.ignoreCase ? forms.lower(trimmed) : trimmed
  return rule.nullIsEmpty ? sql`coalesce(${folded}, '')` : folded
}

/** Digits beyond which a number is not written for a checksum. */
const MAX_ROUNDED_DIGITS = 15

/** The text that goes into checksums: values within a tolerance mostly have the same one, others never. */
function checksumText(side: Side, pair: ColumnPair): Sql {
  const { tolerance, round } = pair.rule
  if (pair.family !== 'number') return textOf(side, pair)
  if (round !== undefined) return roundedText(side, pair, round)
  if (tolerance === undefined || tolerance <= 0) return textOf(side, pair)
  const digits = Math.max(0, Math.ceil(-Math.log10(tolerance)))
  return digits > MAX_ROUNDED_DIGITS ? textOf(side, pair) : roundedText(side, pair, digits)
}

/** Families of which a text may have any characters; a text is also compared as a UUID or as a document. */
const FREE_FAMILIES: readonly ValueFamily[] = ['text', 'uuid', 'json']

/** One text of several values, different for different ones: NULL is apart, and texts begin with their length. */
export function rowText(side: Side, pairs: readonly ColumnPair[]): Sql {
  const texts = pairs.map(pair => {
    const text = checksumText(side, pair)
    const marked =
      FREE_FAMILIES.includes(pair.family) && !isFixed(pair)
        ? sql`${side.dialect.asText(side.dialect.textLength(text))} || ':' || ${text}`
        : text
    return sql`coalesce(${marked}, '~')`
  })
  return join(texts, ` || '|' || `)
}

/** UUIDs of a type of their own have no other characters than their digits. */
function isFixed({ family, left, right }: ColumnPair): boolean {
  return family === 'uuid' && left.kind !== 'text' && right.kind !== 'text'
}

/** Whether a row has a key: all of its columns are there. Nothing is asked of columns that cannot be NULL. */
export function hasKey(side: Side, keys: readonly ColumnPair[]): Sql {
  const nullable = keys.filter(pair => infoOf(side, pair).nullable)
  if (nullable.length === 0) return sql`1 = 1`
  return join(
    nullable.map(pair => sql`${columnOf(side, pair)} is not null`),
    ' and ',
  )
}
