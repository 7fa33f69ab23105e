/**
 * The share of one deviation from level and season that comes back in the next: a busy hour follows a busy hour, and
 * a warm day a warm day. An autoregression of order 1 on what the season leaves (Box & Jenkins 1970), with ridge.
 */
import { roundDigits } from './rounding.ts'

/** What has been learned of it, as plain JSON. */
export interface Echo {
  /** The deviations of the last value and of the one before, clipped. */
  last: number
  before: number
  /** Discounted sums of the products of neighbours, and of the squares of the earlier ones. */
  product: number
  square: number
  /** Mean square of the deviations, and how many there were. */
  variance: number
  count: number
}

/** Factor by which earlier products are discounted with each new one. */
const MEMORY = 0.99
/** Weight of the prior that nothing comes back, in deviations (ridge: Hoerl & Kennard 1970). */
const RIDGE = 10
const LARGEST_SHARE = 0.98
/** Deviations are clipped at this many sd; beyond the second one they are incidents, which nothing follows from. */
const CLIP_SD = 3.5
const INCIDENT_SD = 6
/** Least weight of the newest square in the mean square, and the bound on one square, in mean squares. */
const SCALE_WEIGHT = 0.02
const LARGEST_SQUARE = 12

export function startEcho(): Echo {
  return { last: 0, before: 0, product: 0, square: 0, variance: 0, count: 0 }
}

/**
 * What is expected to come back of earlier deviations.
 * @param lag intervals since the last value; 0 when the interval is still its own. After a gap nothing comes back
 */
export function echoAt(echo: Echo, lag: number): number {
  if (lag > 1) return 0
  return shareOf(echo) * (lag === 1 ? echo.last : echo.before)
}

function shareOf({ product, square, variance }: Echo): number {
  const known = square + RIDGE * variance
  return known > 0 ? Math.max(-LARGEST_SHARE, Math.min(LARGEST_SHARE, product / known)) : 0
}

/** The sd of the deviations. */
export function deviationSd(echo: Echo): number {
  return Math.sqrt(echo.variance)
}

/** Learns how far a value was from level and season; `left` is what is left of that now that they have followed it. */
export function learnEcho(echo: Echo, lag: number, deviation: number, left: number): void {
  const usual = clipped(deviation, deviationSd(echo))
  if (lag === 1) {
    echo.product = roundDigits(echo.product * MEMORY + usual * echo.last)
    echo.square = roundDigits(echo.square * MEMORY + echo.last * echo.last)
  }
  echo.count++
  const most = echo.count > 3 && echo.variance > 0 ? LARGEST_SQUARE * echo.variance : Infinity
  const step = Math.max(SCALE_WEIGHT, 1 / echo.count)
  echo.variance = roundDigits(echo.variance + step * (Math.min(deviation * deviation, most) - echo.variance))
  if (lag > 0) echo.before = lag === 1 ? echo.last : 0
  echo.last = roundDigits(clipped(left, deviationSd(echo)))
}

function clipped(deviation: number, sd: number): number {
  if (Math.abs(deviation) > INCIDENT_SD * sd) return 0
  return Math.max(-CLIP_SD * sd, Math.min(CLIP_SD * sd, deviation))
}
