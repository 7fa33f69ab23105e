/** The families of validity rules, with and without operating periods: invalid rows among so many rows. */
import {
  capturesOf,
  flat,
  hourOf,
  hourPattern,
  isWeekend,
  weekdayOf,
  type Draft,
  type Interval,
  type Kind,
  type Pattern,
  type Schedule,
} from './detector-draft.ts'
import type { Random } from './detector-random.ts'

const INTERVALS: Interval[] = ['hourly', 'daily', 'weekly']
const EITHER: Interval[] = ['hourly', 'daily']
const KINDS: Kind[] = ['spike', 'spike', 'burst', 'shift', 'ramp']

export const validityFamilies: Record<string, (r: Random) => Draft> = {
  v_stable: stable,
  v_variable_n: variableRows,
  v_tiny_n: fewRows,
  v_rare: rare,
  v_zero: zero,
  v_weekly: weekly,
  v_hourly: hourly,
  v_overdispersed: overdispersed,
  v_improved: improved,
  v_high_p: mostlyInvalid,
  v_contaminated: contaminated,
  v_cold_start: coldStart,
}

export const operatingFamilies: Record<string, (r: Random) => Draft> = {
  op_auto_hourly: r => operatingHourly(r, 'auto'),
  op_auto_daily: r => operatingDaily(r, 'auto'),
  op_sched_hourly: r => operatingHourly(r, 'schedule'),
  op_sched_daily: r => operatingDaily(r, 'schedule'),
  op_auto_always_on: r => ({ ...r.pick([stable, stable, weekly, hourly, improved])(r), operating: 'auto' }),
  op_auto_all_zero: r => ({ ...rare(r), operating: 'auto' }),
}

/** How many rows there are: log-normal around a level, which may have a pattern. */
interface Rows {
  level: number
  /** Sd of the logarithm. */
  spread: number
  pattern?: Pattern
}

/**
 * So many of the rows, by a rate: beta-binomial, `relativeSd` being the rate's own sd relative to it. What an event
 * adds comes on top of that.
 */
export function rated(r: Random, at: number[], rateAt: Pattern, rows: Rows, relativeSd: number) {
  const pattern = rows.pattern ?? flat
  const totals = at.map(moment =>
    Math.max(4, Math.round(rows.level * pattern(moment) * Math.exp(rows.spread * r.normal()))),
  )
  const usual = at.map(rateAt)
  /** Spread of the number of hits; where hardly any are expected, at least about one row. */
  const sdOf = (rate: number, total: number) =>
    Math.sqrt(total * rate * (1 - rate) + (relativeSd * rate * total) ** 2 + 1)
  return {
    at,
    usual,
    totals,
    away: (i: number, size: number) => {
      const moved = usual[i]! + (size * sdOf(usual[i]!, totals[i]!)) / totals[i]!
      return Math.min(1, Math.max(0, moved))
    },
    draw: (i: number, centre: number) => {
      const rate = r.rateAround(usual[i]!, relativeSd) + centre - usual[i]!
      return (100 * r.binomial(totals[i]!, Math.min(1, Math.max(0, rate)))) / totals[i]!
    },
  }
}

/** A validity rule; `spread` of the number of rows defaults to 0.12. */
function rule(
  r: Random,
  interval: Interval,
  at: number[],
  rateAt: Pattern,
  rows: { level: number; spread?: number; pattern?: Pattern },
  relativeSd = 0,
): Draft {
  const head = { metricType: 'invalid_percent', interval, kinds: KINDS }
  return { ...head, ...rated(r, at, rateAt, { spread: 0.12, ...rows }, relativeSd) }
}

function stable(r: Random): Draft {
  const interval = r.pick(INTERVALS)
  const rate = r.logUniform(0.001, 0.2)
  const rows = { level: r.logUniform(5000, 900_000), spread: 0.03 }
  return rule(r, interval, capturesOf(r, interval), () => rate, rows, r.pick([0, 0.03, 0.1]))
}

function variableRows(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'hourly', 'daily'])
  const rate = r.logUniform(0.003, 0.15)
  const rows = { level: r.logUniform(45, 1600), spread: 1.1 }
  return rule(r, interval, capturesOf(r, interval), () => rate, rows, r.pick([0, 0, 0, 0.1]))
}

/** Four to sixty rows. */
function fewRows(r: Random): Draft {
  const interval = r.pick(EITHER)
  const at = capturesOf(r, interval, interval === 'daily' ? [60, 90, 180, 365] : undefined)
  const rate = r.logUniform(0.004, 0.1)
  const draft = rule(r, interval, at, () => rate, { level: 30 })
  const totals = draft.totals!
  at.forEach((_, i) => (totals[i] = r.integer(4, 60)))
  return draft
}

/** 0.02 to 2 invalid rows a capture. */
function rare(r: Random): Draft {
  const interval = r.pick(INTERVALS)
  const level = r.logUniform(500, 70_000)
  const rate = r.logUniform(0.02, 2) / level
  return rule(r, interval, capturesOf(r, interval), () => rate, { level })
}

/** Never an invalid row, or hardly ever one. */
function zero(r: Random): Draft {
  const interval = r.pick(INTERVALS)
  const level = r.logUniform(300, 600_000)
  const rate = r.chance(0.85) ? 0 : r.logUniform(0.1, 5) / level
  const draft = rule(r, interval, capturesOf(r, interval), () => rate, { level })
  return { ...draft, kinds: ['spike', 'burst', 'shift', 'shift'] }
}

