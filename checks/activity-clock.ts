/**
 * The update rate of a table by hour: most tables are updated less at night and not at the weekend. Gaps between
 * updates are measured on a clock that runs fast in busy hours, slowly in quiet ones, and stops in hours of rest.
 */
import { HOUR } from './detector/calendar.ts'

/** Hours of a day. A second set of slots holds the hours of a weekend day. */
const HOURS = 24

/** The learned pace by hour. All arrays have 48 slots: 24 hours of a working day, then 24 of a weekend day. */
export interface ActivityClock {
  /** The speed of the clock: 1 at the usual pace of updates, 0 at rest. */
  speeds: readonly number[]
  /** Variance of the logarithm of the speed. */
  doubts: readonly number[]
  /** Days on which the hour was observed. */
  days: readonly number[]
}

/** Learns the pace from update times (epoch seconds, ascending) and the gaps between them. */
export function learnActivityClock(
  times: readonly number[],
  gaps: readonly number[],
  typicalGap: number,
): ActivityClock {
  const rests = learnRests(times, gaps, typicalGap)
  const hours = shrunkToMean(speedsOfHours(times, gaps, typicalGap, rests))
  const ofSlots = (value: (hour: number) => number) =>
    Array.from({ length: 2 * HOURS }, (_, slot) => value(slot % HOURS))
  return {
    speeds: ofSlots(hour => Math.exp(hours.means[hour]!)).map((speed, slot) => (rests[slot] ? 0 : speed)),
    doubts: ofSlots(hour => hours.doubts[hour]!),
    days: ofSlots(hour => hours.weights[hour]!),
  }
}

export function slotOf(at: number): number {
  return slotOfHour(Math.floor(at / HOUR))
}

/** The slot of an hour counted from 1970-01-01 00:00, a Thursday. */
function slotOfHour(hour: number): number {
  const weekHour = (((hour + 3 * HOURS) % WEEK_HOURS) + WEEK_HOURS) % WEEK_HOURS
  return (weekHour % HOURS) + (weekHour >= 5 * HOURS ? HOURS : 0)
}
const WEEK_HOURS = 7 * HOURS

/** Seconds between two moments on the activity clock. */
export function secondsOnClock(speeds: readonly number[], from: number, to: number): number {
  let seconds = 0
  for (let at = from; at < to;) {
    const next = Math.min(to, endOfHour(at))
    seconds += speeds[slotOf(at)]! * (next - at)
    at = next
  }
  return seconds
}

/** The moment when `seconds` have passed on the activity clock since `from`; looks at most 12 weeks ahead. */
export function momentOnClock(speeds: readonly number[], from: number, seconds: number): number {
  let at = from
  let left = seconds
  for (let hours = 0; hours < 12 * WEEK_HOURS; hours++) {
    const next = endOfHour(at)
    const speed = speeds[slotOf(at)]!
    if (left <= speed * (next - at)) return at + (left > 0 ? left / speed : 0)
    left -= speed * (next - at)
    at = next
  }
  return at
}

function endOfHour(at: number): number {
  return (Math.floor(at / HOUR) + 1) * HOUR
}

/** A gap is a rest when it is at least this long, and this many times the typical gap: more than any delay. */
const MIN_REST_SECONDS = 3 * HOUR
const MIN_REST_GAPS = 8
/** A slot rests when it did so on about two days of three. */
const MIN_REST_SHARE = 0.66
/** Hours of rest on working days from which rest is assumed for a weekend not yet observed. */
const MIN_REST_HOURS = 3

/** Whether a table rests in each slot: whether whole hours of the slot fell within rests. */
function learnRests(times: readonly number[], gaps: readonly number[], typicalGap: number): boolean[] {
  const lived = Array<number>(2 * HOURS).fill(0)
  const rested = Array<number>(2 * HOURS).fill(0)
  const count = (counts: number[], from: number, to: number) => {
    for (let hour = from; hour < to; hour++) counts[slotOfHour(hour)]!++
  }
  count(lived, Math.floor(times[0]! / HOUR), Math.floor(times[times.length - 1]! / HOUR) + 1)
  const shortest = Math.max(MIN_REST_SECONDS, MIN_REST_GAPS * typicalGap)
  gaps.forEach((gap, i) => {
    if (gap >= shortest) count(rested, Math.ceil(times[i]! / HOUR), Math.floor(times[i + 1]! / HOUR))
  })
  const rests = rested.map((n, slot) => n > 0 && n >= MIN_REST_SHARE * lived[slot]!)
  const hoursOff = rests.slice(0, HOURS).filter(Boolean).length
  return rests.map(
    (isRest, slot) => isRest || (slot >= HOURS && lived[slot] === 0 && hoursOff >= MIN_REST_HOURS),
  )
}

