/** When the next update of a table is due, learned from the times of its updates. */
import { DAY, slotsAt, type Slots } from './detector/calendar.ts'
import { median, quantile } from './detector/robust.ts'

export interface Cadence {
  /** When the next update usually comes, epoch seconds. */
  expectedNext: number
  /** From when on its absence is unusual at the sensitivity asked for, epoch seconds. */
  deadline: number
  /** Median of the gaps between updates, seconds. */
  typicalGapSeconds: number
}

/** Updates needed before anything is expected. */
const LEAST_UPDATES = 7
const HOUR = 3600
/** A table whose typical gap is at most this lives in its working hours. */
const FREQUENT = 45 * 60
/** A table whose typical gap is shorter follows the hour of the day. */
const SUB_DAILY = 6 * HOUR
/** A table whose typical gap is shorter follows the weekday. */
const SUB_WEEKLY = 3 * DAY
/** The standard normal's 90 % quantile: turns a half-spread into a standard deviation. */
const NORMAL_P90 = 1.2816

/**
 * Learns the cadence from update times (epoch seconds, oldest first): the median of comparable gaps, and
 * `sensitivity` (default 3) times their upper half-spread beyond it. Null with fewer than 7 updates.
 */
export function learnCadence(updateTimes: readonly number[], sensitivity = 3): Cadence | null {
  if (updateTimes.length < LEAST_UPDATES) return null
  const gaps = updateTimes.slice(1).map((at, i) => at - updateTimes[i]!)
  const typicalGapSeconds = median(gaps)
  const last = updateTimes[updateTimes.length - 1]!
  const due = orAsSlowAsBefore(
    dueByWorkingHours(updateTimes, typicalGapSeconds, sensitivity) ??
      dueByComparables(updateTimes, gaps, typicalGapSeconds, sensitivity),
    updateTimes,
    gaps,
    typicalGapSeconds,
  )
  return { expectedNext: last + due.usual, deadline: last + due.latest, typicalGapSeconds }
}

/** Seconds after the last update. */
interface Due {
  usual: number
  latest: number
}

/** Median, and beyond it `sensitivity` sd by the upper half-spread; at least 7 % of the median and 100 s a sd. */
function dueAfter(gaps: readonly number[], sensitivity: number): Due {
  const usual = median(gaps)
  const sd = Math.max((quantile(gaps, 0.9) - usual) / NORMAL_P90, 0.07 * usual, 100)
  return { usual, latest: usual + sensitivity * sd }
}

/** For a frequent table that rests in some hours: gaps in working time; null where that does not apply. */
function dueByWorkingHours(times: readonly number[], typicalGap: number, sensitivity: number): Due | null {
  const first = times[0]!
  const last = times[times.length - 1]!
  if (typicalGap > FREQUENT || times.length < 21 || last - first <= 2 * DAY) return null
  const isWorking = learnWorkingHours(times)
  if (isWorking.filter(Boolean).length >= 0.97 * isWorking.length) return null
  const gaps = times.slice(-80).map((at, i, recent) => workingSeconds(isWorking, recent[i - 1] ?? at, at))
  const { usual, latest } = dueAfter(
    gaps.slice(1).map(gap => Math.max(60, gap)),
    sensitivity,
  )
  return {
    usual: afterWorking(isWorking, last, usual) - last,
    latest: afterWorking(isWorking, last, latest) - last,
  }
}

/** For each hour of a working day and of a weekend day, whether updates came on at least a third of such days. */
function learnWorkingHours(times: readonly number[]): boolean[] {
  const days = [new Set<number>(), new Set<number>()]
  const firstDay = Math.floor(times[0]! / DAY)
  const lastDay = Math.floor(times[times.length - 1]! / DAY)
  for (let day = firstDay; day <= lastDay; day++) days[slotsAt(day * DAY).weekend]!.add(day)
  const busy = Array.from({ length: 48 }, () => new Set<number>())
  for (const at of times) busy[slotsAt(at).hourOfWeekend]!.add(Math.floor(at / DAY))
  return busy.map((seen, slot) => {
    const possible = days[slot >= 24 ? 1 : 0]!.size
    return possible < 2 || seen.size >= 0.34 * possible
  })
}

/** Working seconds between two moments. */
function workingSeconds(isWorking: readonly boolean[], from: number, to: number): number {
  let seconds = 0
  for (let at = from; at < to;) {
    const next = Math.min(to, endOfHour(at))
    if (isWorking[slotsAt(at).hourOfWeekend]) seconds += next - at
    at = next
  }
  return seconds
}

