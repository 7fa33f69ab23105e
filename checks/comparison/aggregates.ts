/** Compares what two tables have in all, or in each group: rows, and aggregates of their columns. */
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnPair } from './pairs.ts'
import {
  readText,
  type AggregateDifferences,
  type AggregateMeasure,
  type DifferingAggregate,
} from './result.ts'
import { columnOf, infoOf, rowsOf, textOf, type Side } from './sides.ts'
import { differs, plainKey } from './values.ts'

/** Most groups of one side. */
const MAX_GROUPS = 10_000

/** Says that there are too many groups. */
export class TooManyGroupsError extends Error {
  override readonly name = 'TooManyGroupsError'
}

/** An aggregate that is asked of both sides. */
interface Aggregate {
  column: string | null
  measure: AggregateMeasure
  /** How its values are compared. */
  pair: ColumnPair
  write(side: Side): Sql
}

/** @throws TooManyGroupsError */
export async function compareAggregates({
  left,
  right,
  columns,
  groups,
}: {
  left: Side
  right: Side
  columns: readonly ColumnPair[]
  groups: readonly ColumnPair[]
}): Promise<AggregateDifferences> {
  const asked = [countRows(), ...columns.flatMap(pair => measuresOf(pair))]
  const [ofLeft, ofRight] = await Promise.all(
    [left, right].map(async side =>
      readGroups(await side.query(writeSelect(side, asked, groups)), asked, groups),
    ),
  )
  const differing: DifferingAggregate[] = []
  const known = new Map([...ofLeft!, ...ofRight!])
  for (const [key, { group }] of known) {
    const [one, other] = [ofLeft!.get(key), ofRight!.get(key)]
    for (const [place, { column, measure, pair }] of asked.entries()) {
      // A group without rows has no other aggregates to compare.
      if (measure !== 'rows' && (!one || !other)) continue
      const values = [one, other].map(found => (found ? found.values[place]! : '0')) as [
        string | null,
        string | null,
      ]
      if (differs(pair, ...values))
        differing.push({ group, column, measure, left: values[0], right: values[1] })
    }
  }
  const rowsIn = (found: Groups) =>
    [...found.values()].reduce((sum, { values }) => sum + Number(values[0]), 0)
  return {
    rowsLeft: rowsIn(ofLeft!),
    rowsRight: rowsIn(ofRight!),
    compared: known.size * asked.length,
    differing,
  }
}

const COUNT_PAIR = { kind: 'integer' } as ColumnPair['left']
const countPair: ColumnPair = { left: COUNT_PAIR, right: COUNT_PAIR, family: 'number', rule: {} }

function countRows(): Aggregate {
  return { column: null, measure: 'rows', pair: countPair, write: () => sql`count(*)` }
}

function measuresOf(pair: ColumnPair): Aggregate[] {
  const { family } = pair
  const column = pair.left.name
  const nulls: Aggregate = {
    column,
    measure: 'nulls',
    pair: countPair,
    write: side => side.dialect.countIf(side.dialect.isNull(columnOf(side, pair), infoOf(side, pair))),
  }
  const isComparable = family !== 'json'
  const distinct: Aggregate = {
    column,
    measure: 'distinct',
    pair: countPair,
    write: side =>
      sql`count(distinct ${family === 'text' ? side.forms.bytes(columnOf(side, pair)) : columnOf(side, pair)})`,
  }
  const value = (measure: AggregateMeasure, aggregate: (side: Side) => Sql): Aggregate => ({
    column,
    measure,
    pair,
    write: side => side.forms.text(aggregate(side), family, aggregateInfo(side, pair, measure)),
  })
  const extremes = [
    value('minimum', side => sql`min(${columnOf(side, pair)})`),
    value('maximum', side => sql`max(${columnOf(side, pair)})`),
  ]
  const sum = value('sum', side => side.dialect.sum(columnOf(side, pair), infoOf(side, pair)))
  return [
    nulls,
    ...(isComparable ? [distinct] : []),
    ...(family === 'number' ? [sum] : []),
    ...(family === 'number' || family === 'date' || family === 'timestamp' ? extremes : []),
  ]
}

/** What the catalog would say of an aggregate: the sum of integers is a decimal. */
function aggregateInfo(side: Side, pair: ColumnPair, measure: AggregateMeasure): ColumnPair['left'] {
  const info = infoOf(side, pair)
  return measure === 'sum' && info.kind !== 'float' ? { ...info, kind: 'decimal', type: 'decimal' } : info
}

function writeSelect(side: Side, asked: readonly Aggregate[], groups: readonly ColumnPair[]): Sql {
  const keys = groups.map(pair => textOf(side, pair))
  const outputs = [
    ...keys.map((key, place) => sql`${key} as ${raw(`g${place}`)}`),
    ...asked.map(({ write }, place) => sql`${write(side)} as ${raw(`m${place}`)}`),
  ]
  const select = sql`select ${join(outputs)} from ${rowsOf(side)}`
  if (keys.length === 0) return select
  return side.dialect.limit(sql`${select} group by ${join(keys)}`, MAX_GROUPS + 1)
}

type Groups = ReadonlyMap<string, { group: Record<string, string | null>; values: (string | null)[] }>

function readGroups(
  rows: readonly Row[],
  asked: readonly Aggregate[],
  groups: readonly ColumnPair[],
): Groups {
  if (rows.length > MAX_GROUPS)
    throw new TooManyGroupsError(
      `group_by_columns make more than ${MAX_GROUPS.toLocaleString('en')} groups: group by columns with fewer values.`,
    )
  return new Map(
    rows.map(row => {
      const texts = groups.map((_, place) => readText(row[`g${place}`]))
      const key = JSON.stringify(
        texts.map((text, place) => (text === null ? null : plainKey(groups[place]!, text))),
      )
      const group = Object.fromEntries(groups.map((pair, place) => [pair.left.name, texts[place]!]))
      return [key, { group, values: asked.map((_, place) => readText(row[`m${place}`])) }] as const
    }),
  )
}
