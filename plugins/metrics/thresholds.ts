/** Limits of a metric's values that its user sets: which a value breaks, in numbers and in words, and which make no sense. */
import { domainOf, type CheckType } from '../../checks/check.ts'
import type { SeriesPoint } from '../../checks/detector.ts'
import { slotsAt } from '../../checks/detector.ts'
import {
  describeFinding,
  describeLimit,
  describeDeviation,
  formatFinding,
  type Finding,
} from '../../checks/explanation.ts'
import { windowSeconds } from '../../checks/plan.ts'
import { invalidInput, type InputError } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { metricFields } from './fields.ts'
import type { Breach, Metric } from './models.ts'

/** What a metric is judged by. */
export type MetricSettings = Pick<
  Metric,
  | 'type'
  | 'checkInterval'
  | 'sensitivity'
  | 'min'
  | 'max'
  | 'maxChangePercent'
  | 'changeAgainst'
  | 'detection'
  | 'direction'
  | 'consecutive'
> &
  Partial<Pick<Metric, 'windowSize'>>

/** The settings of a metric that has none of its own. */
export const NO_THRESHOLDS = {
  min: null,
  max: null,
  maxChangePercent: null,
  changeAgainst: null,
  detection: null,
  direction: 'both',
  consecutive: 1,
} as const

/** What a metric of this body would be judged by. */
export function settingsOf(body: { metric_type: string }): MetricSettings {
  const columns = columnsOf<Metric>(metricFields, body) as Pick<Metric, 'sensitivity' | 'checkInterval'>
  return { ...NO_THRESHOLDS, ...columns, type: body.metric_type }
}

type Thresholds = Pick<MetricSettings, 'min' | 'max' | 'maxChangePercent' | 'changeAgainst' | 'detection'>

/** Whether a metric limits its values at all. */
export function hasThreshold({ min, max, maxChangePercent }: Thresholds): boolean {
  return [min, max, maxChangePercent].some(threshold => threshold !== null)
}

/** What makes a value fail: an anomaly or, where a threshold is given, that alone; else what the user chose. */
export function detectionOf(settings: Thresholds): NonNullable<Metric['detection']> {
  return settings.detection ?? (hasThreshold(settings) ? 'threshold' : 'anomaly')
}

/** What a change is measured against; null where no change is limited. */
export function changeAgainstOf({ maxChangePercent, changeAgainst }: Thresholds): Metric['changeAgainst'] {
  return maxChangePercent === null ? null : (changeAgainst ?? 'previous')
}

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS
const WEEK_SECONDS = 7 * DAY_SECONDS

/** How many earlier values a value is compared with that may not change too much. */
export function countCompared(
  settings: Pick<MetricSettings, 'checkInterval' | 'windowSize' | keyof Thresholds>,
): number {
  const against = detectionOf(settings) === 'anomaly' ? null : changeAgainstOf(settings)
  if (against === null) return 0
  if (against === 'previous') return 1
  const { windowSize } = settings
  if (windowSize != null) return Math.max(2 * 7, Math.ceil((2 * WEEK_SECONDS) / windowSeconds(windowSize)))
  // Captures by hand come in between.
  return settings.checkInterval === 'hourly' ? 2 * 7 * 24 : 2 * 7
}

/**
 * The first threshold that a value breaks, in the order min, max, change; null of none and where thresholds do not count.
 * A change is 100 × |value − earlier| ÷ |earlier|, any from zero is too much, and without an earlier value there is none.
 * @param past earlier values of the series, oldest first
 */
export function findBreach(
  settings: MetricSettings,
  { at, value }: Pick<SeriesPoint, 'at' | 'value'>,
  past: readonly Pick<SeriesPoint, 'at' | 'value'>[],
): Breach | null {
  if (detectionOf(settings) === 'anomaly') return null
  const { min, max, maxChangePercent: limit, direction } = settings
  if (min !== null && value < min) return { threshold: 'min', limit: min, excess: rounded(min - value) }
  if (max !== null && value > max) return { threshold: 'max', limit: max, excess: rounded(value - max) }
  const before = limit === null ? undefined : comparedValue(settings, at, past)
  if (limit === null || before === undefined || before === value) return null
  if (direction === (value > before ? 'drop' : 'rise')) return null
  const change = (100 * Math.abs(value - before)) / Math.abs(before)
  if (change <= limit) return null
  const excess = Number.isFinite(change) ? rounded(change - limit) : null
  return { threshold: 'max_change_percent', limit, excess, before }
}

/** Without the noise of the subtraction: 0.3 − 0.1 is 0.19999999999999998. */
function rounded(difference: number): number {
  return Number(difference.toPrecision(12))
}

/**
 * The earlier value that a change is measured against: the previous one, or the newest of the same weekday in UTC that is
 * not of the same day; of hourly metrics that of the same hour. A bucket of time is compared
 * with the one that began whole weeks before, by clocks that may have changed since.
 */
