/** The families of metrics: one function a family, which draws what a series of it is like. */
import {
  both,
  capturesOf,
  flat,
  hourPattern,
  isWeekend,
  weekdayPattern,
  type Draft,
  type Interval,
  type Kind,
  type Pattern,
} from './detector-draft.ts'
import { rated } from './detector-rates.ts'
import type { Random } from './detector-random.ts'

const VALUE_KINDS: Kind[] = ['spike', 'drop', 'burst', 'shift']
const VOLUME_KINDS: Kind[] = ['spike', 'drop', 'zero', 'half', 'double']
const EITHER: Interval[] = ['hourly', 'daily']

export const metricFamilies: Record<string, (r: Random) => Draft> = {
  stationary,
  weekly_volume: weeklyVolume,
  hourly_cycle: hourlyCycle,
  cumulative,
  constant,
  near_constant: nearConstant,
  sparse_counts: sparseCounts,
  heavy_tail: heavyTail,
  proportion,
  trend,
  random_walk: randomWalk,
  benign_shift: benignShift,
  weekly_capture: weeklyCapture,
  month_start: monthStart,
  contaminated,
  cold_start: coldStart,
  volatile,
  outage_gap: outageGap,
}

/** Values with additive noise, which is given capture by capture with the sd that an event's size counts in. */
function noisy(at: number[], centre: number | number[], noise: number[], sd: number | number[]) {
  const usual = at.map((_, i) => (typeof centre === 'number' ? centre : centre[i]!))
  const sdAt = (i: number) => (typeof sd === 'number' ? sd : sd[i]!)
  return {
    at,
    usual,
    away: (i: number, size: number) => usual[i]! + size * sdAt(i),
    draw: (i: number, centre: number) => centre + noise[i]!,
  }
}

/** Row counts: log-normal times Poisson around a volume with a pattern. */
function volume(r: Random, at: number[], level: number, pattern: Pattern, spread = r.uniform(0.03, 0.12)) {
  const usual = at.map(moment => level * pattern(moment))
  const sdOf = (mean: number) => Math.sqrt(mean + (spread * mean) ** 2)
  return {
    metricType: 'row_count',
    at,
    usual,
    // Not even a large drop leaves less than a tenth; what is emptied is a zero.
    away: (i: number, size: number) => Math.max(0.1 * usual[i]!, usual[i]! + size * sdOf(usual[i]!)),
    draw: (i: number, centre: number) =>
      r.poisson(Math.max(0.1 * usual[i]!, centre) * Math.exp(spread * r.normal())),
  }
}

function stationary(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'daily', 'daily'])
  const at = capturesOf(r, interval)
  const level = r.logUniform(3, 3000)
  const sd = level * r.uniform(0.03, 0.14)
  const memory = r.pick([0, 0.3])
  let last = 0
  const noise = at.map(() => (last = memory * last + sd * r.normal()))
  const kinds: Kind[] = [...VALUE_KINDS, 'zero', 'ramp']
  return { metricType: r.pick(['mean', 'percentile']), interval, kinds, ...noisy(at, level, noise, sd) }
}

function weeklyVolume(r: Random): Draft {
  const at = capturesOf(r, 'daily')
  const level = r.logUniform(800, 800_000)
  const pattern = weekdayPattern(r)
  const least = Math.min(...at.map(pattern))
  const most = Math.max(...at.map(pattern))
  const isLow = (i: number) => pattern(at[i]!) < (least + most) / 2
  const swapped = (i: number) => level * (isLow(i) ? most : least)
  const kinds: Kind[] = [...VOLUME_KINDS, 'swap', 'shift']
  return { interval: 'daily', kinds, swapped, ...volume(r, at, level, pattern) }
}

function hourlyCycle(r: Random): Draft {
  const at = capturesOf(r, 'hourly', [168, 240, 336, 400])
  const weekend = r.chance(0.7) ? r.uniform(0.3, 0.9) : 1
  const pattern = both(hourPattern(r), moment => (isWeekend(moment) ? weekend : 1))
  const kinds: Kind[] = [...VOLUME_KINDS, 'zero', 'shift', 'burst']
  const rows = volume(r, at, r.logUniform(90, 80_000), pattern, r.uniform(0.05, 0.18))
  return { interval: 'hourly', kinds, quiet: 36, ...rows }
}

/** All rows of a table that only grows. */
function cumulative(r: Random): Draft {
  const interval = r.pick(EITHER)
  const at = capturesOf(r, interval)
  const perCapture = r.logUniform(20, 60_000)
  const week = weekdayPattern(r)
  const pattern = interval === 'daily' ? week : both(hourPattern(r, r.uniform(0.1, 0.4)), week)
  const kinds: Kind[] = ['noload', 'dupload', 'delete']
  const startsFrom = Math.round(perCapture * r.logUniform(5, 400))
  return { interval, kinds, startsFrom, ...volume(r, at, perCapture, pattern, r.uniform(0.05, 0.3)) }
}

