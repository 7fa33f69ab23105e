/** An ISO date or timestamp, in the form that engines compare with their own columns. */
export interface IsoMoment {
  /** Whether it is a day without a time. */
  isDay: boolean
  /** `2024-12-31`, or `2024-12-31 23:59:59` in UTC, with a fraction when there is one. */
  text: string
  /** The day after, for bounds that include a whole day; null after 9999-12-31, since most engines write no later day. */
  nextDay: string | null
  /** Milliseconds since 1970, for ordering. */
  from: number
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i
const DAY_MS = 86_400_000
/** Milliseconds since 1970 of the first moment and of the one after the last that four digits of a year can write. */
const [FIRST, END] = [utc(1, 1, 1), utc(10_000, 1, 1)]

/** Unlike `Date.UTC`, which takes the years 0 to 99 for those from 1900. */
function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/**
 * Reads an ISO 8601 date (`2024-12-31`) or timestamp (`2024-12-31T23:59:59.5+01:00`).
 * @returns null when it is neither, names no real day or time of day, or is not of the years 1 to 9999 in UTC
 */
export function parseMoment(text: string): IsoMoment | null {
  const match = ISO.exec(text)
  if (!match) return null
  const parts = match.slice(1, 7).map(part => Number(part ?? 0))
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
  const local = utc(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000
  const isReal = new Date(local).toISOString().startsWith(`${text.slice(0, 10)}T`)
  if (!isReal || hour > 23 || minute > 59 || second > 59) return null
  const from = local - offsetMinutes(match[8]) * 60_000
  if (from < FIRST || from >= END) return null
  const isDay = match[4] === undefined
  const iso = new Date(from).toISOString()
  return {
    isDay,
    text: isDay ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${iso.slice(11, 19)}${match[7] ?? ''}`,
    nextDay: from + DAY_MS < END ? new Date(from + DAY_MS).toISOString().slice(0, 10) : null,
    from: from + Number(match[7] ?? 0) * 1000,
  }
}
