/** Operating schedules: when a table is meant to be active, in the wall-clock time of its own zone. */
import { IANAZone } from 'luxon'
import { DAY, slotsAt } from './calendar.ts'

export interface ScheduleRule {
  /** 1 = Monday .. 7 = Sunday: the days on which the period starts. */
  days: number[]
  /** Wall-clock `HH:MM`. */
  start: string
  /** Wall-clock `HH:MM`, exclusive; before or at `start`, the period runs past midnight. */
  end: string
}

export interface Schedule {
  /** IANA zone, as `Europe/Berlin`. */
  timezone: string
  /** Active when any rule says so. */
  rules: ScheduleRule[]
}

/** Whether the schedule calls the moment `at` (epoch seconds) active. Throws on a zone or time it cannot read. */
export function isActive(schedule: Schedule, at: number): boolean {
  const zone = IANAZone.create(schedule.timezone)
  if (!zone.isValid) {
    throw new Error(`Unknown time zone "${schedule.timezone}": give an IANA name such as "Europe/Berlin".`)
  }
  const local = at + 60 * zone.offset(1000 * at)
  const minute = Math.floor((local - DAY * Math.floor(local / DAY)) / 60)
  const today = slotsAt(local).weekday || 7
  const yesterday = today === 1 ? 7 : today - 1
  return schedule.rules.some(rule => {
    const start = minuteOf(rule.start)
    const end = minuteOf(rule.end)
    if (start < end) return rule.days.includes(today) && minute >= start && minute < end
    return (rule.days.includes(today) && minute >= start) || (rule.days.includes(yesterday) && minute < end)
  })
}

function minuteOf(time: string): number {
  const match = /^(\d{1,2}):(\d{2})$/.exec(time)
  const minute = match ? Number(match[1]) * 60 + Number(match[2]) : NaN
  if (!(minute <= 24 * 60)) throw new Error(`Unreadable time "${time}": write it as HH:MM, 00:00 to 24:00.`)
  return minute
}