/** The same value every time. */
function constant(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'hourly', 'daily', 'weekly'])
  const metricType = r.pick([
    'distinct_count',
    'distinct_count',
    'row_count',
    'null_percent',
    'duplicate_count',
    'min_value',
  ])
  const large = Math.round(r.logUniform(20, 90_000))
  const values: Record<string, number> = {
    null_percent: r.pick([0, 0, 100]),
    duplicate_count: 0,
    min_value: r.pick([0, 1, large]),
    row_count: r.pick([1, large]),
    distinct_count: r.pick([1, 2, large]),
  }
  const value = values[metricType]!
  const at = capturesOf(r, interval)
  const change = value > 10 ? value * r.uniform(0.25, 1.5) * r.pick([-1, -1, 1]) : r.logUniform(2, 50)
  const away = () => Math.max(0, Math.round(value + change))
  const draw = (_: number, centre: number) => centre
  return {
    metricType,
    interval,
    at,
    usual: at.map(() => value),
    away,
    draw,
    kinds: ['spike', 'spike', 'shift'],
  }
}

/** A constant that is 1 % off now and then. */
function nearConstant(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'daily', 'daily'])
  const level = r.integer(30, 400)
  const unit = Math.max(1, Math.round(level / 100))
  const share = r.uniform(0.05, 0.3)
  const at = capturesOf(r, interval)
  return {
    metricType: 'distinct_count',
    interval,
    at,
    usual: at.map(() => level),
    away: (_, size) => level + Math.sign(size) * Math.ceil(Math.abs(size)) * unit,
    draw: (_, centre) => centre + (r.chance(share) ? r.pick([-unit, unit]) : 0),
    kinds: [...VALUE_KINDS, 'zero'],
  }
}

function sparseCounts(r: Random): Draft {
  const interval = r.pick(EITHER)
  const at = capturesOf(r, interval)
  const mean = r.logUniform(0.03, 4)
  const shape = r.chance(0.3) ? 2 : Infinity
  const sd = Math.sqrt(mean + (Number.isFinite(shape) ? mean ** 2 / shape : 0))
  return {
    metricType: 'duplicate_count',
    interval,
    at,
    usual: at.map(() => mean),
    away: (_, size) => mean + Math.abs(size) * Math.max(1, sd),
    draw: (_, centre) => r.poisson(Number.isFinite(shape) ? (centre * r.gamma(shape)) / shape : centre),
    kinds: ['spike', 'spike', 'burst', 'shift'],
  }
}

/** Log-normal, or Student's t with 3 or 4 degrees of freedom. */
function heavyTail(r: Random): Draft {
  const interval = r.pick(EITHER)
  const at = capturesOf(r, interval)
  const level = r.logUniform(25, 60_000)
  const head = { metricType: r.pick(['mean', 'max_value', 'percentile']), interval, kinds: VALUE_KINDS }
  if (r.chance(0.5)) {
    const spread = r.uniform(0.3, 0.7)
    const away = (_: number, size: number) => level * Math.exp(size * spread)
    const usual = at.map(() => level)
    return { ...head, at, usual, away, draw: (_, centre) => centre * Math.exp(spread * r.normal()) }
  }
  const scale = level * r.uniform(0.02, 0.08)
  const freedom = r.pick([3, 4])
  const noise = at.map(() => scale * r.student(freedom))
  return { ...head, ...noisy(at, level, noise, scale * Math.sqrt(freedom / (freedom - 2))) }
}

function proportion(r: Random): Draft {
  const interval = r.pick(EITHER)
  const at = capturesOf(r, interval)
  const rate = r.logUniform(0.004, 0.4)
  const rows = { level: r.logUniform(250, 150_000), spread: r.pick([0.03, 0.1, 0.3, 0.5]) }
  const overdispersion = r.pick([0, 0, 0.05, 0.15])
  const kinds: Kind[] = ['spike', 'spike', 'drop', 'full', 'shift', 'burst']
  return { metricType: 'null_percent', interval, kinds, ...rated(r, at, () => rate, rows, overdispersion) }
}

function trend(r: Random): Draft {
  const at = capturesOf(r, 'daily')
  const metricType = r.pick(['distinct_count', 'mean', 'row_count'])
  const level = r.logUniform(200, 20_000)
  const sd = level * r.uniform(0.02, 0.06)
  const slope = sd * r.uniform(0.05, 0.4) * (r.chance(0.85) ? 1 : -0.3)
  const usual = at.map((_, i) => Math.max(0.2 * level, level + slope * i))
  const noise = usual.map(mean => (sd * mean * r.normal()) / level)
  const sds = usual.map(mean => (sd * mean) / level)
  const kinds: Kind[] = ['spike', 'drop', 'half', 'zero', 'shift']
  return rounded(metricType, { metricType, interval: 'daily', kinds, ...noisy(at, usual, noise, sds) })
}

