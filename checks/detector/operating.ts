/**
 * Judges a percentage by whether its table is operating: active results are compared with active ones only, and
 * dormant ones alert on activity only.
 */
import type { Band } from './band.ts'
import { CYCLE_SLOTS, slotsAt, type Cycle, type Interval } from './calendar.ts'
import { roundDigits } from './rounding.ts'
import { feedRates, judgeAgainstFloor, judgeByRates, startRates, countHits } from './rate-bank.ts'
import type { RatesState } from './rate-bank.ts'
import { isActive, type Schedule } from './schedule.ts'

/** `off`: one baseline. `schedule`: active as the schedule says. `auto`: active as learned from its own history. */
export interface Operating {
  mode: 'off' | 'schedule' | 'auto'
  schedule?: Schedule
}

/** The learned calendar of `auto` mode: discounted results of each slot, and how many of them showed activity. */
interface CalendarState {
  active: number[]
  total: number[]
}

/** The learned state, as plain JSON. */
export interface OperatingState {
  /** The one baseline of all results; null in mode `schedule`, which always knows the period. */
  all: RatesState | null
  /** The baselines of the periods; null in mode `off`. */
  periods: { active: RatesState; dormant: RatesState } | null
  /** Null except in mode `auto`. */
  calendar: CalendarState | null
}

/** The share of rows that counts as no activity: 0.5 %. */
const DORMANT_FLOOR = 0.005
/** Active results needed before an active result is judged, and the same for dormant ones. */
const MIN_ACTIVE_RESULTS = 7
const MIN_DORMANT_RESULTS = 3
/** Significant digits stored of a slot's discounted results. */
const CALENDAR_DIGITS = 4
/** Results needed before the learned calendar is used. */
const MIN_CALENDAR_RESULTS = 14
/** Factor by which a slot's earlier results are discounted with each new one. */
const CALENDAR_MEMORY = 0.9

const CALENDAR_CYCLE: Record<Interval, Cycle | null> = {
  hourly: 'hourOfWeekend',
  daily: 'weekday',
  weekly: null,
}

export function startOperating(operating: Operating, interval: Interval): OperatingState {
  const cycle = operating.mode === 'auto' ? CALENDAR_CYCLE[interval] : null
  return {
    all: operating.mode === 'schedule' ? null : startRates(interval),
    periods:
      operating.mode === 'off'
        ? null
        : { active: startRates(interval), dormant: startRates(interval, false) },
    calendar: cycle && {
      active: Array<number>(CYCLE_SLOTS[cycle]).fill(0),
      total: Array<number>(CYCLE_SLOTS[cycle]).fill(0),
    },
  }
}

/**
 * Learns one result, in full if it is confirmed; changes `state` in place.
 * @param wasActive what the schedule said at the time; null consults today's schedule
 */
export function feedOperating(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  percent: number,
  total: number | null | undefined,
  wasActive: boolean | null = null,
  confirmed = false,
): void {
  const tally = countHits(percent, total)
  if (state.all) feedRates(interval, state.all, at, tally, confirmed)
  if (!state.periods) return
  const working = isWorking(percent)
  learnCalendar(state, interval, at, working)
  const active = findActive(operating, interval, state, at, wasActive) ?? working
  feedRates(interval, active ? state.periods.active : state.periods.dormant, at, tally, confirmed)
}

function isWorking(percent: number): boolean {
  return percent > 100 * DORMANT_FLOOR
}

function learnCalendar(state: OperatingState, interval: Interval, at: number, working: boolean): void {
  const cycle = CALENDAR_CYCLE[interval]
  if (!state.calendar || !cycle) return
  const slot = slotsAt(at)[cycle]
  const { active, total } = state.calendar
  active[slot] = roundDigits(active[slot]! * CALENDAR_MEMORY + (working ? 1 : 0), CALENDAR_DIGITS)
  total[slot] = roundDigits(total[slot]! * CALENDAR_MEMORY + 1, CALENDAR_DIGITS)
}

