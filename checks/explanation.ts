/** Says in words what was found, what was expected instead, how far it is from that, and what it was compared with. */
import type { Basis, Interval, SeriesPoint, SeriesVerdict } from './detector.ts'
import { slotsAt } from './detector/calendar.ts'

export interface Finding {
  /** `587 rows`. */
  found: string
  /** `501 to 514`, `at most 10 %`; absent where what was found says it. */
  expected?: string | null
  /** `+14 %`; absent where it would say nothing more. */
  deviation?: string | null
}

/** `587 rows, expected 501 to 514 (+14 %)`. */
export function formatFinding({ found, expected = null, deviation = null }: Finding): string {
  return `${found}${expected === null ? '' : `, expected ${expected}`}${deviation === null ? '' : ` (${deviation})`}`
}

/** `1 row`, `1,204 rows`. @param noun in the singular */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** A share as people say it, `0.3`, `1.3`, `77`: never at the other side of a limit, nor none or all where it is not. */
export function roundShare(percent: number, limit: number): number {
  for (let digits = percent < 1 ? 1 : 2; digits < 15; digits++) {
    const rounded = Number(percent.toPrecision(digits))
    if (rounded > limit === percent > limit && rounded < 100 === percent < 100) return rounded
  }
  return percent
}

/** From here on people say how many times as much, not how many percent more. */
const MAX_DEVIATION_PERCENT = 1_000

/**
 * How far a quantity lies above or below what was expected at most or at least: `+14 %`, `−85 %`, `12 times as much`.
 * @param bound the nearest expected value
 * @returns null where a share says nothing, as from zero
 */
export function describeDeviation(value: number, bound: number): string | null {
  if (bound <= 0 || value < 0 || value === bound) return null
  const percent = 100 * (value / bound - 1)
  if (!Number.isFinite(percent)) return null
  if (percent >= MAX_DEVIATION_PERCENT) return `${describeTimes(value / bound)} times as much`
  const size = Math.abs(percent)
  const rounded = size >= 10 ? Math.round(size) : Number(size.toPrecision(2))
  // What is not all gone is never said to be.
  const shown = value > 0 && percent < 0 ? Math.min(rounded, 99.9) : rounded
  return `${percent < 0 ? '−' : '+'}${shown.toLocaleString('en-US')} %`
}

function describeTimes(factor: number): string {
  return factor < 1e15
    ? Math.round(factor).toLocaleString('en-US')
    : Number(factor.toPrecision(2)).toExponential()
}

/** Maximum number of comparable values in an explanation. */
const MOST = 14

/**
 * One sentence, as "2,140 rows, expected 9,800 to 10,400 (−78 %); compared with 14 earlier Mondays".
 * @param series the metric type, or `invalid_percent`
 */
export function explanation(
  series: string,
  point: SeriesPoint,
  said: Pick<SeriesVerdict, 'basis' | 'low' | 'high'>,
  interval: Interval,
): string {
  const { basis, low, high } = said
  const band = !basis || low === null || high === null ? null : { low, high }
  const finding = describeFinding(series, point, band, { isResting: basis?.kind === 'dormant' })
  return `${formatFinding(finding)}; ${describeBasis(band && basis, interval)}`
}

/**
 * A value with its band, rounded so that the value lies on the side of the band on which it is.
 * @param series as above
 * @param band null if nothing is expected, for example while a metric is learning
 * @param options `name` is what the value is called where its type does not say it, empty for its number alone; a table that `isResting` has no least value
 */
export function describeFinding(
  series: string,
  { value, total }: Pick<SeriesPoint, 'value' | 'total'>,
  band: { low: number; high: number } | null,
  { name, isResting = false }: { name?: string | undefined; isResting?: boolean } = {},
): Finding {
  if (!band) return { found: nameValue(series, { value, total }, value, name) }
  const { low, high } = band
  const isOutside = value > high || value < low
  const shown = nounOf(series) === undefined ? roundBeside(value, low, high) : value
  return {
    found: nameValue(series, { value, total }, shown, name),
    expected: describeBand(series, value, band, isResting),
    deviation:
      isOutside && unitOf(series) === '' ? describeDeviation(value, value > high ? high : low) : null,
  }
}

