/**
 * A bank of robust predictors that run over a metric side by side, each scored by how well it predicts. All of it
 * is a forward recursion: the state after a point depends on the points up to it only.
 */
import { CYCLE_SLOTS, INTERVAL_SECONDS, slotsAt, type Cycle, type Interval, type Slots } from './calendar.ts'
import type { Bank } from './designs.ts'
import { floorAt, isHopeless, noteKind, noteSize, startFacts, type Facts } from './facts.ts'
import { learnValue, predict, startPredictor, type Design, type Moment, type Predictor } from './predictor.ts'
import type { Scale } from './scales.ts'

/** A value and the time it was captured. */
export interface TimedValue {
  at: number
  value: number
}

/** What a bank has learned, as plain JSON. */
export interface BankState {
  facts: Facts
  firstAt: number
  lastAt: number
  /** The last value of an interval before the last value's own. */
  before: TimedValue | null
  /** How often each slot was seen, for the cycles relevant to the capture interval. */
  seen: Partial<Record<Cycle, number[]>>
  /** The values expected in place of recent surprising ones, and how many points ago each was. */
  surprises: { expected: number; age: number }[]
  /** In the order of the bank's designs; null for a predictor that was dropped. */
  predictors: (Predictor | null)[]
}

/** Points before a predictor's score counts; the first predictions are mostly luck. */
const MIN_SCORED_POINTS = 3
/** Points before predictors may be dropped, and how many nats behind the best they must be. */
const RACE_POINTS = 50
const MAX_DEFICIT_NATS = 40

export function startBank(bank: Bank): BankState {
  return {
    facts: startFacts(),
    firstAt: 0,
    lastAt: 0,
    before: null,
    seen: {},
    surprises: [],
    predictors: bank.designs.map(startPredictor),
  }
}

/**
 * Learns one value; changes `state` in place.
 * @param confirmed whether a user confirmed the value as expected; it is then learned in full, however far off it is
 */
export function feedBank(bank: Bank, state: BankState, at: number, value: number, confirmed = false): void {
  const { facts } = state
  noteKind(facts, value)
  const slots = slotsAt(at)
  const elapsed = intervalsBetween(bank, state.lastAt, at)
  const isSecond = isRepeatedCapture(bank, state, at)
  const moment = { slots, lag: isSecond ? 0 : elapsed }
  const scored = state.facts.count >= MIN_SCORED_POINTS && !isSecond
  let shared: ScaledValue | null = null
  bank.designs.forEach((design, i) => {
    const predictor = state.predictors[i]
    if (!predictor || (design.scale.ofStep && (state.facts.count === 0 || isSecond))) return
    if (isHopeless(facts, design.scale)) {
      state.predictors[i] = null
      return
    }
    if (shared?.scale !== design.scale)
      shared = scaleValue(bank, state, design.scale, value, state.facts.last, elapsed)
    const use = predictor.anchor
      ? closerStep(bank, state, predictor, design, moment, value, facts.last, elapsed)
      : shared
    const size = learnValue(predictor, design, moment, use.x, use.floor, use.logJacobian, scored, confirmed)
    if (design.scale.ofStep) keepAnchor(predictor, state.facts.last, size)
  })
  if (facts.count >= RACE_POINTS) giveUp(state)
  noteSeen(bank, state, slots)
  if (facts.count > 0 && !isSecond) state.before = { at: state.lastAt, value: facts.last }
  if (facts.count === 0) state.firstAt = at
  state.lastAt = at
  noteSize(facts, value)
}

/** Drops predictors so far behind that, after any change of the series, a better one would win first. */
function giveUp(state: BankState): void {
  let best = -Infinity
  for (const predictor of state.predictors) if (predictor?.points) best = Math.max(best, predictor.score)
  state.predictors.forEach((predictor, i) => {
    if (predictor?.points && predictor.score < best - MAX_DEFICIT_NATS) state.predictors[i] = null
  })
}

function noteSeen(bank: Bank, state: BankState, slots: Slots): void {
  for (const cycle of SEEN_CYCLES[bank.interval]) {
    const seen = (state.seen[cycle] ??= Array<number>(CYCLE_SLOTS[cycle]).fill(0))
    seen[slots[cycle]]!++
  }
}

/** The cycles whose slots are counted. */
export const SEEN_CYCLES: Record<Interval, readonly Cycle[]> = {
  hourly: ['hour'],
  daily: ['weekday', 'weekend', 'monthEdge'],
  weekly: [],
}

/** Intervals between two captures, at least one: when captures are missing, the step is spread over the gap. */
export function intervalsBetween(bank: Bank, from: number, to: number): number {
  return Math.max(1, Math.round((to - from) / INTERVAL_SECONDS[bank.interval]))
}

/**
 * Whether a value comes less than half an interval after the previous one, as after a manual capture. It is
 * judged as the previous one was, against the interval before, and is not used to learn the steps between intervals.
 */
export function isRepeatedCapture(bank: Bank, state: BankState, at: number): boolean {
  return state.facts.count > 0 && at - state.lastAt < INTERVAL_SECONDS[bank.interval] / 2
}

/** A value on a working scale, with the resolution there. */
interface ScaledValue {
  scale: Scale
  x: number
  floor: number
  logJacobian: number
  /** The value from which a step is measured. */
  from: number
}

function scaleValue(
  bank: Bank,
  state: BankState,
  scale: Scale,
  value: number,
  from: number,
  elapsed: number,
): ScaledValue {
  const amount = scale.ofStep ? (value - from) / elapsed : value
  return {
    scale,
    x: scale.forward(amount),
    floor: floorAt(bank.domain, state.facts, scale, amount),
    logJacobian: scale.logJacobian(amount),
    from,
  }
}

/** Right after a gross step outlier the step is measured from the last accepted value, where that fits better. */
export function closerStep(
  bank: Bank,
  state: BankState,
  predictor: Predictor,
  design: Design,
  moment: Moment,
  value: number,
  from: number,
  elapsed: number,
): ScaledValue {
  const usual = scaleValue(bank, state, design.scale, value, from, elapsed)
  if (!predictor.anchor || predictor.points === 0) return usual
  const anchored = scaleValue(bank, state, design.scale, value, predictor.anchor.value, elapsed)
  const { mean } = predict(predictor, design, moment)
  return Math.abs(anchored.x - mean) < Math.abs(usual.x - mean) ? anchored : usual
}

/** Keeps the value before a step beyond 5 sd for as long as such steps follow, four at most. */
function keepAnchor(predictor: Predictor, before: number, size: number): void {
  if (Math.abs(size) <= 5) {
    predictor.anchor = undefined
    return
  }
  predictor.anchor ??= { value: before, age: 0 }
  if (++predictor.anchor.age > 3) predictor.anchor = undefined
}
