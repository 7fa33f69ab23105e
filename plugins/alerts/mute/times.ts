/** When mute windows are open. */
import { DateTime } from 'luxon'
import type { ScheduleRule } from '../../../checks/detector.ts'
import type { MuteWindow } from './models.ts'

type WindowTimes = Pick<MuteWindow, 'startsAt' | 'endsAt' | 'timezone' | 'rules'>

/** When a window closes that is open at a moment; null if it is closed then. */
export function endOfWindow({ startsAt, endsAt, timezone, rules }: WindowTimes, at: Date): Date | null {
  if (startsAt && endsAt) return startsAt <= at && at < endsAt ? endsAt : null
  if (!timezone || !rules) return null
  const today = DateTime.fromJSDate(at, { zone: timezone }).startOf('day')
  // Hours that began yesterday may last until today.
  const ends = [today.minus({ days: 1 }), today].flatMap(day =>
    rules
      .filter(({ days }) => days.includes(day.weekday))
      .map(hours => momentsOf(day, hours))
      .flatMap(({ start, end }) => (start <= at.getTime() && at.getTime() < end ? [end] : [])),
  )
  return ends.length === 0 ? null : new Date(Math.max(...ends))
}

/**
 * The moments at which hours begin and end that start on a day. An hour that the clock shows twice belongs to them as a
 * whole; one that it leaves out begins an hour later.
 */
function momentsOf(day: DateTime, { start, end }: ScheduleRule): { start: number; end: number } {
  const lastDay = end <= start ? day.plus({ days: 1 }) : day
  const ends = end === '24:00' ? [day.plus({ days: 1 }).startOf('day')] : wallClock(lastDay, end)
  return {
    start: Math.min(...wallClock(day, start).map(moment => moment.toMillis())),
    end: Math.max(...ends.map(moment => moment.toMillis())),
  }
}

function wallClock(day: DateTime, time: string): DateTime[] {
  const [hour, minute] = time.split(':').map(Number)
  return day.set({ hour: hour!, minute: minute! }).getPossibleOffsets()
}

/** Windows that follow each other without a gap may do so for ever: a message that waits is looked at again then. */
const HORIZON_MS = 35 * 86_400_000

/** Until when windows are open one after the other from a moment on; null if none is open at it. */
export function endOfWindows(windows: readonly WindowTimes[], at: Date): Date | null {
  const horizon = at.getTime() + HORIZON_MS
  let end = at.getTime()
  for (
    let next = latestEnd(windows, end);
    next !== undefined && end < horizon;
    next = latestEnd(windows, end)
  )
    end = next
  return end === at.getTime() ? null : new Date(end)
}

/** When the last one closes of the windows that are open at a moment. */
function latestEnd(windows: readonly WindowTimes[], at: number): number | undefined {
  const ends = windows.flatMap(window => endOfWindow(window, new Date(at))?.getTime() ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}
