/** The predictors run on a series: each scale its domain allows, with each structure that suits its interval. */
import type { Cycle, Interval } from './calendar.ts'
import type { Design } from './predictor.ts'
import { SCALES, type Domain, type Scale } from './scales.ts'

/** The fixed parameters of a bank: they decide the designs and are not part of the state. */
export interface Bank {
  domain: Domain
  interval: Interval
  designs: readonly Design[]
}

/** The bank for a kind of numbers and an interval. */
export function bankFor(domain: Domain, interval: Interval): Bank {
  return BANKS[domain][interval]
}

/** Each scale with each structure that suits the interval and improves predictions there. */
function designsFor(domain: Domain, interval: Interval): Design[] {
  return SCALES[domain].flatMap(scale =>
    structuresFor(interval)
      .filter(structure => structure.weight === 0 || mayFollow(scale, structure))
      .map(({ weight, season, overlay }) => ({
        scale,
        weight,
        season,
        overlay,
        hourlyNoise: interval === 'hourly',
        echoes:
          weight < 1 &&
          !scale.ofStep &&
          (interval === 'weekly' || (season !== null && season !== 'monthEdge')),
        handicap: scale.handicap + (season ? 1 : 0) + (weight >= 0.3 ? 0.5 : 0),
      })),
  )
}

type Structure = Pick<Design, 'weight' | 'season' | 'overlay'>

/**
 * Whether a level that follows recent values is worth running: a step scale already follows, between months the
 * level moves on anyway, and with seasons the root lies between the raw and the log scale, which both follow.
 */
function mayFollow(scale: Scale, { season }: Structure): boolean {
  if (scale.ofStep) return false
  return season === null || (season !== 'monthEdge' && scale.name !== 'root')
}

function structuresFor(interval: Interval): Structure[] {
  const flat: Structure[] = ([0, 0.3, 1] as const).map(weight => ({ weight, season: null, overlay: null }))
  const seasonal = SEASONS[interval].flatMap(([season, overlay]) =>
    ([0, 0.3] as const).map(weight => ({ weight, season, overlay })),
  )
  return [...flat, ...seasonal]
}

const SEASONS: Record<Interval, [Cycle, Cycle | null][]> = {
  hourly: [
    ['hour', null],
    ['hour', 'weekday'],
  ],
  daily: [
    ['monthEdge', null],
    ['weekend', null],
    ['weekday', null],
  ],
  weekly: [],
}

const bank = (domain: Domain, interval: Interval): Bank => ({
  domain,
  interval,
  designs: designsFor(domain, interval),
})
const banks = (domain: Domain): Record<Interval, Bank> => ({
  hourly: bank(domain, 'hourly'),
  daily: bank(domain, 'daily'),
  weekly: bank(domain, 'weekly'),
})
const BANKS: Record<Domain, Record<Interval, Bank>> = {
  rows: banks('rows'),
  count: banks('count'),
  percent: banks('percent'),
  continuous: banks('continuous'),
}
