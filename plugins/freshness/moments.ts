import { DateTime } from 'luxon'
import type { Value } from '../../connectors/connector.ts'

/** `YYYY-MM-DD HH:MM:SS` and its kin; luxon wants the T. */
const SPACED = /^(\d{4,}-\d{2}-\d{2}) (\d.*)$/
/** An offset as some engines print it: `+02`, ` +0200`, ` UTC`. */
const OFFSET = /\s*(?:(Z|UTC)|([+-]\d{2}):?(\d{2})?)$/i
const NUMBER = /^-?\d+(\.\d+)?$/
/** A year and a month at least: luxon takes a mere `11` or `11:30` for a time of the day of reading. */
const DATED = /^\d{4}-?\d{2}/
/** Numbers such as 20250710, which are days: as seconds, they would all lie in the years up to 1973. */
const DAYS = { first: 1900_01_01, last: 9999_12_31 }
const FIRST_YEAR = 1900
/** Numbers such as 20250710142800, which are dates with times: as milliseconds, they would all lie after 2571. */
const STAMP = /^\d{14}$/
/** Times after the last one, and before the first one, as engines print them: PostgreSQL's `infinity`, the year 12025. */
const AFTER = /^(infinity|\+?\d{5,6}-\d{2}-\d{2}([T ].*)?)$/
const BEFORE = /^(-infinity|-\d{4,6}-\d{2}-\d{2}([T ].*)?|\d{4,}-\d{2}-\d{2}([T ].*)? BC)$/
/** Upper bounds of epochs in seconds, milliseconds and microseconds: the year 5138 in each. */
const EPOCHS = [
  { below: 1e11, perSecond: 1 },
  { below: 1e14, perSecond: 1e3 },
  { below: 1e17, perSecond: 1e6 },
]

/** How values that name no zone are to be taken. */
export interface Clock {
  /** The IANA zone that wall clock times were written in. */
  zone: string
  /** Whether a `Date` is a moment; else it is a wall clock time, read as if it were UTC's, as connectors do. */
  isMoment?: boolean
  /** The time of reading. */
  now: Date
}

/**
 * Reads what MAX gave as a moment: a `Date`, ISO-like text, a day or second in digits (20250710, 20250710142800), or an
 * epoch in seconds, milliseconds, microseconds or nanoseconds by its size. Of the hour that a clock shows twice in
 * autumn it takes the second, unless that is still to come; of the one that it leaves out in spring, the time an hour
 * later. What lies before the year 1 or after 9999, infinity too, is the first or last moment of these years.
 * @returns null for no value, undefined for one that is no moment
 */
export function readMoment(value: Value | undefined, clock: Clock): Date | null | undefined {
  if (value === null || value === undefined) return null
  const moment = readValue(value, clock)
  // A sentinel that nothing can be made of, such as 1e300, is no moment either.
  return moment && !Number.isNaN(moment.getTime()) ? withinCalendar(moment) : undefined
}

const FIRST = new Date('0001-01-01T00:00:00Z')
const LAST = new Date('9999-12-31T23:59:59.999Z')

/**
 * The moment itself, or the first or last one that has a year of four digits: others are written in ways that few
 * understand. The end of 9999 in Honolulu, which many tables hold for "never", is of the year 10000 in UTC.
 */
export function withinCalendar(moment: Date): Date {
  if (moment < FIRST) return FIRST
  return moment > LAST ? LAST : moment
}

function readValue(value: NonNullable<Value>, clock: Clock): Date | undefined {
  if (value instanceof Date) return readDate(value, clock)
  if (typeof value === 'number') return readNumber(value, clock)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (!NUMBER.test(text) || text.length < 9) return readText(text, clock)
  return readStamp(text, clock) ?? readEpoch(Number(text))
}

function readNumber(value: number, clock: Clock): Date | undefined {
  const isDay = Number.isInteger(value) && value >= DAYS.first && value <= DAYS.last
  return (isDay ? readText(String(value), clock) : readStamp(String(value), clock)) ?? readEpoch(value)
}

function readStamp(text: string, { zone, now }: Clock): Date | undefined {
  if (!STAMP.test(text)) return undefined
  const moment = DateTime.fromFormat(text, 'yyyyMMddHHmmss', { zone })
  return moment.isValid && moment.year >= FIRST_YEAR ? latest(moment, now) : undefined
}

function readDate(value: Date, { zone, isMoment, now }: Clock): Date | undefined {
  if (Number.isNaN(value.getTime())) return undefined
  if (isMoment) return value
  return latest(DateTime.fromJSDate(value, { zone: 'utc' }).setZone(zone, { keepLocalTime: true }), now)
}

/** Of the two moments that a clock turned back shows alike, the later one that has come. */
function latest(moment: DateTime, now: Date): Date {
  const moments = moment.getPossibleOffsets().map(possible => possible.toMillis())
  const past = moments.filter(at => at <= now.getTime())
  return new Date(past.length > 0 ? Math.max(...past) : Math.min(...moments))
}

function readEpoch(epoch: number): Date | undefined {
  if (!Number.isFinite(epoch)) return undefined
  const { perSecond } = EPOCHS.find(({ below }) => Math.abs(epoch) < below) ?? { perSecond: 1e9 }
  return new Date((epoch / perSecond) * 1000)
}

function readText(text: string, { zone, now }: Clock): Date | undefined {
  if (AFTER.test(text)) return LAST
  if (BEFORE.test(text)) return FIRST
  if (!DATED.test(text)) return undefined
  const [, date, time = ''] = SPACED.exec(text) ?? []
  const iso = date === undefined ? text : `${date}T${time.replace(OFFSET, withOffset)}`
  const moment = DateTime.fromISO(iso, { zone })
  if (!moment.isValid) return undefined
  const isNamed = OFFSET.test(iso.replace(/^[^T]*/, ''))
  return isNamed ? moment.toJSDate() : latest(moment, now)
}

function withOffset(_: string, utc: string | undefined, hours: string, minutes = '00'): string {
  return utc ? 'Z' : `${hours}:${minutes}`
}