function randomWalk(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'hourly', 'daily'])
  const at = capturesOf(r, interval)
  const level = r.logUniform(15, 8000)
  const step = level * r.uniform(0.003, 0.015)
  let walked = 0
  const noise = at.map(() => (walked += step * r.normal()))
  const metricType = r.pick(['mean', 'max_value'])
  // One step of four sd is not yet news in a walk: events count in one and a half.
  return { metricType, interval, kinds: VALUE_KINDS, quiet: 18, ...noisy(at, level, noise, 1.5 * step) }
}

/** One to three changes of level, nothing wrong with them. */
function benignShift(r: Random): Draft {
  const at = capturesOf(r, 'daily', [60, 60, 90, 120, 180, 365])
  const pattern = r.chance(0.4) ? weekdayPattern(r) : flat
  const kinds: Kind[] = ['shift', 'shift', 'shift', 'drop', 'spike']
  return {
    interval: 'daily',
    kinds,
    alwaysEvents: true,
    ...volume(r, at, r.logUniform(100, 60_000), pattern),
  }
}

function weeklyCapture(r: Random): Draft {
  const at = capturesOf(r, 'weekly')
  const metricType = r.pick(['mean', 'row_count', 'distinct_count'])
  const level = r.logUniform(40, 90_000)
  const sd = level * r.uniform(0.03, 0.12)
  const noise = at.map(() => sd * r.normal())
  const kinds: Kind[] = [...VOLUME_KINDS, 'shift']
  return rounded(metricType, { metricType, interval: 'weekly', kinds, ...noisy(at, level, noise, sd) })
}

/** Much more on the first day of a month. */
function monthStart(r: Random): Draft {
  const at = capturesOf(r, 'daily', [90, 120, 180, 365])
  const peak = r.uniform(2.2, 4)
  const pattern: Pattern = moment => (new Date(moment * 1000).getUTCDate() === 1 ? peak : 1)
  const kinds: Kind[] = ['spike', 'drop', 'half', 'zero']
  const level = r.logUniform(500, 100_000)
  return { interval: 'daily', kinds, quiet: 18, ...volume(r, at, level, pattern, r.uniform(0.03, 0.1)) }
}

/** Far off once in the first week already. */
function contaminated(r: Random): Draft {
  const at = capturesOf(r, 'daily', [45, 60, 90, 90, 120, 180])
  const pattern = r.chance(0.5) ? weekdayPattern(r) : flat
  const level = r.logUniform(100, 80_000)
  return { interval: 'daily', kinds: VOLUME_KINDS, contaminated: true, ...volume(r, at, level, pattern) }
}

/** Judged from the fourth value on. */
function coldStart(r: Random): Draft {
  const interval = r.pick<Interval>(['daily', 'weekly', 'hourly'])
  const at = capturesOf(r, interval, [12, 13, 14, 15, 16])
  const metricType = r.pick(['mean', 'distinct_count', 'row_count'])
  const level = r.logUniform(12, 60_000)
  const sd = level * r.uniform(0.02, 0.09)
  const noise = at.map(() => sd * r.normal())
  const draft: Draft = {
    metricType,
    interval,
    kinds: VOLUME_KINDS,
    evalFrom: 3,
    quiet: 2,
    alwaysEvents: r.chance(0.7),
    ...noisy(at, level, noise, sd),
  }
  return rounded(metricType, draft)
}

/** The spread wanders: its logarithm is autoregressive. */
function volatile(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'hourly', 'daily'])
  const at = capturesOf(r, interval, interval === 'daily' ? [60, 90, 180, 365] : undefined)
  const level = r.logUniform(12, 7000)
  const typical = level * r.uniform(0.02, 0.05)
  let wandered = 0.5 * r.normal()
  const sds = at.map(() => typical * Math.exp((wandered = 0.9 * wandered + 0.22 * r.normal())))
  const noise = sds.map(sd => sd * r.normal())
  return {
    metricType: 'mean',
    interval,
    kinds: [...VALUE_KINDS, 'burst'],
    ...noisy(at, level, noise, sds),
  }
}

/** Nothing was captured for days. */
function outageGap(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'hourly', 'daily'])
  const at = capturesOf(r, interval, interval === 'daily' ? [90, 120] : [240, 336, 400])
  const week = weekdayPattern(r)
  const pattern = interval === 'daily' ? week : both(hourPattern(r), week)
  const outage = interval === 'daily' ? r.integer(7, 25) : r.integer(12, 60)
  return {
    interval,
    kinds: VOLUME_KINDS,
    quiet: 24,
    outage,
    ...volume(r, at, r.logUniform(500, 90_000), pattern, r.uniform(0.04, 0.18)),
  }
}

/** Counts are whole and not negative. */
function rounded(metricType: string, draft: Draft): Draft {
  if (metricType === 'mean') return draft
  return { ...draft, draw: (i, centre) => Math.max(0, Math.round(draft.draw(i, centre))) }
}
