/** Compares the rows of two tables of one source there, so that only what differs comes over the wire. */
import { tablePath } from '../../connectors/catalog.ts'
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import { shiftDecimal } from '../decimals.ts'
import { numberLiteral, toNumber } from '../measures.ts'
import type { ColumnPair } from './pairs.ts'
import { readText, repeatedKeyError, type DifferingRow, type RowDifferences } from './result.ts'
import { columnOf, hasKey, infoOf, rowsOf, textOf, type Side, type SideName } from './sides.ts'

interface OnOneSource {
  left: Side
  right: Side
  keys: readonly ColumnPair[]
  columns: readonly ColumnPair[]
  /** Rows to show. */
  sampleLimit: number
}

const ALIASES = { left: 'l', right: 'r' } as const

/**
 * Compares rows with one statement: a full join on the key, or where the engine has none, two joins beside each other. Rows
 * whose key is not all there are on one side only. Where rows differ, further statements count them by column and fetch some
 * to show.
 * @throws RepeatedKeyError where rows of a table share a key
 */
export async function compareOnOneSource(tables: OnOneSource): Promise<RowDifferences> {
  const { left, right, keys, sampleLimit } = tables
  for (const side of [left, right]) await requireUniqueKey(side, keys)
  const [counted] = await left.query(writeCounts(tables))
  const number = (name: string) => toNumber(counted?.[name]) ?? 0
  const withoutKey = { left: await countWithoutKey(left, keys), right: await countWithoutKey(right, keys) }
  const found: RowDifferences = {
    rowsLeft: number('rows_left') + withoutKey.left,
    rowsRight: number('rows_right') + withoutKey.right,
    onlyLeft: number('only_left') + withoutKey.left,
    onlyRight: number('only_right') + withoutKey.right,
    differing: number('differing'),
    byColumn: await countByColumn(tables, number('differing')),
    samples: [],
    segments: 0,
    rowsFetched: 0,
  }
  const isEqual = number('only_left') + number('only_right') + found.differing === 0
  if (isEqual || sampleLimit === 0) return found
  const samples = await fetchSamples(tables)
  return { ...found, samples, rowsFetched: samples.length }
}

/** Whether a constraint that holds says that no two rows have the same key. */
export function isUniqueByConstraint({ table, name, forms }: Side, keys: readonly ColumnPair[]): boolean {
  const named = new Set(keys.map(pair => pair[name].name))
  return (
    forms.enforcesKeys &&
    table.kind === 'table' &&
    table.constraints.some(
      ({ type, columns, properties }) =>
        (type === 'primary_key' || type === 'unique') &&
        !properties?.prefixLengths &&
        columns.every(column => named.has(column)),
    )
  )
}

/** Whether an index finds the rows of a range of a column, as far as the catalog knows: one of a constraint. */
export function hasIndexOn({ table, name, forms }: Side, pair: ColumnPair): boolean {
  return (
    forms.enforcesKeys &&
    table.kind === 'table' &&
    table.constraints.some(
      ({ type, columns }) => (type === 'primary_key' || type === 'unique') && columns[0] === pair[name].name,
    )
  )
}

/** @throws RepeatedKeyError where rows of a table share a key, unless a constraint says that none can */
export async function requireUniqueKey(side: Side, keys: readonly ColumnPair[]): Promise<void> {
  if (isUniqueByConstraint(side, keys)) return
  const columns = join(keys.map(pair => ownKeyForm(side, pair)))
  const repeated = sql`select count(*) as n from ${rowsOf(side, hasKey(side, keys))} group by ${columns} having count(*) > 1`
  const [row] = await side.query(sql`select count(*) as n from (${repeated}) k`)
  const count = toNumber(row?.n) ?? 0
  if (count > 0) throw repeatedKeyError(side.name, tablePath(side.table), keys, count)
}

/** Rows of which a column of the key is NULL; nothing is sent where there cannot be any. */
export async function countWithoutKey(side: Side, keys: readonly ColumnPair[]): Promise<number> {
  if (keys.every(pair => !pair[side.name].nullable)) return 0
  const [row] = await side.query(
    sql`select count(*) as n from ${rowsOf(side, sql`not (${hasKey(side, keys)})`)}`,
  )
  return toNumber(row?.n) ?? 0
}