/** Whether the table operates at a moment; null while unknown, and in mode `off`. */
function findActive(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  scheduled: boolean | null,
): boolean | null {
  if (operating.mode === 'schedule')
    return scheduled ?? (operating.schedule ? isActive(operating.schedule, at) : true)
  const cycle = CALENDAR_CYCLE[interval]
  if (!state.calendar || !cycle || state.all!.count < MIN_CALENDAR_RESULTS || !isClearCut(state.calendar))
    return null
  return isSlotActive(state.calendar, slotsAt(at)[cycle])
}

/** Whether a slot is active; null until it was seen about twice, or once and agrees with its sibling, seen twice. */
function isSlotActive(calendar: CalendarState, slot: number): boolean | null {
  const { active, total } = calendar
  const verdict = active[slot]! > 0.5 * total[slot]!
  if (total[slot]! >= MIN_SLOT_WEIGHT) return verdict
  const twin = twinOf(calendar, slot)
  if (total[slot] === 0 || twin === null || total[twin]! < MIN_SLOT_WEIGHT) return null
  return active[twin]! > 0.5 * total[twin]! === verdict ? verdict : null
}
/** Slightly below 1 + CALENDAR_MEMORY. */
const MIN_SLOT_WEIGHT = 1.8

/** The slot of the same hour of the other days, working days or weekend; null among weekdays. */
function twinOf({ total }: CalendarState, slot: number): number | null {
  const hours = CYCLE_SLOTS.hour
  return total.length === 2 * hours ? (slot + hours) % (2 * hours) : null
}

/** Whether both kinds of slot exist and 90 % of the results agree with the verdict on their slot. */
function isClearCut(calendar: CalendarState): boolean {
  let agreeing = 0
  let known = 0
  let isAnyActive = false
  let isAnyDormant = false
  calendar.total.forEach((total, slot) => {
    const kind = isSlotActive(calendar, slot)
    if (kind === null) return
    if (kind) isAnyActive = true
    else isAnyDormant = true
    known += total
    agreeing += Math.max(calendar.active[slot]!, total - calendar.active[slot]!)
  })
  return isAnyActive && isAnyDormant && agreeing >= 0.9 * known
}

/**
 * Judges a result that has not been learned; null where too few results of its period are known to compare it with:
 * an active one is never compared with dormant ones, nor a dormant one with active ones.
 */
export function judgeOperating(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  percent: number,
  total: number | null | undefined,
  sensitivity: number,
  scheduled: boolean | null = null,
): Band | null {
  const tally = countHits(percent, total)
  const by = (rates: RatesState) => judgeByRates(interval, rates, at, tally, sensitivity)
  if (!state.periods) return by(state.all!)
  const { active, dormant } = state.periods
  const byActive = () => (active.count >= MIN_ACTIVE_RESULTS ? by(active) : null)
  const byFloor = () => judgeAgainstFloor(interval, dormant, at, tally, sensitivity, DORMANT_FLOOR)
  const isDormantKnown = dormant.count >= MIN_DORMANT_RESULTS
  const operates = findActive(operating, interval, state, at, scheduled)
  if (operates === true) return byActive()
  if (operates === false && (isDormantKnown || !state.all)) return isDormantKnown ? byFloor() : null
  // Inactivity in other slots is no evidence about a new one: its activity is compared with activity only.
  const working = isWorking(percent)
  if (operates === null && working && isNewSlot(state, interval, at)) return byActive()
  // In a table that is sometimes inactive, inactivity is no anomaly.
  if (operates === null && !working && isDormantKnown && active.count > 0) return byFloor()
  return by(state.all!)
}

/** Whether it is too early to know a slot of `auto` mode. */
function isNewSlot({ calendar }: OperatingState, interval: Interval, at: number): boolean {
  const cycle = CALENDAR_CYCLE[interval]
  return calendar !== null && cycle !== null && calendar.total[slotsAt(at)[cycle]]! < MIN_SLOT_WEIGHT
}
