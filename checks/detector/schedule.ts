/** Operating schedules: when a table should be active, in the wall-clock time of its time zone. */
import { IANAZone } from 'luxon'
import { DAY, slotsAt, WEEK } from './calendar.ts'

export interface ScheduleRule {
  /** 1 = Monday .. 7 = Sunday: the days on which the period starts. */
  days: number[]
  /** Wall-clock `HH:MM`. */
  start: string
  /** Wall-clock `HH:MM`, exclusive; before or at `start`, the period runs past midnight. */
  end: string
}

export interface Schedule {
  /** IANA time zone, such as `Europe/Berlin`. */
  timezone: string
  /** Active when any rule matches. */
  rules: ScheduleRule[]
}

/** Whether the schedule is active at `at` (epoch seconds). Throws on an invalid zone or time. */
export function isActive(schedule: Schedule, at: number): boolean {
  const plan = parseSchedule(schedule)
  const local = at + 60 * utcOffsetAt(plan, at)
  const minute = Math.floor((local - DAY * Math.floor(local / DAY)) / 60)
  const today = slotsAt(local).weekday || 7
  const yesterday = today === 1 ? 7 : today - 1
  return plan.rules.some(({ days, start, end }) => {
    if (start < end) return days.includes(today) && minute >= start && minute < end
    return (days.includes(today) && minute >= start) || (days.includes(yesterday) && minute < end)
  })
}

/** A parsed schedule. */
interface ParsedSchedule {
  zone: IANAZone
  /** Start and end in minutes from midnight. */
  rules: { days: readonly number[]; start: number; end: number }[]
  /** Offset from UTC in minutes between two moments, cached because looking up the zone dominates the cost. */
  offset: { minutes: number; from: number; to: number }
}

/** Cached for as long as the schedule object lives. */
const parsedSchedules = new WeakMap<Schedule, ParsedSchedule>()

function parseSchedule(schedule: Schedule): ParsedSchedule {
  const known = parsedSchedules.get(schedule)
  if (known) return known
  const zone = IANAZone.create(schedule.timezone)
  if (!zone.isValid) {
    throw new Error(`Unknown time zone "${schedule.timezone}": give an IANA name such as "Europe/Berlin".`)
  }
  const rules = schedule.rules.map(({ days, start, end }) => ({
    days,
    start: parseMinute(start),
    end: parseMinute(end),
  }))
  const plan = { zone, rules, offset: { minutes: 0, from: 0, to: 0 } }
  parsedSchedules.set(schedule, plan)
  return plan
}

/** No zone changes its clocks twice within a week: if both ends agree, so does the time between. */
function utcOffsetAt(plan: ParsedSchedule, at: number): number {
  const { minutes, from, to } = plan.offset
  if (at >= from && at < to) return minutes
  const now = plan.zone.offset(1000 * at)
  if (plan.zone.offset(1000 * (at + WEEK)) === now) plan.offset = { minutes: now, from: at, to: at + WEEK }
  return now
}

function parseMinute(time: string): number {
  const match = /^(\d{1,2}):([0-5]\d)$/.exec(time)
  const minute = match ? Number(match[1]) * 60 + Number(match[2]) : NaN
  if (!(minute <= 24 * 60)) throw new Error(`Unreadable time "${time}": write it as HH:MM, 00:00 to 24:00.`)
  return minute
}
