import { DateTime } from 'luxon'

/** At least a year and a month: luxon parses `11:30` as a time of the current day. */
const DATED = /^\d{4}-?\d{2}/
const MAX_LENGTH = 100
/** An offset, or a word for none, after a time. */
const ZONE = /\d(?:[ ]?(?:Z|UTC|GMT)|[+-]\d{2}(?::?\d{2})?)$/i

/**
 * Reads a time that came from outside. Its own offset counts; without one, it is a local time of `timezone`, and never of
 * the zone that the process happens to run in.
 * @param timezone an IANA time zone: the setting `TIMEZONE`
 * @returns null for what is no time, or a time before the year 1 or after 9999
 */
export function readTime(text: string, timezone: string): Date | null {
  const given = text.trim()
  if (given.length > MAX_LENGTH) return null
  const iso = DATED.test(given) ? DateTime.fromISO(given.replace(' ', 'T'), { zone: timezone }) : null
  if (iso?.isValid) return inCalendar(iso.toJSDate())
  // Such as the dates of mail and HTTP.
  return given.includes(':') && ZONE.test(given) ? inCalendar(new Date(given)) : null
}

/**
 * Gives a time of ISO 8601 that has no offset the one of a time zone.
 * @returns undefined for a time that has one, and for other texts
 */
export function withOffset(text: string, timezone: string): string | undefined {
  if (!DATED.test(text) || (text.includes('T') && ZONE.test(text))) return undefined
  return readTime(text, timezone)?.toISOString()
}

function inCalendar(at: Date): Date | null {
  const year = at.getUTCFullYear()
  return Number.isNaN(at.getTime()) || year < 1 || year > 9999 ? null : at
}