/** What a value was compared with, and how far out it lies: "Compared with 14 earlier Mondays; z = 7.2". */
export function explainBasis(basis: Basis | null, zScore: number | null, interval: Interval): string {
  const words = describeBasis(basis, interval)
  const sentence = `${words[0]!.toUpperCase()}${words.slice(1)}`
  if (zScore === null || !Number.isFinite(zScore)) return sentence
  return `${sentence}; z = ${number(Number(zScore.toPrecision(2)))}`
}

function describeBasis(basis: Basis | null, interval: Interval): string {
  if (!basis) return 'too few earlier values to compare with'
  const { kind, sightings } = basis
  const values = `${number(sightings)} earlier ${sightings === 1 ? 'value' : 'values'}`
  if (kind === 'slot') {
    const slot = slotName(basis)
    return `compared with ${sightings === 1 ? `1 earlier value of ${slot}` : `${number(sightings)} earlier ${slot}`}`
  }
  if (kind === 'step') {
    const step = STEPS[interval]
    return `judged by the usual change from ${step} to ${step}, with ${values}`
  }
  if (kind === 'dormant') return `the table usually rests at this time, by ${values}`
  return kind === 'recent' ? `judged by the last of ${values}` : `compared with ${values}`
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
  if (isLimit) return `at most ${most}${unit}`
  return least === most ? `${most}${unit}` : `${least} to ${most}${unit}`
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

/** Quantities whose names are not what people call them. */
const QUANTITIES: Record<string, string> = {
  min_value: 'minimum',
  max_value: 'maximum',
  min_length: 'shortest text',
  mean_length: 'mean text length',
  max_length: 'longest text',
  standard_deviation: 'standard deviation',
}

/** `587 rows`, `40 % null`, `mean 23.4`. @param shown the value as it is shown */
function nameValue(
  series: string,
  { value, total }: Pick<SeriesPoint, 'value' | 'total'>,
  shown: number,
  name?: string,
): string {
  const digits = `${number(shown)}${unitOf(series)}`
  if (name !== undefined) return name === '' ? digits : `${name} = ${digits}`
  if (series === 'null_percent') return `${digits} null`
  if (series === 'invalid_percent')
    return `${digits} of ${total == null ? 'the rows' : countOf(total, 'row')} invalid`
  const noun = nounOf(series)
  if (noun) return `${digits} ${value === 1 ? noun.replace(/s$/, '') : noun}`
  return `${Object.hasOwn(QUANTITIES, series) ? QUANTITIES[series] : series.replaceAll('_', ' ')} ${digits}`
}

/** A value with the fewest digits that still show on which side of a band it lies. */
function roundBeside(value: number, low: number, high: number): number {
  const [least, most] = rangeOf(value, low, high).map(text =>
    Number(text.replaceAll(',', '').replace('−', '-')),
  )
  for (let digits = 3; digits < 15; digits++) {
    const rounded = Number(value.toPrecision(digits))
    if (rounded > most! === value > high && rounded < least! === value < low) return rounded
  }
  return value
}

/** The unit of a count; empty for other series. */
function nounOf(series: string): string | undefined {
  return Object.hasOwn(NOUNS, series) ? NOUNS[series] : undefined
}

const STEPS: Record<Interval, string> = { hourly: 'hour', daily: 'day', weekly: 'week' }

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
  const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 6 }
  const text =
    size >= 1e15 || (size > 0 && size < 1e-6)
      ? Number(value.toPrecision(6)).toExponential()
      : // Avoids minus zero.
        (value + 0).toLocaleString('en-US', digits)
  return text.replace(/^-/, '−')
}
