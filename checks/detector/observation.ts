/** The input of the next verdict: a value, its time, and whether its slot is new to the series. */
import { intervalsBetween, isRepeatedCapture, SEEN_CYCLES, type BankState } from './bank.ts'
import { slotsAt, type Cycle, type Slots } from './calendar.ts'
import type { Bank } from './designs.ts'

export interface Observation {
  at: number
  value: number
  slots: Slots
  /** The value from which a step is measured, and the number of intervals since. */
  from: number
  elapsed: number
  /** Whether it follows the last point so closely that both belong to one interval. */
  isSecond: boolean
  /** Intervals since the last value; 0 for a second one. */
  lag: number
  unseen: UnseenSlot
}

/** How a slot that was never seen widens the band. */
interface UnseenSlot {
  /** Factor applied to the usual band. */
  widening: number
  /**
   * Sd of a possible effect of the slot, upwards and downwards, relative to the magnitude of the values: the profile
   * of a day or the start of a month is unknown before it was seen. Months often begin or end with more than
   * usual; less than usual is an anomaly. The steps of a growing table vary less.
   */
  rise: number
  fall: number
}

const UNSEEN_SLOTS: Record<Cycle, UnseenSlot> = {
  hour: { widening: 4, rise: 0.5, fall: 0.5 },
  hourOfWeekend: { widening: 1, rise: 0, fall: 0 },
  weekday: { widening: 1.5, rise: 0, fall: 0 },
  weekend: { widening: 1, rise: 0, fall: 0 },
  monthEdge: { widening: 2, rise: 0.5, fall: 0 },
}

export function observe(bank: Bank, state: BankState, at: number, value: number): Observation {
  const slots = slotsAt(at)
  const isSecond = isRepeatedCapture(bank, state, at)
  const last = { at: state.lastAt, value: state.facts.last }
  const from = isSecond && state.before ? state.before : last
  return {
    at,
    value,
    slots,
    lag: isSecond ? 0 : intervalsBetween(bank, state.lastAt, at),
    from: from.value,
    elapsed: intervalsBetween(bank, from.at, at),
    isSecond,
    unseen: combineUnseen(bank, state, slots),
  }
}

function combineUnseen(bank: Bank, state: BankState, slots: Slots): UnseenSlot {
  const unseen = { widening: 1, rise: 0, fall: 0 }
  for (const cycle of SEEN_CYCLES[bank.interval]) {
    if (state.seen[cycle]?.[slots[cycle]]) continue
    unseen.widening = Math.max(unseen.widening, UNSEEN_SLOTS[cycle].widening)
    unseen.rise = Math.max(unseen.rise, UNSEEN_SLOTS[cycle].rise)
    unseen.fall = Math.max(unseen.fall, UNSEEN_SLOTS[cycle].fall)
  }
  return unseen
}
