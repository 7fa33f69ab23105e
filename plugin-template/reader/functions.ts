import { createHash } from 'node:crypto'
import type { AggregateOptions, DatabaseSync } from 'node:sqlite'
import { dateReader } from './strptime.ts'

/** Remembers what was made of the last hundred texts. */
function remember<Made>(make: (text: string) => Made): (text: string) => Made {
  const made = new Map<string, Made>()
  return text => {
    const known = made.get(text)
    if (known !== undefined) return known
    if (made.size >= 100) made.clear()
    const fresh = make(text)
    made.set(text, fresh)
    return fresh
  }
}

/** Unicode where the pattern allows; `\-` and `\@`, which other engines take, are errors in that mode only. */
function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

interface State {
  values: number[]
  fraction: number
}

/** Linear interpolation between the two nearest ranks, as SQL's percentile_cont. */
function interpolate(values: number[], fraction: number): number | null {
  const sorted = Float64Array.from(values).sort()
  const rank = (sorted.length - 1) * fraction
  const low = sorted[Math.floor(rank)]
  const high = sorted[Math.ceil(rank)]
  if (low === undefined || high === undefined) return null
  return low === high ? low : low + (high - low) * (rank - Math.floor(rank))
}

/** What Welford's method keeps: it has no difference of large squares, which would lose the digits. */
interface Spread {
  count: number
  mean: number
  squares: number
}

/** `stddev_samp(value)`, as SQL has it: NULL below two values. */
const standardDeviation = {
  start: (): Spread => ({ count: 0, mean: 0, squares: 0 }),
  step({ count, mean, squares }: Spread, value: number | null): Spread {
    if (value === null) return { count, mean, squares }
    const next = mean + (value - mean) / (count + 1)
    return { count: count + 1, mean: next, squares: squares + (value - mean) * (value - next) }
  },
  // SQLite has no NaN, which infinities make: it would be NULL, as of no values.
  result({ count, squares }: Spread): number | null {
    if (count < 2) return null
    return Number.isNaN(squares) ? Infinity : Math.sqrt(squares / (count - 1))
  },
}

function md5(text: unknown): string {
  return createHash('md5').update(String(text)).digest('hex')
}

/** `md5_sum(text)`: the sum of the first 60 bits of the MD5 of each, as a text, since it outgrows SQLite's integers. */
const md5Sum = {
  start: (): { sum: bigint | null } => ({ sum: null }),
  step: ({ sum }: { sum: bigint | null }, text: unknown) => ({
    sum: (sum ?? 0n) + BigInt(`0x${md5(text).slice(0, 15)}`),
  }),
  result: ({ sum }: { sum: bigint | null }) => sum?.toString() ?? null,
}

/**
 * Adds what SQLite lacks and the dialect writes: `regexp(pattern, text)`, `is_date(text, format)`, `stddev_samp(value)`,
 * `md5_sum(text)`, `md5_slot(text, digits)`, `unicode_lower(text)` and, where Node's SQLite was built without it, `percentile_cont(value, fraction)`.
 */
export function addFunctions(database: DatabaseSync): void {
  const regExp = remember(toRegExp)
  const isDate = remember(dateReader)
  const options = { deterministic: true, useBigIntArguments: true }
  database.function('regexp', options, (pattern, text) =>
    pattern === null || text === null ? null : Number(regExp(String(pattern)).test(String(text))),
  )
  database.function('is_date', options, (text, format) =>
    text === null || format === null ? null : Number(isDate(String(format))(String(text))),
  )
  database.function('md5_slot', options, (text, digits) =>
    Number.parseInt(md5(text).slice(0, Number(digits)), 16),
  )
  database.function('unicode_lower', options, text => (text === null ? null : String(text).toLowerCase()))
  database.aggregate('md5_sum', md5Sum as unknown as AggregateOptions)
  // The types want an SQL value as the state; SQLite never sees it, and any value will do.
  database.aggregate('stddev_samp', standardDeviation as unknown as AggregateOptions)
  const builtIn = database.prepare(`select 1 from pragma_function_list where name = 'percentile_cont'`).get()
  if (builtIn) return
  const aggregate = {
    start: (): State => ({ values: [], fraction: 0 }),
    step(state: State, value: number | null, fraction: number) {
      if (value !== null) state.values.push(value)
      return { ...state, fraction }
    },
    result: ({ values, fraction }: State) => interpolate(values, fraction),
  }
  database.aggregate('percentile_cont', aggregate as unknown as AggregateOptions)
}
