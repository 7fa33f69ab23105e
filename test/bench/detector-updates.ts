/** The families of update times, each as the moments a table is updated and which of the gaps are too long. */
import { hourOf, isWeekend } from './detector-draft.ts'
import type { Random } from './detector-random.ts'

const HOUR = 3600
const DAY = 24 * HOUR
/** Quantile of the gaps. */
const LATE_SHARE = 0.04
/** Updates before the first late one. */
const ON_TIME = 13

export interface Updates {
  /** Epoch seconds. */
  at: number[]
  isLate: boolean[]
}

export const updateFamilies: Record<string, (r: Random) => Updates> = {
  f_hourly: r => byGaps(r, r.pick([100, 200, 400]), HOUR, () => HOUR * (1 + 0.066 * r.normal())),
  f_daily: r => byClock(r, r.pick([30, 60, 120]), DAY, lateness(r), () => true),
  f_weekdays: r => byClock(r, r.pick([30, 60, 120]), DAY, lateness(r), at => !isWeekend(at)),
  f_biz_hours: businessHours,
  f_poisson: poisson,
  f_streaming_night: streamingNight,
  f_weekly: r =>
    byClock(
      r,
      r.pick([15, 26, 52]),
      7 * DAY,
      () => HOUR * r.uniform(0, 4),
      () => true,
    ),
}

/** How much longer a late gap is, in periods. */
const tooLong = (r: Random) => r.uniform(1.5, 5)

function firstOf(r: Random): number {
  return Date.UTC(2023, 0, 1) / 1000 + r.integer(0, 500) * DAY + 5 * HOUR
}

/** Minutes after the hour that it is done, now and then much more. */
function lateness(r: Random): () => number {
  const typical = r.uniform(120, 1800)
  return () => typical * r.gamma(1)
}

/**
 * The next update comes a gap after the last one, which a late one adds periods to; `open` moves it to a time of
 * work.
 */
function byGaps(
  r: Random,
  length: number,
  period: number,
  gap: (at: number) => number,
  open = (at: number) => at,
): Updates {
  const at = [firstOf(r)]
  const isLate = [false]
  while (at.length < length) {
    const last = at[at.length - 1]!
    const late = at.length > ON_TIME && r.chance(LATE_SHARE)
    at.push(Math.floor(open(last + gap(last) + (late ? period * tooLong(r) : 0))))
    isLate.push(late)
  }
  return { at, isLate }
}

/** Due at the same time each period; a late update is one of a later period, and the ones between are missing. */
function byClock(
  r: Random,
  length: number,
  period: number,
  lateBy: () => number,
  isDue: (at: number) => boolean,
): Updates {
  const first = firstOf(r)
  const hour = r.integer(0, 4) * HOUR
  const at = [first]
  const isLate = [false]
  let missing = 0
  let late = false
  for (let due = first + hour; at.length < length; due += period) {
    if (!isDue(due) || due < first + DAY / 2) continue
    if (missing > 0) {
      missing--
      continue
    }
    at.push(Math.floor(due + lateBy()))
    isLate.push(late)
    late = at.length > ON_TIME - 4 && r.chance(LATE_SHARE)
    if (late) missing = Math.round(tooLong(r))
  }
  return { at, isLate }
}

/** Every half hour of the working day. */
function businessHours(r: Random): Updates {
  const opens = r.integer(6, 9)
  const closes = opens + r.integer(9, 12)
  const isOpen = (at: number) => !isWeekend(at) && hourOf(at) >= opens && hourOf(at) < closes
  const open = (at: number) => {
    if (isOpen(at)) return at
    let next = Math.floor(at / HOUR) * HOUR
    while (!isOpen(next)) next += HOUR
    return next + r.uniform(0, 600)
  }
  return byGaps(r, r.pick([150, 300, 400]), HOUR / 2, () => HOUR / 2 + 216 * r.normal(), open)
}

/** At no particular time. */
function poisson(r: Random): Updates {
  const typical = r.logUniform(1000, 20_000)
  return byGaps(r, r.pick([60, 150, 300]), typical, () => Math.max(30, (typical * r.gamma(2)) / 2))
}

/** Every quarter of an hour, and every hour and a half at night. */
function streamingNight(r: Random): Updates {
  const typical = r.uniform(780, 860)
  const gap = (at: number) => typical * (hourOf(at) < 6 ? 6 : 1) * r.uniform(0.6, 1.4)
  return byGaps(r, r.pick([200, 400]), typical, gap)
}
