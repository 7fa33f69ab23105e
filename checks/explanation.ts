/** Explains a verdict in words: what was measured, what it was compared with, and what is usual. */
import type { Basis, Interval, SeriesPoint, SeriesVerdict } from './detector.ts'
import { slotsAt } from './detector/calendar.ts'

/** Maximum number of comparable values in an explanation. */
const MOST = 14

/**
 * One sentence, as "2,140 rows; Mondays usually bring 9,800 to 10,400; 14 Mondays seen".
 * @param series the metric type, or `invalid_percent`
 */
export function explanation(
  series: string,
  point: SeriesPoint,
  said: Pick<SeriesVerdict, 'basis' | 'low' | 'high'>,
  interval: Interval,
): string {
  const { basis, low, high } = said
  const found = foundOf(series, point)
  if (!basis || low === null || high === null) return `${found}; too few earlier values to compare with`
  const range = describeBand(series, point.value, { low, high }, basis.kind === 'dormant')
  return `${found}; ${comparedWith(basis, range, interval)}`
}

/**
 * The measured value and its band: "4,743 rows; 4,800 to 5,040 expected".
 * @param series the metric type
 * @param band null if there was none, for example while a metric is learning
 */
export function describeValue(
  series: string,
  value: number,
  band: { low: number; high: number } | null,
): string {
  const found = foundOf(series, { value })
  return band ? `${found}; ${describeBand(series, value, band)} expected` : found
}

/** A bound of a series with its unit: "10 %", "1,000". @param series as above; `percent` of any percentage */
export function describeLimit(series: string, limit: number): string {
  return `${number(limit)}${unitOf(series)}`
}

function unitOf(series: string): string {
  return series.endsWith('percent') ? ' %' : ''
}

function describeBand(
  series: string,
  value: number,
  { low, high }: { low: number; high: number },
  isLimit = false,
): string {
  const unit = unitOf(series)
  const [least, most] = rangeOf(value, ...(nounOf(series) ? wholeWithin(low, high) : ([low, high] as const)))
  return least === most || isLimit ? `${most}${unit}` : `${least} to ${most}${unit}`
}

/**
 * The earlier values behind a verdict, oldest first: those of the same slot, else the most recent ones.
 * @param history oldest first
 * @param at the moment of the verdict, epoch seconds
 */
export function comparable(
  history: readonly SeriesPoint[],
  basis: Basis | null,
  at: number,
  most: number = MOST,
): SeriesPoint[] {
  const earlier = history.filter(point => point.at < at)
  // Steps are visible only in consecutive values.
  if (!basis?.cycle || basis.kind === 'step') return earlier.slice(-most)
  const { cycle, slot } = basis
  return earlier.filter(point => slotsAt(point.at)[cycle] === slot).slice(-most)
}

const NOUNS: Record<string, string> = {
  row_count: 'rows',
  distinct_count: 'distinct values',
  duplicate_count: 'duplicates',
}

function foundOf(series: string, { value, total }: Pick<SeriesPoint, 'value' | 'total'>): string {
  if (series === 'null_percent') return `${number(value)} % null`
  if (series === 'invalid_percent') {
    const rows = total == null ? 'the rows' : total === 1 ? 'one row' : `${number(total)} rows`
    return `${number(value)} % of ${rows} invalid`
  }
  const noun = nounOf(series)
  return noun ? `${number(value)} ${noun}` : `${series} ${number(value)}`
}

/** The unit of a count; empty for other series. */
function nounOf(series: string): string | undefined {
  return Object.hasOwn(NOUNS, series) ? NOUNS[series] : undefined
}

const STEPS: Record<Interval, string> = { hourly: 'hour', daily: 'day', weekly: 'week' }

function comparedWith(basis: Basis, range: string, interval: Interval): string {
  const { kind, sightings } = basis
  if (kind === 'slot') {
    const slot = slotName(basis)
    return `${slot} usually bring ${range}; ${sightings} ${sightings === 1 ? 'such value' : slot} seen`
  }
  const seen = `${sightings} earlier ${sightings === 1 ? 'value' : 'values'} seen`
  if (kind === 'step') {
    const step = STEPS[interval]
    return `going by its changes from ${step} to ${step}, ${range} was expected; ${seen}`
  }
  if (kind === 'dormant') return `the table usually rests then, with at most ${range}; ${seen}`
  return kind === 'recent' ? `its last values led to expect ${range}; ${seen}` : `usually ${range}; ${seen}`
}

const WEEKDAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays']
const WEEK_PARTS = ['working days', 'weekend days']
const MONTH_PARTS = ['days within a month', 'first days of a month', 'last days of a month']

/** The plural name of a slot's values; hours are in UTC. */
function slotName({ cycle, slot }: Basis): string {
  const n = slot ?? 0
  if (cycle === 'weekday') return WEEKDAYS[n]!
  if (cycle === 'weekend') return WEEK_PARTS[n]!
  if (cycle === 'monthEdge') return MONTH_PARTS[n]!
  const hour = `hours from ${String(n % 24).padStart(2, '0')}:00 UTC`
  return cycle === 'hourOfWeekend' ? `${hour} of ${WEEK_PARTS[n < 24 ? 0 : 1]!}` : hour
}

/** Counts are whole: the first and last whole numbers within a band, if any. */
function wholeWithin(low: number, high: number): [number, number] {
  const [least, most] = [Math.ceil(low), Math.floor(high)]
  return least <= most ? [least, most] : [low, high]
}

/** The band with the fewest digits that still show on which side of it the value lies. */
function rangeOf(value: number, low: number, high: number): [string, string] {
  for (let digits = 3; digits < 15; digits++) {
    const least = Number(low.toPrecision(digits))
    const most = Number(high.toPrecision(digits))
    const isTrue = value > most === value > high && value < least === value < low
    if (isTrue && (least < most || low === high)) return [number(least), number(most)]
  }
  return [number(low), number(high)]
}

/** Counts as whole numbers; other values with a readable number of digits and without trailing zeros. */
function number(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return Number(value.toPrecision(6)).toExponential()
  const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 6 }
  // Avoids minus zero.
  return (value + 0).toLocaleString('en-US', digits)
}
