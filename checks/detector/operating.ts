/**
 * Judges a percentage with regard to when its table operates: active results are compared with active ones only,
 * dormant ones alert on activity only.
 */
import type { Band, Direction } from './band.ts'
import { CYCLE_SLOTS, slotsAt, type Cycle, type Interval } from './calendar.ts'
import { feedRates, judgeAgainstFloor, judgeByRates, startRates, tallyOf } from './rates.ts'
import type { RatesState } from './rates.ts'
import { isActive, type Schedule } from './schedule.ts'

/** `off`: one baseline. `schedule`: active when the schedule says so. `auto`: active when its own history says so. */
export interface Operating {
  mode: 'off' | 'schedule' | 'auto'
  schedule?: Schedule
}

/** The learned calendar of `auto` mode: discounted results of each slot, and how many of them showed activity. */
interface CalendarState {
  active: number[]
  total: number[]
}

/** What has been learned, as plain JSON. */
export interface OperatingState {
  all: RatesState
  /** The baselines of the periods; null in mode `off`. */
  periods: { active: RatesState; dormant: RatesState } | null
  /** Null but in mode `auto`. */
  calendar: CalendarState | null
}

/** The share of rows that counts as no activity: 0.5 %. */
export const DORMANT_FLOOR = 0.005
/** Active results needed before an active one is judged. */
const ACTIVE_PRIOR = 7
const DORMANT_PRIOR = 3
/** What earlier results of a slot count after each new one. */
const CALENDAR_MEMORY = 0.9

const CALENDAR_CYCLE: Record<Interval, Cycle | null> = {
  hourly: 'hourOfWeekend',
  daily: 'weekday',
  weekly: null,
}

export function startOperating(operating: Operating, interval: Interval): OperatingState {
  const cycle = operating.mode === 'auto' ? CALENDAR_CYCLE[interval] : null
  return {
    all: startRates(interval),
    periods:
      operating.mode === 'off' ? null : { active: startRates(interval), dormant: startRates(interval) },
    calendar: cycle && {
      active: Array<number>(CYCLE_SLOTS[cycle]).fill(0),
      total: Array<number>(CYCLE_SLOTS[cycle]).fill(0),
    },
  }
}

/**
 * Learns one result; changes `state` in place.
 * @param wasActive what the schedule of that time said; null asks the schedule of today
 */
export function feedOperating(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  percent: number,
  total: number | null | undefined,
  wasActive: boolean | null = null,
): void {
  const tally = tallyOf(percent, total)
  feedRates(interval, state.all, at, tally)
  if (!state.periods) return
  const working = percent > 100 * DORMANT_FLOOR
  learnCalendar(state, interval, at, working)
  const active = whetherActive(operating, interval, state, at, wasActive) ?? working
  feedRates(interval, active ? state.periods.active : state.periods.dormant, at, tally)
}

function learnCalendar(state: OperatingState, interval: Interval, at: number, working: boolean): void {
  const cycle = CALENDAR_CYCLE[interval]
  if (!state.calendar || !cycle) return
  const slot = slotsAt(at)[cycle]
  state.calendar.active[slot] = state.calendar.active[slot]! * CALENDAR_MEMORY + (working ? 1 : 0)
  state.calendar.total[slot] = state.calendar.total[slot]! * CALENDAR_MEMORY + 1
}

/** Whether the table operates at a moment; null while that is not known, and in mode `off`. */
function whetherActive(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  scheduled: boolean | null,
): boolean | null {
  if (operating.mode === 'schedule' && scheduled !== null) return scheduled
  if (operating.mode === 'schedule' && operating.schedule) return isActive(operating.schedule, at)
  const cycle = CALENDAR_CYCLE[interval]
  if (!state.calendar || !cycle || state.all.count < 14 || !isClearCut(state.calendar)) return null
  return slotActive(state.calendar, slotsAt(at)[cycle])
}

/** The verdict on one slot; null before it has been seen about twice. */
function slotActive({ active, total }: CalendarState, slot: number): boolean | null {
  return total[slot]! < SEEN_TWICE ? null : active[slot]! > 0.5 * total[slot]!
}
/** 1 + CALENDAR_MEMORY, and a little less. */
const SEEN_TWICE = 1.8

/**
 * Whether it is too early to know a slot of `auto` mode. Nothing in the other slots says nothing about this one,
 * so that activity in it is compared with activity only.
 */
function isNewSlot({ calendar }: OperatingState, interval: Interval, at: number): boolean {
  const cycle = CALENDAR_CYCLE[interval]
  return calendar !== null && cycle !== null && calendar.total[slotsAt(at)[cycle]]! < SEEN_TWICE
}

/** Whether both kinds of slot exist and 90 % of the results agree with the verdict on their slot. */
function isClearCut(calendar: CalendarState): boolean {
  let agreeing = 0
  let known = 0
  const kinds = new Set<boolean>()
  calendar.total.forEach((total, slot) => {
    const kind = slotActive(calendar, slot)
    if (kind === null) return
    kinds.add(kind)
    known += total
    agreeing += Math.max(calendar.active[slot]!, total - calendar.active[slot]!)
  })
  return kinds.size === 2 && agreeing >= 0.9 * known
}

/** Judges a result that has not been learned; null with too few active results to compare an active one with. */
export function judgeOperating(
  operating: Operating,
  interval: Interval,
  state: OperatingState,
  at: number,
  percent: number,
  total: number | null | undefined,
  sensitivity: number,
  direction: Direction,
  scheduled: boolean | null = null,
): Band | null {
  const tally = tallyOf(percent, total)
  const byAll = () => judgeByRates(interval, state.all, at, tally, sensitivity, direction)
  if (!state.periods) return byAll()
  const { active, dormant } = state.periods
  const byActive = () => judgeByRates(interval, active, at, tally, sensitivity, direction)
  const isWarm = active.count >= ACTIVE_PRIOR
  const operates = whetherActive(operating, interval, state, at, scheduled)
  if (operates === true && isWarm) return byActive()
  if (operates === true && operating.mode === 'schedule') return null
  if (operates === false && dormant.count >= DORMANT_PRIOR)
    return judgeAgainstFloor(interval, dormant, at, tally, sensitivity, DORMANT_FLOOR)
  const working = percent > 100 * DORMANT_FLOOR
  if (operates === null && working && isNewSlot(state, interval, at)) return isWarm ? byActive() : null
  return byAll()
}