/**
 * A key as its database compares it, which can use an index; by its bytes where the two sides would not be compared alike,
 * and by both where its collation takes different texts for equal.
 */
function keyForms(side: Side, pair: ColumnPair): Sql[] {
  const value = columnOf(side, pair)
  const { family, left, right } = pair
  if (family === 'boolean' && left.kind !== right.kind) return [textOf(side, pair)]
  if (family === 'uuid' && left.type !== right.type) return [side.forms.bytes(textOf(side, pair))]
  if (family !== 'text') return [value]
  const bytes = side.forms.bytes(textOf(side, pair))
  if (!isOneCollation(pair)) return [bytes]
  return side.forms.comparesBytes(pair[side.name]) ? [value] : [value, bytes]
}

/** Whether the texts of two columns are compared alike. */
function isOneCollation(pair: ColumnPair): boolean {
  const { left, right } = pair
  const isSame = left.properties?.collation === right.properties?.collation && left.base === right.base
  return isSame && isOneType(pair)
}

/** A key that is different for each row of its own table. */
function ownKeyForm(side: Side, pair: ColumnPair): Sql {
  const column = pair[side.name]
  const isText = pair.family === 'text' || (pair.family === 'uuid' && column.kind === 'text')
  return isText && !(pair.family === 'text' && side.forms.comparesBytes(column))
    ? side.forms.bytes(textOf(side, pair))
    : columnOf(side, pair)
}

/** Whether two types differ in nothing but a length. */
function isOneType({ left, right }: ColumnPair): boolean {
  const [one, other] = [left, right].map(({ type }) => type.replace(/\(\d+\)/, ''))
  return one === other
}

/** A value as it is compared with that of the other side. */
function valueForm(side: Side, pair: ColumnPair): Sql {
  const { family, rule } = pair
  const value = columnOf(side, pair)
  switch (family) {
    case 'number':
      return rule.round === undefined ? value : side.forms.round(value, rule.round, infoOf(side, pair))
    case 'text':
      return Object.keys(rule).length === 0 &&
        isOneCollation(pair) &&
        side.forms.comparesBytes(pair[side.name])
        ? value
        : side.forms.bytes(textOf(side, pair))
    case 'timestamp':
      return rule.precision ? textOf(side, pair) : value
    case 'boolean':
      return pair.left.kind === pair.right.kind ? value : textOf(side, pair)
    case 'uuid':
      return pair.left.type === pair.right.type ? value : side.forms.bytes(textOf(side, pair))
    case 'json':
      return textOf(side, pair)
    case 'date':
    case 'time':
    case 'binary':
      return value
  }
}

/** What the rows of a side are joined by and compared by, under names that depend on the places only. */
function derived(side: Side, { keys, columns }: OnOneSource, more: readonly Sql[] = []): Sql {
  const outputs = [
    ...keys.flatMap((pair, place) =>
      keyForms(side, pair).map((form, at) => sql`${form} as ${raw(keyName(place, at))}`),
    ),
    ...columns.map((pair, place) => sql`${valueForm(side, pair)} as ${raw(`v${place}`)}`),
    ...more,
  ]
  return sql`(select ${join(outputs)} from ${rowsOf(side, hasKey(side, keys))}) ${raw(ALIASES[side.name])}`
}

const keyName = (place: number, at: number) => (at === 0 ? `k${place}` : `b${place}`)

const of = (side: SideName, column: string): Sql => raw(`${ALIASES[side]}.${column}`)

/** There is no row with the key on a side: all keys that are joined are there. */
const isMissing = (side: SideName): Sql => sql`${of(side, 'k0')} is null`

function sameKey({ left, keys }: OnOneSource): Sql {
  const names = keys.flatMap((pair, place) => keyForms(left, pair).map((_, at) => keyName(place, at)))
  return join(
    names.map(name => sql`${of('left', name)} = ${of('right', name)}`),
    ' and ',
  )
}

/** Whether two values are the same, as a condition that may be NULL where they are not. */
function isSameAt(tables: OnOneSource, place: number): Sql {
  const pair = tables.columns[place]!
  const { tolerance, relativeTolerance } = pair.rule
  const [one, other] = [of('left', `v${place}`), of('right', `v${place}`)]
  const same = [
    tables.left.forms.isSame(one, other),
    ...(pair.floatTolerance !== undefined
      ? [areNearFloats(tables, pair, one, other)]
      : tolerance !== undefined || relativeTolerance !== undefined
        ? [areNear(tables, pair, one, other)]
        : []),
  ]
  return sql`(${join(same, ' or ')})`
}

