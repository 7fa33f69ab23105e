/** The effect of a slot of a cycle (a weekday, an hour), learned robustly from deviations from the level. */
import { CYCLE_SLOTS, type Cycle } from './calendar.ts'
import { roundDigits } from './rounding.ts'
import { trimmedMean } from './robust.ts'

/** The effects of one cycle, as plain JSON, indexed by slot. */
export interface Season {
  effect: number[]
  /** The last deviations from the level, oldest first. */
  recent: number[][]
}

/** The effects of a second cycle in addition: smaller ones, with many deviations for each slot. */
export interface Overlay {
  effect: number[]
  /** Deviations learned, at most those remembered. */
  sightings: number[]
}

/** Deviations that an effect remembers. */
const SEASON_MEMORY = 10
const OVERLAY_MEMORY = 48
/** Weight of the prior that a slot has no effect, in deviations. */
const SEASON_SHRINKAGE = 0.3
const OVERLAY_SHRINKAGE = 4
/** Effective number of deviations: a trimmed mean of n varies like a mean of fewer. */
const SIGHTING_OFFSET = 0.7

export function startSeason(cycle: Cycle): Season {
  const slots = CYCLE_SLOTS[cycle]
  return { effect: Array<number>(slots).fill(0), recent: Array.from({ length: slots }, () => []) }
}

export function startOverlay(cycle: Cycle): Overlay {
  const none = Array<number>(CYCLE_SLOTS[cycle]).fill(0)
  return { effect: none, sightings: [...none] }
}

/** Learns a deviation: one outlier in a slot has no influence, two that agree have. */
export function learnEffect(season: Season, slot: number, deviation: number): void {
  const recent = season.recent[slot]!
  recent.push(roundDigits(deviation))
  if (recent.length > SEASON_MEMORY) recent.shift()
  const n = recent.length
  const cut = n >= 3 ? Math.max(1, n >> 2) : 0
  season.effect[slot] = roundDigits((trimmedMean(recent, cut) * n) / (n + SEASON_SHRINKAGE))
}

/** Learns a deviation of the second cycle as a running mean, with errors clipped at `most`. */
export function learnOverlay(overlay: Overlay, slot: number, deviation: number, most: number): void {
  const before = overlay.sightings[slot]!
  const n = Math.min(OVERLAY_MEMORY, before + 1)
  const mean = (overlay.effect[slot]! * (before + OVERLAY_SHRINKAGE)) / Math.max(1, before)
  const error = Math.max(-most, Math.min(most, deviation - mean))
  overlay.effect[slot] = roundDigits(((mean + error / n) * n) / (n + OVERLAY_SHRINKAGE))
  overlay.sightings[slot] = n
}

/** Number of deviations behind the effect of a slot. */
export function sightingsOf(season: Season, slot: number): number {
  return season.recent[slot]!.length
}

/** Variance of a slot's effect in units of the noise; of a slot never seen, the spread of the other slots. */
export function effectVariance(season: Season, slot: number, noise: number): number {
  const sightings = sightingsOf(season, slot)
  if (sightings > 0) return 1 / (sightings + SIGHTING_OFFSET)
  const spread = effectSpread(season)
  return spread === null ? 1 : Math.max(1, Math.min(50, spread / (noise || 1e-12)))
}

export function overlayVariance({ sightings }: Overlay, slot: number): number {
  return sightings[slot] ? 1 / (sightings[slot] + SIGHTING_OFFSET) : 0.5
}

/** Mean square of the effects known so far; null when none is. */
function effectSpread(season: Season): number | null {
  let sum = 0
  let known = 0
  for (let slot = 0; slot < season.effect.length; slot++) {
    if (sightingsOf(season, slot) === 0) continue
    sum += season.effect[slot]! ** 2
    known++
  }
  return known === 0 ? null : sum / known
}
