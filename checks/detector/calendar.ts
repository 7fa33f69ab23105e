/** The position of a moment in the daily, weekly and monthly cycles. All cycles use UTC. */

export type Interval = 'hourly' | 'daily' | 'weekly'

export const HOUR = 3600
export const DAY = 86_400
export const WEEK = 7 * DAY

/** Seconds between two captures of an interval. */
export const INTERVAL_SECONDS: Record<Interval, number> = { hourly: HOUR, daily: DAY, weekly: WEEK }

/** The cycles a baseline can follow, with the number of slots in each. */
export const CYCLE_SLOTS = { hour: 24, weekday: 7, weekend: 2, monthEdge: 3, hourOfWeekend: 48 } as const
export type Cycle = keyof typeof CYCLE_SLOTS

/** The slot of one moment in every cycle. */
export type Slots = Record<Cycle, number>

/** The slots of `at` (epoch seconds): hour 0..23, weekday 0 = Sunday, month edge 0 = neither first nor last day. */
export function slotsAt(at: number): Slots {
  const day = Math.floor(at / DAY)
  const hour = Math.floor((at - day * DAY) / HOUR)
  const weekday = modulo(day + 4, 7)
  const weekend = weekday === 0 || weekday === 6 ? 1 : 0
  return { hour, weekday, weekend, monthEdge: monthEdge(day), hourOfWeekend: hour + 24 * weekend }
}

/** 1 on the first day of a month, 2 on the last, else 0. */
function monthEdge(day: number): number {
  if (dayOfMonth(day) === 1) return 1
  return dayOfMonth(day + 1) === 1 ? 2 : 0
}

/** Day of the month of a day counted from 1970-01-01 (Hinnant 2013, "chrono-compatible low-level date algorithms"). */
function dayOfMonth(day: number): number {
  const dayOfEra = modulo(day + 719_468, 146_097)
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const month = Math.floor((5 * dayOfYear + 2) / 153)
  return dayOfYear - Math.floor((153 * month + 2) / 5) + 1
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