/** Whether two values differ, as a condition that is never NULL. */
function differsAt(tables: OnOneSource, place: number): Sql {
  return sql`case when ${isSameAt(tables, place)} then 0 else 1 end = 1`
}

/** Whether two values are numbers at all, as a condition that is false or NULL otherwise. */
function areNumbers({ left, right }: OnOneSource, pair: ColumnPair, one: Sql, other: Sql): Sql {
  const each = [left.dialect.isNumber(one, pair.left), right.dialect.isNumber(other, pair.right)]
  const conditions = each.filter(condition => condition !== null)
  return conditions.length === 0 ? raw('1 = 1') : join(conditions, ' and ')
}

const magnitude = (value: Sql): Sql => sql`case when ${value} < 0 then -(${value}) else ${value} end`
const larger = (one: Sql, other: Sql): Sql =>
  sql`case when ${magnitude(one)} >= ${magnitude(other)} then ${magnitude(one)} else ${magnitude(other)} end`

/** Whether two exact numbers are within the tolerances of their rule. */
function areNear(tables: OnOneSource, pair: ColumnPair, one: Sql, other: Sql): Sql {
  const { tolerance, relativeTolerance, round } = pair.rule
  // Two large integers may be too far apart for one.
  const isWide = [pair.left, pair.right].every(({ kind }) => kind === 'integer') && round === undefined
  const [a, b] = isWide ? [tables.left.forms.wide(one), tables.right.forms.wide(other)] : [one, other]
  const distance = magnitude(sql`(${a} - ${b})`)
  const exact = (number: number) => numberLiteral(shiftDecimal(number, 0))
  const within = [
    ...(tolerance === undefined ? [] : [sql`(${distance}) <= ${exact(tolerance)}`]),
    // What is infinite is no share of anything.
    ...(relativeTolerance === undefined
      ? []
      : [sql`((${distance}) <= ${exact(relativeTolerance)} * (${larger(a, b)}) and (${a} - ${b}) * 0 = 0)`]),
  ]
  return sql`(${areNumbers(tables, pair, one, other)} and (${join(within, ' or ')}))`
}

/** Whether two doubles are the same as far as they have digits, or within the tolerances of their rule. */
function areNearFloats(tables: OnOneSource, pair: ColumnPair, one: Sql, other: Sql): Sql {
  const { rule, floatTolerance = 0 } = pair
  // Divided, since a product may be too small for a double.
  const share = (distance: Sql) => sql`1.0 * (${distance}) / nullif(${larger(one, other)}, 0)`
  const distance = sql`abs(${one} - ${other})`
  const most = Math.max(floatTolerance, rule.relativeTolerance ?? 0)
  // Those of two signs may be too far apart for one.
  const isShare = sql`case when (${one} > 0) = (${other} > 0) then ${share(distance)} <= ${numberLiteral(most)} else 1 = 0 end`
  const isNear =
    rule.tolerance === undefined
      ? isShare
      : sql`(${isShare} or ${share(sql`${distance} - ${numberLiteral(rule.tolerance)}`)} <= ${numberLiteral(floatTolerance)})`
  return sql`(${areNumbers(tables, pair, one, other)} and ${isNear})`
}

function anyDiffers(tables: OnOneSource): Sql {
  const same = tables.columns.map((_, place) => isSameAt(tables, place))
  return same.length === 0 ? raw('1 = 0') : sql`case when ${join(same, ' and ')} then 0 else 1 end = 1`
}

