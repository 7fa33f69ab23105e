/** Faults as loads have them, each planted into one day of a public table. */
import { createHash } from 'node:crypto'

export type Value = string | number | boolean | null
type Row = Value[]

/** A table as `tables.py` writes it. Times are seconds after the beginning of the first day. */
export interface PublicTable {
  name: string
  /** The column by which rows are loaded. */
  time: string
  columns: { name: string; type: string }[]
  days: Row[][]
}

export const FAULT_KINDS = [
  'stops',
  'doubled',
  'half',
  'negative',
  'nulled',
  'x100',
  'misspelt',
  'cut',
  'shifted',
  'unknown code',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** What a load becomes. */
export interface PlannedFault {
  kind: FaultKind
  /** Null of a fault of the whole load. */
  column: string | null
  plant(rows: readonly Row[]): Row[]
}

const DAY_SECONDS = 86_400
/** Names of numbers that stand for something and measure nothing. */
const CODE_NAME = /(^|_)(id|idno|idnum|year|month|day|hour|code|number|flight|zip|opid|poc|edition)(_|$)/

/** A number that a text always gives, to choose with. */
export function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0)
}

/** The faults of a table, at most one of each kind, each in a column that has values on the day. */
export function planFaults(table: PublicTable, day: number): PlannedFault[] {
  const { name, columns, days } = table
  const past = days.slice(0, day).flat()
  const load = days[day]!
  const valuesOf = (rows: readonly Row[], column: string) => {
    const index = columns.findIndex(each => each.name === column)
    return rows.map(row => row[index]!).filter(value => value !== null)
  }
  const choose = (kind: FaultKind, isSuited: (column: string, type: string, values: Value[]) => boolean) => {
    const suited = columns.filter(
      each =>
        valuesOf(load, each.name).length >= load.length / 2 &&
        isSuited(each.name, each.type, valuesOf(past, each.name)),
    )
    return suited[hashOf(`${name} ${kind}`) % (suited.length || 1)]?.name
  }
  const inColumn = (
    kind: FaultKind,
    column: string | undefined,
    change: (value: Value, n: number) => Value,
  ) => {
    if (column === undefined) return []
    const index = columns.findIndex(each => each.name === column)
    const plant = (rows: readonly Row[]) =>
      rows.map((row, n) =>
        row.map((value, at) => (at === index && value !== null ? change(value, n) : value)),
      )
    // A change that changes nothing is no fault.
    return JSON.stringify(plant(load)) === JSON.stringify(load) ? [] : [{ kind, column, plant }]
  }
  const isNumber = (type: string) => type === 'bigint' || type === 'double precision'
  const isAmount = (column: string, type: string, values: Value[]) =>
    isNumber(type) &&
    !CODE_NAME.test(column) &&
    new Set(values).size > 5 &&
    values.every(value => Number(value) >= 0)
  const isCategory = (_: string, type: string, values: Value[]) => {
    const distinct = new Set(values).size
    return type === 'text' && distinct >= 2 && distinct <= 50 && distinct <= values.length / 3
  }
  const isTime = (_: string, type: string) => type === 'date' || type === 'timestamp'
  const misspelt = choose('misspelt', isCategory)
  const [frequent] = mostFrequent(misspelt === undefined ? [] : valuesOf(load, misspelt))
  const shifted = columns.find(({ name: column }) => column === table.time)!
  const steps = shifted.type === 'date' ? [1, -1] : [1, -1, 8 / 24, -8 / 24]
  const step = steps[hashOf(`${name} shifted`) % steps.length]! * DAY_SECONDS
  const timeColumns = columns.flatMap((each, index) => (isTime('', each.type) ? [index] : []))
  return [
    { kind: 'stops', column: null, plant: () => [] },
    { kind: 'doubled', column: null, plant: rows => [...rows, ...rows] },
    ...(load.length >= 4
      ? [
          {
            kind: 'half' as const,
            column: null,
            plant: (rows: readonly Row[]) => rows.filter((_, n) => n % 2 === 0),
          },
        ]
      : []),
    ...inColumn('negative', choose('negative', isAmount), value => -Math.abs(Number(value)) - 1),
    ...inColumn(
      'nulled',
      choose('nulled', column => column !== table.time),
      () => null,
    ),
    ...inColumn('x100', choose('x100', isAmount), value => Number(value) * 100),
    ...inColumn('misspelt', misspelt, value =>
      value === frequent ? `${String(value)}${String(value).at(-1)}` : value,
    ),
    ...inColumn(
      'cut',
      choose('cut', (_, type, values) => type === 'text' && meanLength(values) >= 2),
      value => String(value).slice(0, 1),
    ),
    {
      kind: 'shifted',
      column: null,
      plant: rows =>
        rows.map(row =>
          row.map((value, at) => (timeColumns.includes(at) && value !== null ? Number(value) + step : value)),
        ),
    },
    ...inColumn('unknown code', choose('unknown code', isCategory), (value, n) =>
      n % 10 === 0 ? 'ZZZ' : value,
    ),
  ]
}

function meanLength(values: readonly Value[]): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, 0) / (values.length || 1)
}

function mostFrequent(values: readonly Value[]): Value[] {
  const counts = Map.groupBy(values, value => value)
  return [...counts].toSorted((a, b) => b[1].length - a[1].length).map(([value]) => value)
}

/** A row as the source stores it. @param start epoch milliseconds of the first day */
export function storedRow({ columns }: PublicTable, row: Row, start: number): Record<string, Value> {
  return Object.fromEntries(
    columns.map(({ name, type }, index) => {
      const value = row[index]!
      const isTime = (type === 'date' || type === 'timestamp') && value !== null
      return [name, isTime ? new Date(start + Number(value) * 1_000).toISOString().replace('Z', '') : value]
    }),
  )
}
