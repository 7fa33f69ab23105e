/** What the next verdict is asked about: a value, its moment, and what is new about that moment to the series. */
import { intervalsBetween, isRepeatedCapture, SEEN_CYCLES, type BankState } from './bank.ts'
import { slotsAt, type Cycle, type Slots } from './calendar.ts'
import type { Bank } from './designs.ts'

export interface Observation {
  at: number
  value: number
  slots: Slots
  /** The value that a step is measured from, and the intervals since then. */
  from: number
  elapsed: number
  /** Whether it comes so soon after the last point that both are of one interval. */
  isSecond: boolean
  unseen: UnseenSlot
}

/** What a slot that was never seen does to the band. */
interface UnseenSlot {
  /** Factor on the usual band. */
  widening: number
  /**
   * Sd of what may be special about the slot, upwards and downwards, relative to the size of the values: the course
   * of a day or the start of a month is unknown before it was seen. A month begins or ends with more than
   * usual; that less comes, or nothing, is news. The steps of a growing table are steadier.
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