function writeCounts(tables: OnOneSource): Sql {
  const { left, right } = tables
  const { dialect } = left
  const isBoth = sql`${of('left', 'k0')} is not null and ${of('right', 'k0')} is not null`
  const differences = [sql`${dialect.countIf(sql`${isBoth} and ${anyDiffers(tables)}`)} as differing`]
  const ofSide = (side: SideName, otherSide: SideName) => [
    sql`count(${of(side, 'k0')}) as ${raw(`rows_${side}`)}`,
    sql`${dialect.countIf(sql`${of(side, 'k0')} is not null and ${isMissing(otherSide)}`)} as ${raw(`only_${side}`)}`,
  ]
  const [rowsOfLeft, rowsOfRight] = [derived(left, tables), derived(right, tables)]
  const on = sameKey(tables)
  if (dialect.hasFullJoin)
    return sql`select ${join([...ofSide('left', 'right'), ...ofSide('right', 'left'), ...differences])} from ${rowsOfLeft} full join ${rowsOfRight} on ${on}`
  const fromLeft = sql`select ${join([...ofSide('left', 'right'), ...differences])} from ${rowsOfLeft} left join ${rowsOfRight} on ${on}`
  const fromRight = sql`select ${join(ofSide('right', 'left'))} from ${rowsOfRight} left join ${rowsOfLeft} on ${on}`
  return sql`select * from (${fromLeft}) a cross join (${fromRight}) b`
}

/** How many rows differ in each column; nothing is sent where none does. */
async function countByColumn(tables: OnOneSource, differing: number): Promise<Record<string, number>> {
  const { left, right, columns } = tables
  if (differing === 0) return Object.fromEntries(columns.map(pair => [pair.left.name, 0]))
  const counts = columns.map(
    (_, place) => sql`${left.dialect.countIf(differsAt(tables, place))} as ${raw(`d${place}`)}`,
  )
  const [row] = await left.query(
    sql`select ${join(counts)} from ${derived(left, tables)} join ${derived(right, tables)} on ${sameKey(tables)} where ${anyDiffers(tables)}`,
  )
  return Object.fromEntries(columns.map((pair, place) => [pair.left.name, toNumber(row?.[`d${place}`]) ?? 0]))
}

/** Rows to show: those that differ or are missing on the right, then those that are missing on the left. */
async function fetchSamples(tables: OnOneSource): Promise<DifferingRow[]> {
  const { left, right, keys, sampleLimit } = tables
  const texts = (side: Side) => [
    ...keys.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`x${place}`)}`),
    ...tables.columns.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`t${place}`)}`),
  ]
  const [rowsOfLeft, rowsOfRight] = [derived(left, tables, texts(left)), derived(right, tables, texts(right))]
  const on = sameKey(tables)
  const keyOf = (side: SideName) =>
    keys.map((_, place) => sql`${of(side, `x${place}`)} as ${raw(`x${place}`)}`)
  const values = tables.columns.flatMap((_, place) => [
    sql`case when ${differsAt(tables, place)} then 1 else 0 end as ${raw(`d${place}`)}`,
    sql`${of('left', `t${place}`)} as ${raw(`l${place}`)}`,
    sql`${of('right', `t${place}`)} as ${raw(`r${place}`)}`,
  ])
  const missing = sql`case when ${isMissing('right')} then 1 else 0 end as missing`
  const fromLeft = sql`select ${join([...keyOf('left'), missing, ...values])} from ${rowsOfLeft} left join ${rowsOfRight} on ${on} where ${isMissing('right')} or ${anyDiffers(tables)}`
  const rows = await left.query(left.dialect.limit(fromLeft, sampleLimit))
  const found = rows.map(row => readSample(row, tables))
  if (found.length >= sampleLimit) return found
  const fromRight = sql`select ${join(keyOf('right'))} from ${rowsOfRight} left join ${rowsOfLeft} on ${on} where ${isMissing('left')}`
  const others = await right.query(right.dialect.limit(fromRight, sampleLimit - found.length))
  return [...found, ...others.map(row => ({ key: readKey(row, tables), kind: 'only_right' as const }))]
}

function readKey(row: Row, { keys }: OnOneSource): string[] {
  return keys.map((_, place) => String(row[`x${place}`]))
}

function readSample(row: Row, tables: OnOneSource): DifferingRow {
  const key = readKey(row, tables)
  if (toNumber(row.missing) === 1) return { key, kind: 'only_left' }
  const values = tables.columns.flatMap(({ left: { name: column } }, place) =>
    toNumber(row[`d${place}`]) === 1
      ? [{ column, left: readText(row[`l${place}`]), right: readText(row[`r${place}`]) }]
      : [],
  )
  return { key, kind: 'differs', values }
}
