import { DateTime } from 'luxon'
import type { Transaction } from '../../server/database/database.ts'
import { readUpdates } from './run/learn.ts'

/** At which hours of the week the stored updates of a table arrived. */
export interface UpdateClock {
  timezone: string
  /** The updates that are counted: the newest, from which a schedule learns. */
  updates: number
  /** The first and the last of them. */
  from: Date | null
  until: Date | null
  /** Updates by weekday, Monday first, and by hour. */
  hours: number[][]
}

const DAYS = 7
const HOURS = 24

/** Counts the stored updates of a schedule by the hours of the week. @param timezone an IANA zone, in which hours are taken */
export async function readUpdateClock(
  trx: Transaction,
  scheduleId: string,
  timezone: string,
): Promise<UpdateClock> {
  const updates = (await readUpdates(trx, [scheduleId])).get(scheduleId) ?? []
  const hours = Array.from({ length: DAYS }, () => Array.from({ length: HOURS }, () => 0))
  for (const update of updates) {
    const { weekday, hour } = DateTime.fromJSDate(update, { zone: timezone })
    hours[weekday - 1]![hour]! += 1
  }
  return { timezone, updates: updates.length, from: updates[0] ?? null, until: updates.at(-1) ?? null, hours }
}