function weekly(r: Random): Draft {
  const at = capturesOf(r, 'daily', [45, 60, 90, 90, 120, 180, 365])
  const rate = r.logUniform(0.015, 0.15)
  const weekend = r.pick([r.uniform(0.15, 0.4), r.uniform(1.8, 4)])
  const rateAt: Pattern = moment => rate * (isWeekend(moment) ? weekend : 1)
  return rule(r, 'daily', at, rateAt, { level: r.logUniform(1200, 50_000) }, r.pick([0, 0.05]))
}

function hourly(r: Random): Draft {
  const at = capturesOf(r, 'hourly', [240, 240, 336, 400])
  const rate = r.logUniform(0.01, 0.18)
  const cycle = hourPattern(r)
  const night = r.uniform(0.2, 1)
  const pattern: Pattern = moment => (hourOf(moment) >= 8 && hourOf(moment) < 18 ? 1 : night)
  const draft = rule(r, 'hourly', at, moment => rate * cycle(moment), {
    level: r.logUniform(200, 9000),
    pattern,
  })
  return { ...draft, quiet: 48 }
}

function overdispersed(r: Random): Draft {
  const interval = r.pick<Interval>(['hourly', 'daily', 'daily'])
  const rate = r.logUniform(0.01, 0.2)
  const rows = { level: r.logUniform(1300, 90_000), spread: 0.18 }
  return rule(r, interval, capturesOf(r, interval), () => rate, rows, r.uniform(0.15, 0.6))
}

/** The rate falls for good: the lower level is the one to judge by from then on. */
function improved(r: Random): Draft {
  const at = capturesOf(r, 'daily', [60, 60, 90, 120, 180])
  const before = r.logUniform(0.05, 0.2)
  const after = before / r.uniform(2.5, 8)
  const since = at[Math.floor(at.length * r.uniform(0.3, 0.5))]!
  const rateAt: Pattern = moment => (moment >= since ? after : before)
  const draft = rule(r, 'daily', at, rateAt, { level: r.logUniform(2000, 80_000) }, r.pick([0, 0.08, 0.15]))
  return { ...draft, quiet: Math.floor(at.length / 2) }
}

/** Most rows are invalid. */
function mostlyInvalid(r: Random): Draft {
  const interval = r.pick<Interval>(['daily', 'weekly'])
  const rate = r.uniform(0.4, 0.94)
  const at = capturesOf(r, interval, interval === 'daily' ? [45, 90, 90, 180] : undefined)
  return rule(r, interval, at, () => rate, { level: r.logUniform(600, 80_000) }, r.pick([0, 0, 0.03]))
}

/** Far off once in the first week already. */
function contaminated(r: Random): Draft {
  const at = capturesOf(r, 'daily', [45, 60, 60, 90, 120])
  const rate = r.logUniform(0.005, 0.08)
  const draft = rule(r, 'daily', at, () => rate, { level: r.logUniform(1500, 90_000) }, r.uniform(0, 0.15))
  return { ...draft, contaminated: true, alwaysEvents: true, kinds: ['spike', 'burst'] }
}

function coldStart(r: Random): Draft {
  const interval = r.pick(INTERVALS)
  const at = capturesOf(r, interval, [16, 18, 20, 22, 24])
  const rate = r.logUniform(0.003, 0.18)
  const draft = rule(r, interval, at, () => rate, { level: r.logUniform(250, 70_000) }, r.pick([0, 0.1, 0.4]))
  return { ...draft, kinds: ['spike', 'burst'], alwaysEvents: r.chance(0.6) }
}

function operatingHourly(r: Random, mode: 'schedule' | 'auto'): Draft {
  const start = r.integer(6, 10)
  const days = r.chance(0.75) ? [1, 2, 3, 4, 5] : [0, 1, 2, 3, 4, 5, 6]
  const at = capturesOf(r, 'hourly', [240, 240, 336, 400])
  return operating(r, 'hourly', at, mode, scheduleOf(days, start, start + r.integer(7, 12)))
}

function operatingDaily(r: Random, mode: 'schedule' | 'auto'): Draft {
  const days = r.pick([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 3, 5], [2]])
  const at = capturesOf(r, 'daily', [45, 60, 60, 90, 120, 180])
  return operating(r, 'daily', at, mode, scheduleOf(days, 0, 24))
}

function scheduleOf(days: number[], start_hour: number, end_hour: number): Schedule {
  return { days, start_hour, end_hour, timezone: 'UTC' }
}

/** Invalid rows only while the table operates; outside at most a few, and any more there are an event. */
function operating(
  r: Random,
  interval: Interval,
  at: number[],
  mode: 'schedule' | 'auto',
  schedule: Schedule,
): Draft {
  const isActive = (moment: number) =>
    schedule.days.includes(weekdayOf(moment)) &&
    hourOf(moment) >= schedule.start_hour &&
    hourOf(moment) < schedule.end_hour
  const active = r.logUniform(0.02, 0.2)
  const dormant = r.pick([0, 0.00004])
  const resting = interval === 'hourly' && r.chance(0.35) ? 0.05 : 1
  const rows = {
    level: r.logUniform(400, 20_000),
    spread: 0.15,
    pattern: (moment: number) => (isActive(moment) ? 1 : resting),
  }
  const rateAt: Pattern = moment => (isActive(moment) ? active : dormant)
  const draft = rule(r, interval, at, rateAt, rows, r.pick([0.05, 0.15, 0.25, 0.35]))
  const awake = draft.away
  return {
    ...draft,
    kinds: ['dormant', 'dormant', 'dormant', 'spike', 'burst'],
    allows: (kind, i) => isActive(at[i]!) !== (kind === 'dormant'),
    away: (i, size) => (isActive(at[i]!) ? awake(i, size) : r.uniform(0.03, 0.4)),
    quiet: interval === 'hourly' ? 48 : 6,
    operating: mode,
    ...(mode === 'schedule' && { schedule }),
  }
}
