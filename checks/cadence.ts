/** Predicts when the next update of a table is due, from the times of its updates. */
import { DAY, HOUR, slotsAt, WEEK } from './detector/calendar.ts'
import { median } from './detector/robust.ts'
import {
  learnActivityClock,
  momentOnClock,
  secondsOnClock,
  MIN_GAP_SECONDS,
  slotOf,
  type ActivityClock,
} from './activity-clock.ts'

export { median } from './detector/robust.ts'

export interface Cadence {
  /** The usual time of the next update, epoch seconds. */
  expectedNext: number
  /** When its absence becomes unusual at the given sensitivity, epoch seconds. */
  deadline: number
  /** Median of the gaps between updates, seconds. */
  typicalGapSeconds: number
}

/** Updates needed before a prediction. */
export const MIN_UPDATES = 7
/** A table whose typical gap is shorter follows the hour of the day. */
const SUB_DAILY = 12 * HOUR
/** A table whose typical gap is shorter follows the weekday. */
const SUB_WEEKLY = 3 * DAY

/**
 * Learns the cadence from update times (epoch seconds): the median of comparable gaps, and `sensitivity` (default 3)
 * times their spread beyond it. Sorts the times and drops duplicates. Null with fewer than 7 updates.
 */
export function learnCadence(updateTimes: readonly number[], sensitivity = 3): Cadence | null {
  const times = sortTimes(updateTimes)
  if (times.length < MIN_UPDATES) return null
  const all = updatesAt(times)
  const { last, typicalGap: typicalGapSeconds } = all
  const lately = times.filter(at => at > last - RECENT_SECONDS)
  const isSubDaily = typicalGapSeconds < SUB_DAILY && lately.length >= MIN_UPDATES
  const { usual, latest } = isSubDaily
    ? dueByClock(updatesAt(lately), sensitivity)
    : dueByWeekday(all, sensitivity)
  return { expectedNext: last + usual, deadline: last + latest, typicalGapSeconds }
}

/** The period from which hours are learned: the last twelve weeks. */
const RECENT_SECONDS = 12 * WEEK

/** The range of a JavaScript Date, in epoch seconds. */
const MAX_EPOCH_SECONDS = 8.64e12

function sortTimes(times: readonly number[]): readonly number[] {
  const isMoment = (at: number) => Math.abs(at) <= MAX_EPOCH_SECONDS
  const isInOrder = times.every((at, i) => isMoment(at) && (i === 0 || at > times[i - 1]!))
  return isInOrder ? times : [...new Set(times.filter(isMoment))].sort((a, b) => a - b)
}

interface Updates {
  /** Epoch seconds, ascending. */
  times: readonly number[]
  gaps: readonly number[]
  typicalGap: number
  last: number
}

function updatesAt(times: readonly number[]): Updates {
  const gaps = times.slice(1).map((at, i) => at - times[i]!)
  return { times, gaps, typicalGap: median(gaps), last: times[times.length - 1]! }
}

/** Seconds after the last update. */
interface DueTimes {
  usual: number
  latest: number
}

/** Number of gaps from which a deadline is learned. */
const MAX_GAPS = 120
/** The minimum sd of a gap: relative to the usual gap, and in seconds. */
const MIN_RELATIVE_SD = 0.07
const MIN_SD_SECONDS = 100

/**
 * The median, plus `sensitivity` sd. Computed on square roots, where both regular gaps and those between random events
 * (gamma, exponential) have nearly normal tails. The fewer the gaps, the less certain their sd.
 * @param doubt variance of the logarithm of the pace
 */
function dueAfter(gaps: readonly number[], sensitivity: number, doubt = 0): DueTimes {
  const roots = gaps.map(Math.sqrt)
  const usual = median(roots)
  // The root's sd is that of the gap over twice the root.
  const least = Math.max(MIN_RELATIVE_SD * usual, MIN_SD_SECONDS / usual) / 2
  const sd = Math.max(least, spreadAround(usual, roots) * (1 + 2 / roots.length))
  const beyond = sensitivity * Math.hypot(sd, (usual * Math.sqrt(doubt)) / 2)
  const middle = median(gaps)
  return { usual: middle, latest: Math.max(middle, (usual + beyond) ** 2) }
}

/**
 * An estimate of the sd that late updates do not inflate: the one at which the mean squared standardised deviation,
 * with each square capped, equals that of the normal (proposal 2 of Huber 1964). By bisection.
 */
