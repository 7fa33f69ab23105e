/** What is special about a slot of a cycle (a weekday, an hour), learned robustly from its last deviations. */
import { CYCLE_SLOTS, type Cycle } from './calendar.ts'
import { trimmedMean } from './robust.ts'

/** The effects of one cycle, a plain value: everything is indexed by slot. */
export interface Season {
  effect: number[]
  sightings: number[]
  /** The last deviations from the level, oldest first. */
  recent: number[][]
}

/** How a season learns. */
export interface SeasonHabit {
  cycle: Cycle
  /** Deviations remembered in each slot. */
  memory: number
  /** Deviations worth of belief that a slot is not special. */
  shrinkage: number
}

export function startSeason(habit: SeasonHabit): Season {
  const slots = CYCLE_SLOTS[habit.cycle]
  return {
    effect: Array<number>(slots).fill(0),
    sightings: Array<number>(slots).fill(0),
    recent: Array.from({ length: slots }, () => []),
  }
}

/** Learns a deviation: one outlier in a slot has no pull, two that agree have. */
export function learnEffect(season: Season, habit: SeasonHabit, slot: number, deviation: number): void {
  const recent = season.recent[slot]!
  recent.push(deviation)
  if (recent.length > habit.memory) recent.shift()
  const n = recent.length
  const cut = n >= 3 ? Math.max(1, n >> 2) : 0
  season.effect[slot] = (trimmedMean(recent, cut) * n) / (n + habit.shrinkage)
  season.sightings[slot]!++
}

/** Mean square of the effects known so far; null when none is. */
export function effectSpread(season: Season): number | null {
  let sum = 0
  let known = 0
  for (let slot = 0; slot < season.effect.length; slot++) {
    if (season.sightings[slot] === 0) continue
    sum += season.effect[slot]! ** 2
    known++
  }
  return known === 0 ? null : sum / known
}