/** One observation of the speed in an hour of the day. */
interface HourObservation {
  hour: number
  /** Logarithm of the speed. */
  value: number
  /** The observed share of the hour. */
  weight: number
}

/** Shorter parts of an hour are ignored. */
const MIN_PART_SECONDS = HOUR / 6
/** Minimum gap in seconds: a table is never checked more often. */
export const MIN_GAP_SECONDS = 60

/** Each hour's speed: the part of a gap that passed in it per second, against one typical gap per typical gap. */
function speedsOfHours(
  times: readonly number[],
  gaps: readonly number[],
  typicalGap: number,
  rests: readonly boolean[],
): HourObservation[] {
  const awake = rests.map(isRest => (isRest ? 0 : 1))
  const sightings: HourObservation[] = []
  let hour = Math.floor(times[0]! / HOUR)
  let seconds = 0
  let parts = 0
  gaps.forEach((_, i) => {
    const length = Math.max(MIN_GAP_SECONDS, secondsOnClock(awake, times[i]!, times[i + 1]!))
    for (let at = times[i]!; at < times[i + 1]!;) {
      const next = Math.min(times[i + 1]!, endOfHour(at))
      const lived = awake[slotOf(at)]! * (next - at)
      seconds += lived
      parts += lived / length
      if (next === endOfHour(at)) {
        addObservation()
        hour++
      }
      at = next
    }
  })
  addObservation()
  return sightings

  function addObservation(): void {
    if (seconds >= MIN_PART_SECONDS) {
      const value = Math.log((parts * typicalGap) / seconds)
      sightings.push({ hour: ((hour % HOURS) + HOURS) % HOURS, value, weight: seconds / HOUR })
    }
    seconds = 0
    parts = 0
  }
}

/** Differences between hours count only beyond this multiple of what chance produces among equal hours. */
const CHANCE_FACTOR = 1.5

/**
 * The mean of each hour of the day minus the overall mean, shrunk by how much hours differ beyond chance (empirical
 * Bayes, Efron & Morris 1975): with variance V between hours and v / n of an hour's mean, by V / (V + v / n).
 */
function shrunkToMean(sightings: readonly HourObservation[]): {
  means: number[]
  doubts: number[]
  weights: number[]
} {
  const weights = Array<number>(HOURS).fill(0)
  const sums = Array<number>(HOURS).fill(0)
  for (const { hour, value, weight } of sightings) {
    weights[hour]! += weight
    sums[hour]! += weight * value
  }
  const means = sums.map((sum, hour) => (weights[hour] ? sum / weights[hour]! : 0))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const mean = sums.reduce((sum, part) => sum + part, 0) / total
  const within = sightings.reduce(
    (sum, { hour, value, weight }) => sum + weight * (value - means[hour]!) ** 2,
    0,
  )
  const freedom = weights.reduce((sum, weight) => sum + Math.max(0, weight - 1), 0)
  const noise = freedom > 0 ? within / freedom : Infinity
  const spread = means.reduce((sum, value, hour) => sum + weights[hour]! * (value - mean) ** 2, 0) / total
  const between = spread - (CHANCE_FACTOR * noise * weights.filter(weight => weight > 0).length) / total
  if (!(between > 0)) return { means: means.map(() => 0), doubts: means.map(() => 0), weights }
  return {
    means: means.map((value, hour) =>
      weights[hour] ? ((value - mean) * between) / (between + noise / weights[hour]!) : 0,
    ),
    // An hour never observed is as uncertain as hours differ, even when the observed ones are alike.
    doubts: weights.map(weight => (weight ? (between * noise) / (noise + weight * between) : between)),
    weights,
  }
}