function spreadAround(centre: number, values: readonly number[]): number {
  const squares = values.map(value => (value - centre) ** 2)
  let low = 0
  let high = Math.max(...squares)
  for (let i = 0; i < FIT_STEPS; i++) {
    const middle = (low + high) / 2
    let sum = 0
    for (const square of squares) sum += Math.min(LARGEST_SQUARE, square / middle)
    if (sum > EXPECTED_SQUARE * squares.length) low = middle
    else high = middle
  }
  return Math.sqrt(high)
}
const FIT_STEPS = 30
const LARGEST_SQUARE = 2.706
const EXPECTED_SQUARE = 0.8313

/** The slowest pace at which a gap is assumed to continue. */
const MIN_SPEED = 0.05

/** A gap beyond this score was too long at any sensitivity. */
const LONG_GAP_SCORE = 3

/** Predicts from gaps measured on the activity clock. */
function dueByClock(updates: Updates, sensitivity: number): DueTimes {
  const { times, gaps, typicalGap, last } = updates
  const pace = learnActivityClock(times, gaps, typicalGap)
  const recent = times.slice(-MAX_GAPS - 1)
  const passed = recent
    .slice(1)
    .map((at, i) => Math.max(MIN_GAP_SECONDS, secondsOnClock(pace.speeds, recent[i]!, at)))
  const slot = slotOf(last)
  const dueAt = (score: number): DueTimes => {
    const { usual, latest } = dueAfter(passed, score, pace.doubts[slot])
    // A gap that began at a slow pace may well end at it.
    const atThisPace = latest / Math.max(MIN_SPEED, pace.speeds[slot]!)
    return {
      usual: momentOnClock(pace.speeds, last, usual) - last,
      latest: Math.max(atThisPace, momentOnClock(pace.speeds, last, latest) - last),
    }
  }
  const { usual, latest } = dueAt(sensitivity)
  return { usual, latest: Math.max(latest, latestWhileUnknown(updates, pace, dueAt(LONG_GAP_SCORE))) }
}

/** A table whose typical gap is at most this may rest every night. */
const FREQUENT_SECONDS = 45 * 60
/** Updates without a rest, a working day at a half-hourly pace, after which a table is assumed never to rest. */
const WORKING_DAY_UPDATES = 30
/** An hour of the day is known once it was observed twice, or this many gaps began in it. */
const KNOWN_DAYS = 2
const KNOWN_GAPS = 6
/** How much longer than a long gap in an unknown hour the next may be; how much longer than on an earlier day. */
const AFTER_LONG_FACTOR = 2
const AS_EARLIER_FACTOR = 1.4

/**
 * The latest time in an hour of the day that is not yet known. After a gap that was too long, up to twice that gap is
 * allowed, and so is about the gap of an earlier day. On its first day a frequent table may start to rest at any time.
 */
function latestWhileUnknown(
  { times, gaps, typicalGap, last }: Updates,
  pace: ActivityClock,
  due: DueTimes,
): number {
  const isFirstDay = last - times[0]! < DAY
  if (isFirstDay && typicalGap <= FREQUENT_SECONDS && times.length < WORKING_DAY_UPDATES) return DAY
  const hour = slotOf(last) % 24
  const hours = gaps.map((_, i) => slotOf(times[i]!) % 24)
  if (pace.days[hour]! >= KNOWN_DAYS || hours.filter(other => other === hour).length >= KNOWN_GAPS) return 0
  const newest = gaps[gaps.length - 1]!
  const earlier = gaps.filter((_, i) => hoursApart(hours[i]!, hour) <= 1 && last - times[i]! > DAY / 2)
  return Math.max(
    newest > due.latest ? AFTER_LONG_FACTOR * newest : 0,
    AS_EARLIER_FACTOR * Math.max(0, ...earlier),
  )
}

function hoursApart(a: number, b: number): number {
  const apart = Math.abs(a - b)
  return Math.min(apart, 24 - apart)
}

/** Gaps that began on the same weekday before they are compared among themselves. */
const MIN_ALIKE_GAPS = 3

/** Predicts from gaps that began on the same weekday, if there are enough and the table is not updated weekly. */
function dueByWeekday({ times, gaps, typicalGap, last }: Updates, sensitivity: number): DueTimes {
  const today = slotsAt(last).weekday
  const isAlike = (i: number) => typicalGap >= SUB_WEEKLY || slotsAt(times[i]!).weekday === today
  const alike = gaps.filter((_, i) => isAlike(i)).slice(-MAX_GAPS)
  if (alike.length >= MIN_ALIKE_GAPS) return dueAfter(alike, sensitivity)
  const all = gaps.slice(-MAX_GAPS)
  const due = dueAfter(all, sensitivity)
  if (alike.length === 0) return { ...due, latest: Math.max(due.latest, 1.1 * Math.max(...all)) }
  return { usual: median(alike), latest: Math.max(due.latest, 1.15 * Math.max(...alike)) }
}
