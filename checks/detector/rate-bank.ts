/**
 * Judges a percentage of counted rows: baseline rates, overall and by slot, run over the series, and the one that
 * has predicted it best so far gives the verdict.
 */
import { isMuchCloser, type Band, type Basis } from './band.ts'
import { DAY, slotsAt, WEEK, type Cycle, type Interval, type Slots } from './calendar.ts'
import { hitsAt, scoreHits, type Outlook } from './outlook.ts'
import { learnRate, forecast, startRate, type RateDesign, type RateState, type HitCount } from './rate.ts'

/** What a bank of rates has learned, as plain JSON. */
export interface RatesState {
  count: number
  firstAt: number
  /** How often each slot of the interval has been seen. */
  seen: number[]
  /** In the order of `DESIGNS`, in which overall rates come first. */
  rates: RateState[]
}

/** Row count assumed for a percentage stored without one. */
const ASSUMED_ROWS = 1000
/** More rows add no information, and the product of three such numbers does not overflow. */
const MAX_ROWS = 1e15
/** Consecutive outliers that establish a new level. */
const NEW_LEVEL_OUTLIERS: Record<Interval, number> = { hourly: 4, daily: 3, weekly: 3 }

/** The discount factor of the past per result, for rates that forget. */
const RECENT_MEMORY = 0.93

const cycles: Record<Interval, (Cycle | null)[]> = {
  hourly: [null, 'hour', 'hourOfWeekend'],
  daily: [null, 'weekend', 'weekday'],
  weekly: [null],
}

const DESIGNS: Record<Interval, readonly RateDesign[]> = {
  hourly: cycles.hourly.flatMap(withMemories),
  daily: cycles.daily.flatMap(withMemories),
  weekly: cycles.weekly.flatMap(withMemories),
}

/** A slot forgets results five cycles old; an overall rate may remember everything. */
function withMemories(cycle: Cycle | null): RateDesign[] {
  if (cycle) return [{ cycle, memory: RECENT_MEMORY, handicap: 1.5 }]
  return [
    { cycle, memory: 1, handicap: 0 },
    { cycle, memory: RECENT_MEMORY, handicap: 0.5 },
  ]
}

/** @param isSeasonal whether slots may differ; a bank that must not has overall rates only */
export function startRates(interval: Interval, isSeasonal = true): RatesState {
  const designs = DESIGNS[interval].filter(design => isSeasonal || !design.cycle)
  return { count: 0, firstAt: 0, seen: [], rates: designs.map(startRate) }
}

/** The rows behind a percentage. */
export function countHits(percent: number, total: number | null | undefined): HitCount {
  const rows = Math.min(MAX_ROWS, Math.max(1, total ?? ASSUMED_ROWS))
  return { hits: (percent / 100) * rows, rows }
}

/** Learns one result, in full if it is confirmed; changes `state` in place. */
export function feedRates(
  interval: Interval,
  state: RatesState,
  at: number,
  tally: HitCount,
  confirmed = false,
): void {
  const slots = slotsAt(at)
  const result = { at, slots, hits: tally.hits, rows: tally.rows, confirmed }
  state.rates.forEach((rate, i) =>
    learnRate(rate, DESIGNS[interval][i]!, NEW_LEVEL_OUTLIERS[interval], result, state.count >= 3),
  )
  if (state.count === 0) state.firstAt = at
  state.count++
  const slot = slotOfInterval(interval, slots)
  while (state.seen.length <= slot) state.seen.push(0)
  state.seen[slot]!++
}

function slotOfInterval(interval: Interval, slots: Slots): number {
  if (interval === 'hourly') return slots.hourOfWeekend
  return interval === 'daily' ? slots.weekday : 0
}

/** How long a value its slot has already shown serves as a second opinion, in seconds. */
const FIRST_CYCLES: Record<Interval, number> = { hourly: 4 * DAY, daily: 22 * DAY, weekly: 22 * DAY }
/** A seasonal rate is eligible after this time. */
const SEASONAL_AFTER: Record<Interval, number> = { hourly: DAY, daily: WEEK, weekly: 0 }
/** Rates within this many nats of the best count as equally good. */
const AS_GOOD = 2
/** Sd of the rate in a slot never seen before: absolute, and relative to the rate. */
const UNSEEN: Record<Interval, [absolute: number, relative: number]> = {
  hourly: [0.05, 1],
  daily: [0.03, 0.5],
  weekly: [0, 0],
}

