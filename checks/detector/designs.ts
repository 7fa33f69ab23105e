/** Which predictors run over a series: every scale its domain allows, with every structure its interval has. */
import type { Interval } from './calendar.ts'
import { SEASON_MEMORY, type Design } from './predictor.ts'
import { domainOf, SCALES, type Domain } from './scales.ts'
import type { SeasonHabit } from './season.ts'

/** What a bank is told once: it decides the designs and is not part of the state. */
export interface Bank {
  domain: Domain
  interval: Interval
  designs: readonly Design[]
}

/** The bank for a metric type and interval. */
export function bankFor(series: string, interval: Interval): Bank {
  return BANKS[domainOf(series)][interval]
}

/** Every scale with every structure that suits the interval. */
function designsFor(domain: Domain, interval: Interval): Design[] {
  return SCALES[domain].flatMap(scale =>
    structuresFor(interval)
      .filter(({ weight }) => !(scale.ofStep && weight === 1))
      .map(({ weight, season, overlay }) => ({
        scale,
        weight,
        season,
        overlay,
        hourlyNoise: interval === 'hourly',
        handicap: scale.handicap + (season ? 1 : 0) + (weight >= 0.3 ? 0.5 : 0),
      })),
  )
}

type Structure = Pick<Design, 'weight' | 'season' | 'overlay'>

function structuresFor(interval: Interval): Structure[] {
  const flat: Structure[] = ([0, 0.3, 1] as const).map(weight => ({ weight, season: null, overlay: null }))
  const seasonal = SEASONS[interval].flatMap(([season, overlay]) =>
    ([0, 0.3] as const).map(weight => ({ weight, season, overlay })),
  )
  return [...flat, ...seasonal]
}

const habit = (cycle: SeasonHabit['cycle']): SeasonHabit => ({ cycle, memory: SEASON_MEMORY, shrinkage: 0.3 })
const weekdayOverlay: SeasonHabit = { cycle: 'weekday', memory: 48, shrinkage: 2 }

const SEASONS: Record<Interval, [SeasonHabit, SeasonHabit | null][]> = {
  hourly: [
    [habit('hour'), null],
    [habit('hour'), weekdayOverlay],
  ],
  daily: [
    [habit('monthEdge'), null],
    [habit('weekend'), null],
    [habit('weekday'), null],
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
