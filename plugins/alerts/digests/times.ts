/** When digests are due, and which period each is about. */
import { DateTime } from 'luxon'
import type { Digest } from './models.ts'

type DigestTimes = Pick<Digest, 'frequency' | 'weekday' | 'sendAt' | 'timezone'>

interface Period {
  since: Date
  until: Date
}

const DAYS = { daily: 1, weekly: 7 }
/** A digest that could not be sent for longer leaves out what lies before. */
const MAX_PERIOD_DAYS = 31

/** The first time after a moment at which a digest is due. */
export function nextTime(times: DigestTimes, after: Date): Date {
  return timesAround(times, after).find(time => time > after)!
}

/**
 * The period of a digest that is due now: from the end of the last one to the time at which it was due last. Times that
 * were missed while no process ran become one.
 */
export function duePeriod(digest: DigestTimes & Pick<Digest, 'coveredUntil'>, now: Date): Period {
  const until = timesAround(digest, now).findLast(time => time <= now)!
  const { coveredUntil } = digest
  if (!coveredUntil || coveredUntil >= until) return periodBefore(digest, until)
  const first = daysBefore(digest, until, MAX_PERIOD_DAYS)
  return { since: coveredUntil < first ? first : coveredUntil, until }
}

/** The day or week that ends at a moment. */
export function periodBefore(digest: Pick<Digest, 'frequency' | 'timezone'>, until: Date): Period {
  return { since: daysBefore(digest, until, DAYS[digest.frequency]), until }
}

/** By the wall clock: a day may have 23 or 25 hours. */
function daysBefore({ timezone }: Pick<Digest, 'timezone'>, at: Date, days: number): Date {
  return DateTime.fromJSDate(at, { zone: timezone }).minus({ days }).toJSDate()
}

/** The times at which a digest is due from a week before a moment to a week after it. One that clocks leave out is later. */
function timesAround({ frequency, weekday, sendAt, timezone }: DigestTimes, at: Date): Date[] {
  const [hour, minute] = sendAt.split(':').map(Number)
  const today = DateTime.fromJSDate(at, { zone: timezone }).startOf('day')
  return Array.from({ length: 17 }, (_, place) => today.plus({ days: place - 8 }))
    .filter(day => frequency === 'daily' || day.weekday === weekday)
    .map(day => day.set({ hour: hour!, minute: minute! }).toJSDate())
}