function comparedValue(
  {
    changeAgainst,
    checkInterval,
    windowSize,
  }: Pick<MetricSettings, 'changeAgainst' | 'checkInterval' | 'windowSize'>,
  at: number,
  past: readonly Pick<SeriesPoint, 'at' | 'value'>[],
): number | undefined {
  if (changeAgainst !== 'same_weekday') return past.at(-1)?.value
  if (windowSize != null) {
    const offsetOf = (point: Pick<SeriesPoint, 'at'>) => weekOffset(at - point.at)
    const newest = past.findLast(point => offsetOf(point) <= HOUR_SECONDS)
    // Buckets of hours have neighbours as near.
    const near = past.filter(point => newest !== undefined && newest.at - point.at <= 2 * HOUR_SECONDS)
    return near.toSorted((one, other) => offsetOf(one) - offsetOf(other))[0]?.value
  }
  const now = slotsAt(at)
  return past.findLast(point => {
    const slots = slotsAt(point.at)
    const isAlike = slots.weekday === now.weekday && (checkInterval !== 'hourly' || slots.hour === now.hour)
    return isAlike && at - point.at > DAY_SECONDS
  })?.value
}

/** Seconds from a distance in time to whole weeks, one at least. */
function weekOffset(seconds: number): number {
  return Math.abs(seconds - Math.max(1, Math.round(seconds / WEEK_SECONDS)) * WEEK_SECONDS)
}

/** The breach in words: "40 % null, expected at most 10 %". */
export function describeBreach(
  settings: Pick<MetricSettings, 'type' | 'changeAgainst'>,
  value: number,
  breach: Breach,
): string {
  return formatFinding(breachFinding(settings, value, breach))
}

/** A value that breaks a threshold, and what it should have been. @param name as of `describeFinding` */
export function breachFinding(
  { type, changeAgainst }: Pick<MetricSettings, 'type' | 'changeAgainst'>,
  value: number,
  breach: Breach,
  name?: string,
): Finding {
  const { threshold, before = 0, excess, limit } = breach
  if (threshold !== 'max_change_percent') {
    const { found, deviation } = describeFinding(type, { value }, { low: limit, high: limit }, { name })
    return { found, expected: describeAllowed(type, breach), deviation }
  }
  const earlier = changeAgainst === 'same_weekday' ? 'a week before' : 'before'
  return {
    found: describeFinding(type, { value }, null, { name }).found,
    expected: `within ${describeLimit('percent', limit)} of the ${describeLimit(type, before)} ${earlier}`,
    deviation: excess === null ? null : describeDeviation(value, before),
  }
}

/** What the threshold allows: "at most 10 %". */
export function describeAllowed(type: string, { threshold, limit }: Breach): string {
  if (threshold === 'max_change_percent') return `at most ${describeLimit('percent', limit)} of change`
  return `${threshold === 'min' ? 'at least' : 'at most'} ${describeLimit(type, limit)}`
}

/** How far beyond the threshold a value is: "30 %"; null of a change from zero. */
export function describeExcess(type: string, { threshold, excess }: Breach): string | null {
  if (excess === null) return null
  return describeLimit(threshold === 'max_change_percent' ? 'percent' : type, excess)
}

/**
 * Refuses thresholds that contradict each other, or that every value of the type would break.
 * @throws 400 `VALIDATION_ERROR`
 */
export function requireSensibleThresholds(type: CheckType | undefined, settings: MetricSettings): void {
  const errors = [...problemsOf(type, settings)]
  if (errors.length > 0) throw invalidInput(errors, { metric_type: settings.type })
}

function* problemsOf(type: CheckType | undefined, settings: MetricSettings): Generator<InputError> {
  const { min, max, maxChangePercent, changeAgainst, detection } = settings
  if (min !== null && max !== null && min > max)
    yield { field: 'min', error: `min ${min} is above max ${max}, so that every value would fail: swap them` }
  const domain = domainOf(type)
  if (domain === 'percent' && min !== null && min > 100)
    yield { field: 'min', error: `min ${min} would make every value fail: ${settings.type} is 0 to 100` }
  if (domain !== 'continuous' && max !== null && max < 0)
    yield { field: 'max', error: `max ${max} would make every value fail: ${settings.type} is never below 0` }
  if (changeAgainst !== null && maxChangePercent === null)
    yield { field: 'change_against', error: 'change_against needs max_change_percent, which it is for' }
  const isLimited = hasThreshold(settings)
  if ((detection === 'threshold' || detection === 'both') && !isLimited)
    yield {
      field: 'detection',
      error: `detection ${detection} needs a threshold: give min, max or max_change_percent`,
    }
  if (detection === 'anomaly' && isLimited)
    yield {
      field: 'detection',
      error: 'detection anomaly would ignore the thresholds: choose threshold or both, or leave them out',
    }
}
