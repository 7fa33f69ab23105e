/** Tables as a shop has them, with faults that are planted into the load of one day: seeded, for `recommendations.ts`. */
import { randomOf, type Random } from './detector-random.ts'

export const FAULTS = [
  'nulls',
  'duplicates',
  'out of range',
  'wrong format',
  'orphans',
  'stale',
  'volume drop',
  'mean shift',
] as const
export type Fault = (typeof FAULTS)[number]

type Value = string | number | null
export type LoadedRow = Record<string, Value>

/** A column of a made table: how it is declared, what it holds on a day, and what a fault makes of it. */
interface MadeColumn {
  name: string
  type: string
  value(random: Random, day: number): Value
  faults?: Partial<Record<Fault, (random: Random, value: Value) => Value>>
}

/** A table that is loaded every day. */
export interface MadeTable {
  name: string
  columns: MadeColumn[]
  hasKey: boolean
  /** Rows of a usual day. */
  rows: number
  /** Share of a usual day that is loaded on Saturdays and Sundays. */
  weekend: number
  /** The fault that is planted at the end, and the column that it concerns. */
  fault: Fault
  faultColumn: string | null
}

export const CUSTOMERS = 400

const cents = (value: number) => Math.round(value * 100) / 100
const pick = (random: Random, items: readonly string[], weights: readonly number[]) => {
  let place = random.uniform(
    0,
    weights.reduce((sum, weight) => sum + weight, 0),
  )
  return items.find((_, n) => (place -= weights[n]!) < 0) ?? items[0]!
}
const hex = (random: Random, digits: number) =>
  Array.from({ length: digits }, () => random.integer(0, 15).toString(16)).join('')

/** The columns that a table may have beside its key and its time, each with parameters of its own. */
const MAKERS: ((random: Random) => MadeColumn)[] = [
  random => {
    const states = ['new', 'paid', 'packed', 'shipped', 'returned', 'lost'].slice(0, random.integer(3, 6))
    const weights = states.map(() => random.logUniform(1, 15))
    return {
      name: random.pick(['status', 'state', 'order_status', 'stage']),
      type: 'text',
      value: own => pick(own, states, weights),
      faults: { 'wrong format': () => 'UNKNOWN', nulls: () => null },
    }
  },
  random => {
    const [middle, spread] = [random.logUniform(5, 500), random.uniform(0.3, 0.9)]
    return {
      name: random.pick(['amount', 'total', 'price', 'order_value', 'cost']),
      type: 'numeric',
      value: own => cents(middle * Math.exp(spread * own.normal())),
      faults: {
        'out of range': (_, value) => -Number(value),
        'mean shift': (_, value) => cents(Number(value) * 100),
        nulls: () => null,
      },
    }
  },
  random => {
    const [middle, spread] = [random.uniform(10, 200), random.uniform(0.05, 0.3)]
    return {
      name: random.pick(['temperature', 'duration_seconds', 'distance', 'load_factor']),
      type: 'double precision',
      value: own => middle * (1 + spread * own.normal()),
      faults: {
        'out of range': (_, value) => Number(value) * 1_000,
        'mean shift': (_, value) => Number(value) * 2,
        nulls: () => null,
      },
    }
  },
  random => {
    const mean = random.uniform(1, 6)
    return {
      name: random.pick(['quantity', 'items', 'units']),
      type: 'int',
      value: own => 1 + own.poisson(mean),
      faults: { 'out of range': own => -own.integer(1, 9), 'mean shift': (_, value) => Number(value) * 10 },
    }
  },
  random => ({
    name: random.pick(['email', 'contact_email']),
    type: 'text',
    value: own => `${hex(own, 8)}@example.${own.pick(['com', 'org'])}`,
    faults: { 'wrong format': own => hex(own, 8), nulls: () => null },
  }),
  random => ({
    name: random.pick(['booked_on', 'ship_date']),
    type: 'text',
    value: own =>
      `2025-${String(own.integer(1, 12)).padStart(2, '0')}-${String(own.integer(1, 28)).padStart(2, '0')}`,
    faults: { 'wrong format': own => `${own.integer(1, 28)}/${own.integer(1, 12)}/2025`, nulls: () => null },
  }),
  () => ({
    name: 'trace_id',
    type: 'text',
    value: own => `${hex(own, 8)}-${hex(own, 4)}-${hex(own, 4)}-${hex(own, 4)}-${hex(own, 12)}`,
    faults: { 'wrong format': own => hex(own, 32), nulls: () => null },
  }),
  random => {
    const share = random.uniform(0.05, 0.5)
    return {
      name: random.pick(['coupon', 'referrer', 'comment']),
      type: 'text',
      value: own => (own.chance(share) ? null : hex(own, 6)),
      faults: { nulls: () => null },
    }
  },
  random => ({
    name: 'country',
    type: 'text',
    value: own => pick(own, ['DE', 'FR', 'US', 'NL', 'PL', 'ES', 'IT', 'SE'], [30, 20, 20, 10, 5, 5, 5, 5]),
    faults: random.chance(0.5) ? { 'wrong format': () => 'Germany' } : { nulls: () => null },
  }),
  () => ({
    name: 'customer_id',
    type: 'int',
    value: own => own.integer(1, CUSTOMERS),
    faults: { orphans: own => CUSTOMERS + own.integer(1_000, 9_000), nulls: () => null },
  }),
  random => ({
    name: random.pick(['rating', 'discount_percent']),
    type: 'int',
    value: own => own.integer(1, 5),
    faults: { 'out of range': own => own.integer(500, 999) },
  }),
  () => ({
    name: 'order_number',
    type: 'text',
    value: own => `O-${hex(own, 14)}`,
    // The value of another row is put in by the load.
    faults: { duplicates: (_, value) => value },
  }),
]

