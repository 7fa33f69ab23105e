import { DateTime } from 'luxon'
import type { Value } from '../../connectors/connector.ts'

/** `YYYY-MM-DD HH:MM:SS` and its kin; luxon wants the T. */
const SPACED = /^(\d{4,}-\d{2}-\d{2}) (\d.*)$/
/** An offset as some engines print it: `+02`, ` +0200`, ` UTC`. */
const OFFSET = /\s*(?:(Z|UTC)|([+-]\d{2}):?(\d{2})?)$/i
const NUMBER = /^-?\d+(\.\d+)?$/
/** Types whose values name a moment; all other timestamps are wall clock times of some zone. */
const ABSOLUTE_TYPE = /tz|with (local )?time zone/i

/** Upper bounds of epochs in seconds, milliseconds and microseconds: the year 5138 in each. */
const EPOCHS = [
  { below: 1e11, perSecond: 1 },
  { below: 1e14, perSecond: 1e3 },
  { below: 1e17, perSecond: 1e6 },
]

/**
 * Reads what MAX gave as a moment: a `Date`, ISO-like text, or an epoch in seconds, milliseconds, microseconds
 * or nanoseconds by its size. Values without a zone are wall clock times in `zone`.
 * @param type the column's canonical type, which tells whether a `Date` was read without a zone
 * @returns null for no value, undefined for one that is no moment
 */
export function readMoment(value: Value | undefined, zone: string, type = ''): Date | null | undefined {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return readDate(value, zone, type)
  if (typeof value === 'number') return readEpoch(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return NUMBER.test(text) && text.length >= 9 ? readEpoch(Number(text)) : readText(text, zone)
}

function readDate(value: Date, zone: string, type: string): Date | undefined {
  if (Number.isNaN(value.getTime())) return undefined
  if (ABSOLUTE_TYPE.test(type)) return value
  // Connectors read timestamps without a zone as UTC.
  return DateTime.fromJSDate(value, { zone: 'utc' }).setZone(zone, { keepLocalTime: true }).toJSDate()
}

function readEpoch(epoch: number): Date | undefined {
  if (!Number.isFinite(epoch)) return undefined
  const { perSecond } = EPOCHS.find(({ below }) => Math.abs(epoch) < below) ?? { perSecond: 1e9 }
  return new Date((epoch / perSecond) * 1000)
}

function readText(text: string, zone: string): Date | undefined {
  const [, date, time = ''] = SPACED.exec(text) ?? []
  const iso = date === undefined ? text : `${date}T${time.replace(OFFSET, withOffset)}`
  const moment = DateTime.fromISO(iso, { zone })
  return moment.isValid ? moment.toJSDate() : undefined
}

function withOffset(_: string, utc: string | undefined, hours: string, minutes = '00'): string {
  return utc ? 'Z' : `${hours}:${minutes}`
}