/** Judges a result that has not been learned, in percent; needs at least one earlier result. */
export function judgeByRates(
  interval: Interval,
  state: RatesState,
  at: number,
  tally: HitCount,
  sensitivity: number,
): Band {
  const { view, score, basis } = mildestOpinion(interval, state, at, tally)
  let zScore = score
  let high = hitsAt(view, sensitivity)
  let low = hitsAt(view, -sensitivity)
  const slots = slotsAt(at)
  const sd = state.seen[slotOfInterval(interval, slots)] ? 0 : unseenSpread(interval, view.probability)
  if (sd > 0) {
    const wide = (tally.hits / tally.rows - view.probability) / sd
    if (Math.abs(wide) < Math.abs(zScore)) zScore = wide
    high = Math.min(tally.rows, Math.max(high, (view.probability + sensitivity * sd) * tally.rows))
    low = Math.max(0, Math.min(low, (view.probability - sensitivity * sd) * tally.rows))
  }
  const percent = (hits: number) => (100 * hits) / tally.rows
  return { expected: 100 * view.probability, low: percent(low), high: percent(high), zScore, basis }
}

function unseenSpread(interval: Interval, probability: number): number {
  const [absolute, relative] = UNSEEN[interval]
  return absolute + relative * probability
}

/** Judges against a fixed floor when the learned rate is below it, on the high side only. */
export function judgeAgainstFloor(
  interval: Interval,
  state: RatesState,
  at: number,
  tally: HitCount,
  sensitivity: number,
  floor: number,
): Band {
  const best = ranked(interval, state, at)[0]!
  const learned = forecast(state.rates[best.i]!, DESIGNS[interval][best.i]!, slotsAt(at), tally.rows)
  const view = { ...learned, probability: Math.max(floor, learned.probability) }
  const percent = (hits: number) => (100 * hits) / tally.rows
  return {
    expected: 100 * learned.probability,
    low: 0,
    high: percent(hitsAt(view, sensitivity)),
    zScore: Math.max(0, scoreHits(view, tally.hits)),
    basis: { kind: 'dormant', cycle: null, slot: null, sightings: state.count },
  }
}

interface RateOpinion {
  view: Outlook
  score: number
  basis: Basis
}

/** The best rate's opinion, unless one that is as good finds the result less surprising. */
function mildestOpinion(interval: Interval, state: RatesState, at: number, tally: HitCount): RateOpinion {
  const slots = slotsAt(at)
  const candidates = ranked(interval, state, at)
  const bestScore = candidates[0]!.score
  const firstCycles = at - state.firstAt < FIRST_CYCLES[interval]
  const found = tally.hits / tally.rows
  let mildest: RateOpinion | null = null
  for (const { i, score } of candidates) {
    const design = DESIGNS[interval][i]!
    const rate = state.rates[i]!
    const asGood = score >= bestScore - AS_GOOD
    const hasSeenSlot = design.cycle !== null && rate.sightings[slots[design.cycle]]! > 0
    if (!asGood && !(firstCycles && hasSeenSlot)) continue
    const view = forecast(rate, design, slots, tally.rows)
    const opinion = { view, score: scoreHits(view, tally.hits), basis: basisOf(state, rate, design, slots) }
    if (mildest && !asGood && !isMuchCloser(found, view.probability, mildest.view.probability)) continue
    if (!mildest || Math.abs(opinion.score) < Math.abs(mildest.score)) mildest = opinion
  }
  return mildest!
}

function basisOf(state: RatesState, rate: RateState, { cycle, memory }: RateDesign, slots: Slots): Basis {
  const sightings = cycle ? rate.sightings[slots[cycle]]! : 0
  if (cycle && sightings > 0) return { kind: 'slot', cycle, slot: slots[cycle], sightings }
  return { kind: memory < 1 ? 'recent' : 'level', cycle: null, slot: null, sightings: state.count }
}

/** The eligible rates, the best first. */
function ranked(interval: Interval, state: RatesState, at: number): { i: number; score: number }[] {
  const seasonal = at - state.firstAt >= SEASONAL_AFTER[interval]
  const candidates: { i: number; score: number }[] = []
  state.rates.forEach((rate, i) => {
    const { cycle, handicap } = DESIGNS[interval][i]!
    if (seasonal || !cycle) candidates.push({ i, score: rate.score - handicap })
  })
  return candidates.sort((a, b) => b.score - a.score)
}