/** Makes the tables of a seed, each with one fault; faults are spread evenly where columns allow them. */
export function makeTables(seed: string, count: number): MadeTable[] {
  const random = randomOf(`tables ${seed}`)
  return Array.from({ length: count }, (_, n) => {
    const fault = FAULTS[n % FAULTS.length]!
    const suited = MAKERS.map(make => make(random)).filter(
      column => random.chance(0.5) || column.faults?.[fault],
    )
    const columns = suited.filter(({ name }, place) => suited.findIndex(each => each.name === name) === place)
    const concerned = columns.filter(column => column.faults?.[fault])
    return {
      ...{ name: `events_${n}`, columns, fault, hasKey: random.chance(0.7) },
      rows: Math.round(random.logUniform(40, 300)),
      weekend: random.pick([1, 1, 0.6, 0.3]),
      faultColumn: concerned.length > 0 ? random.pick(concerned).name : null,
    }
  })
}

const SATURDAY = 6

/** Whether a day, counted from a Monday, is a Saturday or Sunday. */
const isWeekend = (day: number) => (day % 7) + 1 >= SATURDAY

/** The rows of a clean day. @param firstId the id of the first row */
export function loadDay(random: Random, table: MadeTable, day: number, firstId: number): LoadedRow[] {
  const mean = table.rows * (isWeekend(day) ? table.weekend : 1) * (1 + 0.002 * day)
  const rows = Math.max(1, random.poisson(random.rateAround(mean, 0.08)))
  return Array.from({ length: rows }, (_, n) => ({
    id: firstId + n,
    ...Object.fromEntries(table.columns.map(column => [column.name, column.value(random, day)])),
  }))
}

/** Share of the rows of a day that a fault of values concerns. */
const FAULTY_SHARE = {
  nulls: 0.2,
  duplicates: 0.05,
  'out of range': 0.03,
  'wrong format': 0.05,
  orphans: 0.05,
  'mean shift': 1,
}

/** What a fault makes of the rows of a day. */
export function plantFault(random: Random, table: MadeTable, rows: LoadedRow[]): LoadedRow[] {
  const { fault, faultColumn } = table
  if (fault === 'stale') return []
  if (fault === 'volume drop') return rows.slice(0, Math.ceil(rows.length * 0.2))
  const column = table.columns.find(({ name }) => name === faultColumn)
  const spoil = column?.faults?.[fault]
  if (!column || !spoil) return rows
  const share = FAULTY_SHARE[fault]
  return rows.map((row, n) => {
    if (n > 0 && !random.chance(share)) return row
    const source = fault === 'duplicates' ? rows[(n + 1) % rows.length]! : row
    return { ...row, [column.name]: spoil(random, source[column.name]!) }
  })
}
