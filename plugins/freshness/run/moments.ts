import { DateTime } from 'luxon'
import type { Value } from '../../../connectors/connector.ts'

/** `YYYY-MM-DD HH:MM:SS` and similar; luxon needs a T. */
const SPACED_TIME = /^(\d{4,}-\d{2}-\d{2}) (\d.*)$/
/** An offset as some engines print it: `+02`, ` +0200`, ` UTC`. */
const OFFSET = / ?(?:(Z|UTC)|([+-]\d{2}):?(\d{2})?)$/i
const NUMBER = /^-?\d+(\.\d+)?$/
/** At least a year and a month: luxon parses `11` and `11:30` as times of the current day. */
const DATED = /^\d{4}-?\d{2}/
/** Numbers such as 20250710 are days: as seconds they would all be before 1973. */
const DAY_NUMBERS = { first: 1900_01_01, last: 9999_12_31 }
const FIRST_YEAR = 1900
/** Numbers such as 20250710142800 are dates with times: as milliseconds they would all be after 2571. */
const SECOND_DIGITS = /^\d{14}$/
/** Times beyond the calendar, as engines print them: PostgreSQL's `infinity`, the year 12025. */
const AFTER_CALENDAR = /^(infinity|\+?\d{5,6}-\d{2}-\d{2}([T ].*)?)$/
const BEFORE_CALENDAR = /^(-infinity|-\d{4,6}-\d{2}-\d{2}([T ].*)?|\d{4,}-\d{2}-\d{2}([T ].*)? BC)$/
/** Upper bounds of epochs in seconds, milliseconds and microseconds: the year 5138 in each. */
const EPOCH_UNITS = [
  { below: 1e11, perSecond: 1 },
  { below: 1e14, perSecond: 1e3 },
  { below: 1e17, perSecond: 1e6 },
]

/** How to interpret values without a time zone. */
export interface MomentContext {
  /** IANA zone of local times. */
  zone: string
  /** Whether a `Date` is a moment; otherwise it is a local time that the connector read as UTC. */
  isMoment?: boolean
  /** The time of reading. */
  now: Date
}

/**
 * Reads the result of MAX as a moment: a `Date`, ISO-like text, a day or second in digits (20250710, 20250710142800), or
 * an epoch in seconds, milliseconds, microseconds or nanoseconds, depending on its size. A time in the repeated hour of
 * autumn is the second occurrence, unless that is in the future; a time in the skipped hour of spring is one hour later.
 * Times before year 1 or after 9999, including infinity, are clamped.
 * @returns null for no value, undefined for a value that is not a moment
 */
export function readMoment(value: Value | undefined, clock: MomentContext): Date | null | undefined {
  if (value === null || value === undefined) return null
  const moment = readValue(value, clock)
  // Sentinels such as 1e300 are not moments either.
  return moment && !Number.isNaN(moment.getTime()) ? clampToCalendar(moment) : undefined
}

const FIRST_MOMENT = new Date('0001-01-01T00:00:00Z')
const LAST_MOMENT = new Date('9999-12-31T23:59:59.999Z')

/**
 * Clamps to years of four digits, because few programs parse others. The end of 9999 in Honolulu, which many tables use
 * for "never", is in the year 10000 in UTC.
 */
export function clampToCalendar(moment: Date): Date {
  if (moment < FIRST_MOMENT) return FIRST_MOMENT
  return moment > LAST_MOMENT ? LAST_MOMENT : moment
}

function readValue(value: NonNullable<Value>, clock: MomentContext): Date | undefined {
  if (value instanceof Date) return readDate(value, clock)
  if (typeof value === 'number') return readNumber(value, clock)
  if (typeof value !== 'string') return undefined
  const text = value.trim().replaceAll(/\s+/g, ' ')
  if (!NUMBER.test(text) || text.length < 9) return readText(text, clock)
  return readStamp(text, clock) ?? readEpoch(Number(text))
}

function readNumber(value: number, clock: MomentContext): Date | undefined {
  const isDay = Number.isInteger(value) && value >= DAY_NUMBERS.first && value <= DAY_NUMBERS.last
  return (isDay ? readText(String(value), clock) : readStamp(String(value), clock)) ?? readEpoch(value)
}

function readStamp(text: string, { zone, now }: MomentContext): Date | undefined {
  if (!SECOND_DIGITS.test(text)) return undefined
  const moment = DateTime.fromFormat(text, 'yyyyMMddHHmmss', { zone })
  return moment.isValid && moment.year >= FIRST_YEAR ? latestPast(moment, now) : undefined
}

function readDate(value: Date, { zone, isMoment, now }: MomentContext): Date | undefined {
  if (Number.isNaN(value.getTime())) return undefined
  if (isMoment) return value
  return latestPast(DateTime.fromJSDate(value, { zone: 'utc' }).setZone(zone, { keepLocalTime: true }), now)
}

/** The later of the two moments with the same local time in autumn that is not in the future. */
function latestPast(moment: DateTime, now: Date): Date {
  const moments = moment.getPossibleOffsets().map(possible => possible.toMillis())
  const past = moments.filter(at => at <= now.getTime())
  return new Date(past.length > 0 ? Math.max(...past) : Math.min(...moments))
}

function readEpoch(epoch: number): Date | undefined {
  if (!Number.isFinite(epoch)) return undefined
  const { perSecond } = EPOCH_UNITS.find(({ below }) => Math.abs(epoch) < below) ?? { perSecond: 1e9 }
  return new Date((epoch / perSecond) * 1000)
}

function readText(text: string, { zone, now }: MomentContext): Date | undefined {
  if (AFTER_CALENDAR.test(text)) return LAST_MOMENT
  if (BEFORE_CALENDAR.test(text)) return FIRST_MOMENT
  if (!DATED.test(text)) return undefined
  const [, date, time = ''] = SPACED_TIME.exec(text) ?? []
  const iso = date === undefined ? text : `${date}T${time.replace(OFFSET, withOffset)}`
  const moment = DateTime.fromISO(iso, { zone })
  if (!moment.isValid) return undefined
  const isNamed = OFFSET.test(iso.replace(/^[^T]*/, ''))
  return isNamed ? moment.toJSDate() : latestPast(moment, now)
}

function withOffset(_: string, utc: string | undefined, hours: string, minutes = '00'): string {
  return utc ? 'Z' : `${hours}:${minutes}`
}