/** The moment at which `seconds` of working time have passed since `from`; looks at most 12 weeks ahead. */
function afterWorking(isWorking: readonly boolean[], from: number, seconds: number): number {
  let at = from
  let left = seconds
  for (let hours = 0; left > 0 && hours < 2016; hours++) {
    const next = endOfHour(at)
    if (isWorking[slotsAt(at).hourOfWeekend]) {
      if (left <= next - at) return at + left
      left -= next - at
    }
    at = next
  }
  return at
}

function endOfHour(at: number): number {
  return (Math.floor(at / HOUR) + 1) * HOUR
}

/** By the gaps that began at a comparable time, where there are enough of them. */
function dueByComparables(
  times: readonly number[],
  gaps: readonly number[],
  typicalGap: number,
  sensitivity: number,
): Due {
  const slots = times.map(slotsAt)
  const now = slots[slots.length - 1]!
  const isSubDaily = typicalGap < SUB_DAILY
  const alike = isSubDaily ? bestLikeness(slots, gaps) : typicalGap < SUB_WEEKLY ? sameWeekday : always
  const like = gaps.filter((_, i) => alike(slots[i]!, now)).slice(-RECENT)
  if (like.length >= (isSubDaily ? 6 : 3)) return dueAfter(like, sensitivity)
  const all = gaps.slice(-RECENT)
  const due = dueAfter(all, sensitivity)
  if (like.length > 0) return { usual: median(like), latest: Math.max(due.latest, 1.15 * Math.max(...like)) }
  return isSubDaily ? due : { ...due, latest: Math.max(due.latest, 1.1 * Math.max(...all)) }
}

/** The gaps that a deadline is learned from. */
const RECENT = 60

/** Whether gaps that begin in these slots are comparable. */
type Likeness = (a: Slots, b: Slots) => boolean

const always: Likeness = () => true
const sameWeekday: Likeness = (a, b) => a.weekday === b.weekday
const sameHour: Likeness = (a, b) => a.hour === b.hour
const nearHour: Likeness = (a, b) => a.weekend === b.weekend && hoursApart(a, b) <= 1
const timeOfDay: Likeness = (a, b) => hoursApart(a, b) <= 2

function hoursApart(a: Slots, b: Slots): number {
  const apart = Math.abs(a.hour - b.hour)
  return Math.min(apart, 24 - apart)
}

/** The likeness that explains the recent gaps best, each by the median of the others like it. */
function bestLikeness(slots: readonly Slots[], gaps: readonly number[]): Likeness {
  let best = always
  let least = Infinity
  for (const alike of [always, timeOfDay, nearHour, sameHour]) {
    const error = errorOf(alike, slots, gaps) * (alike === always ? 1 : EARN)
    if (error >= least) continue
    best = alike
    least = error
  }
  return best
}

/** A finer likeness has to be better by 5 %. */
const EARN = 1.05

/** Mean absolute log ratio of the recent gaps to the median of the others like them. */
function errorOf(alike: Likeness, slots: readonly Slots[], gaps: readonly number[]): number {
  const from = Math.max(0, gaps.length - 80)
  const overall = median(gaps)
  let sum = 0
  for (let i = from; i < gaps.length; i++) {
    const others = gaps.filter((_, j) => j !== i && alike(slots[j]!, slots[i]!))
    const usual = others.length >= 3 ? median(others) : overall
    sum += Math.abs(Math.log((gaps[i]! + 60) / (usual + 60)))
  }
  return sum / (gaps.length - from)
}

/**
 * A frequent table in an hour of the day it has hardly been seen in may be in a slow spell or a rest. After a gap
 * that was too long, one and a half times that gap is not too long; nor is a gap as on an earlier day.
 */
function orAsSlowAsBefore(
  due: Due,
  times: readonly number[],
  gaps: readonly number[],
  typicalGap: number,
): Due {
  if (typicalGap >= SUB_DAILY) return due
  const slots = times.map(slotsAt)
  const now = slots[slots.length - 1]!
  const known = gaps.filter((_, i) => sameHour(slots[i]!, now)).length
  if (known >= KNOWN_HOUR) return due
  const newest = gaps[gaps.length - 1]!
  const last = times[times.length - 1]!
  const earlier = gaps.filter((_, i) => hoursApart(slots[i]!, now) <= 1 && last - times[i]! > DAY / 2)
  const latest = Math.max(due.latest, newest > due.latest ? 1.5 * newest : 0, 1.15 * Math.max(0, ...earlier))
  return { ...due, latest }
}
/** Gaps that began in an hour of the day before its pace is known. */
const KNOWN_HOUR = 6
