import fc from 'fast-check'
import t from 'tap'
import { learnCadence } from '../../checks/cadence.ts'
import { advance, isActive, judge, replay, start, verdict } from '../../checks/detector.ts'
import type { DetectorOptions, DetectorState, Point, Verdict } from '../../checks/detector.ts'

const DAY = 86_400
const HOUR = 3600
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400
const STEP = { hourly: HOUR, daily: DAY, weekly: 7 * DAY }

const metric = (series: string, more: Partial<DetectorOptions> = {}): DetectorOptions => ({
  series,
  interval: 'daily',
  direction: 'both',
  sensitivity: 3,
  ...more,
})
const validity = (more: Partial<DetectorOptions> = {}): DetectorOptions =>
  metric('invalid_percent', { direction: 'high', ...more })

/** Points one interval apart. */
function series(
  values: number[],
  total: number | null = null,
  interval: keyof typeof STEP = 'daily',
): Point[] {
  return values.map((value, i) => ({ at: MONDAY + i * STEP[interval], value, total }))
}

/** The verdict on the last value by the ones before it. */
function last(values: number[], options: DetectorOptions, total: number | null = null): Verdict {
  const points = series(values, total, options.interval)
  return judge(points.slice(0, -1), points[points.length - 1]!, options)
}

/** A generator of standard normal numbers (Lehmer, then Box and Muller), the same for the same seed. */
function noise(seed: number): () => number {
  let state = (seed * 48_271 + 1) % 2_147_483_647
  const uniform = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < 5; i++) uniform()
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}
const repeat = (n: number, value: number) => Array<number>(n).fill(value)
const made = (n: number, make: (i: number, random: () => number) => number, seed = 1) => {
  const random = noise(seed)
  return Array.from({ length: n }, (_, i) => make(i, random))
}

const intervals = fc.constantFrom('hourly', 'daily', 'weekly')
const seeds = fc.integer({ min: 1, max: 1_000_000 })
const lengths = fc.integer({ min: 4, max: 60 })
const kinds = fc.constantFrom('row_count', 'duplicate_count', 'null_percent', 'mean', 'invalid_percent')

/** A series of any kind, a gross outlier among its points. */
const anySeries = fc
  .record({ kind: kinds, interval: intervals, seed: seeds, length: lengths })
  .map(({ kind, interval, seed, length }) => {
    const random = noise(seed)
    const percent = kind.endsWith('percent')
    const points = Array.from({ length }, (_, i): Point => {
      const level = (percent ? 10 : 1000) * (i === seed % length ? 3 : 1)
      const value = Math.max(0, level * (1 + 0.1 * random()))
      const whole = kind.endsWith('count') ? Math.round(value) : Math.min(100 * level, value)
      const at = MONDAY + Math.round((i + 0.1 * random()) * STEP[interval])
      return { at, value: percent ? Math.min(100, whole) : whole, total: percent ? 500 : null }
    })
    return { points, options: metric(kind, { interval, direction: seed % 2 ? 'both' : 'high' }) }
  })

/** Verdicts that agree up to rounding, `scale` and `shift` taken out of their values. */
function agree(one: Verdict[], other: Verdict[], scale: number, shift: number): boolean {
  const close = (a: number | null, b: number | null) =>
    a === null || b === null ? a === b : Math.abs(a * scale + shift - b) <= 1e-6 * (1 + Math.abs(b))
  return one.every((v, i) => {
    const w = other[i]!
    const same =
      Math.abs(v.zScore - w.zScore) < 1e-5 * (1 + Math.abs(v.zScore)) && v.isAnomaly === w.isAnomaly
    return same && close(v.expected, w.expected)
  })
}

t.test(
  'every verdict is consistent: finite, ordered, and outside its band exactly when anomalous',
  async () => {
    fc.assert(
      fc.property(
        anySeries,
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        ({ points, options }, sensitivity) =>
          replay(points, { ...options, sensitivity }).every((v, i) => {
            const { value } = points[i]!
            if (v.expected === null || v.low === null || v.high === null)
              return !v.isAnomaly && v.zScore === 0
            const finite = [v.expected, v.low, v.high, v.zScore].every(Number.isFinite)
            const ordered = v.low <= v.expected && v.expected <= v.high && Math.abs(v.zScore) <= 99
            const high = options.direction === 'high'
            const flagged = (high ? v.zScore : Math.abs(v.zScore)) > sensitivity
            const outside = value > v.high || (!high && value < v.low)
            return finite && ordered && v.isAnomaly === flagged && v.isAnomaly === outside
          }),
      ),
      { numRuns: 60 },
    )
  },
)

t.test('a quantity has no favourite unit: scaling a positive series changes no verdict', async () => {
  fc.assert(
    fc.property(seeds, lengths, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (seed, length, factor) => {
      const values = made(length, (i, random) => 50 + 5 * random() + (i === length - 2 ? 100 : 0), seed)
      const scaled = values.map(value => value * factor)
      const options = metric('mean')
      return agree(replay(series(values), options), replay(series(scaled), options), factor, 0)
    }),
    { numRuns: 60 },
  )
})

t.test(
  'values of both signs have no favourite zero either: adding a constant changes no verdict',
  async () => {
    fc.assert(
      fc.property(seeds, lengths, fc.double({ min: -2, max: 2, noNaN: true }), (seed, length, constant) => {
        const edges = [-5.5, 5.5]
        const values = [
          ...edges,
          ...made(length, (i, random) => random() + (i === length - 2 ? 20 : 0), seed),
        ]
        const moved = values.map(value => value + constant)
        const options = metric('mean')
        return agree(replay(series(values), options), replay(series(moved), options), 1, constant)
      }),
      { numRuns: 60 },
    )
  },
)

t.test('a constant series never alerts on itself, whatever its value and kind', async () => {
  fc.assert(
    fc.property(
      kinds,
      intervals,
      fc.integer({ min: 0, max: 100 }),
      lengths,
      (kind, interval, value, length) => {
        const points = series(repeat(length, value), 1000, interval)
        const said = replay(points, metric(kind, { interval, sensitivity: 0.1 }))
        return said.every(v => !v.isAnomaly && Math.abs(v.zScore) < 0.1)
      },
    ),
    { numRuns: 60 },
  )
})

t.test('widening the sensitivity never adds an alert, and moves no score', async () => {
  const sensitivity = fc.double({ min: 0.1, max: 10, noNaN: true })
  fc.assert(
    fc.property(anySeries, sensitivity, sensitivity, ({ points, options }, a, b) => {
      const narrow = replay(points, { ...options, sensitivity: Math.min(a, b) })
      const wide = replay(points, { ...options, sensitivity: Math.max(a, b) })
      return wide.every((v, i) => v.zScore === narrow[i]!.zScore && (!v.isAnomaly || narrow[i]!.isAnomaly))
    }),
    { numRuns: 40 },
  )
})

t.test('no verdict depends on later points', async () => {
  fc.assert(
    fc.property(anySeries, fc.nat(), ({ points, options }, cut) => {
      const i = cut % points.length
      const alone = judge(points.slice(0, i), points[i]!, options)
      return JSON.stringify(alone) === JSON.stringify(replay(points, options)[i])
    }),
    { numRuns: 60 },
  )
})

t.test('a stored state goes on where it was: point by point over JSON equals the replay', async () => {
  const operating = fc.constantFrom<DetectorOptions['operating']>(undefined, { mode: 'auto' })
  fc.assert(
    fc.property(anySeries, operating, ({ points, options: plain }, operating) => {
      const options = { ...plain, operating }
      let stored = JSON.stringify(start(options))
      const said = points.map(point => {
        const v = verdict(JSON.parse(stored) as DetectorState, point, options.sensitivity)
        stored = JSON.stringify(advance(JSON.parse(stored) as DetectorState, point))
        return v
      })
      return JSON.stringify(said) === JSON.stringify(replay(points, options))
    }),
    { numRuns: 30 },
  )
})

t.test('a state of another version is refused with what to do', async t => {
  const old = { ...start(metric('mean')), version: 0 }
  t.throws(() => advance(old, { at: MONDAY, value: 1 }), /rebuild it from the history/)
  t.throws(() => verdict(old, { at: MONDAY, value: 1 }, 3), /rebuild it from the history/)
})

t.test('a metric says nothing before 3 points, and is learning before 7', async t => {
  const said = replay(
    series([100, 102, 900, 101, 5000, 99, 101, 100, 103]),
    metric('row_count', { sensitivity: 1 }),
  )
  t.same(
    said.slice(0, 3).map(v => [v.zScore, v.isAnomaly, v.expected]),
    repeat(3, 0).map(() => [0, false, null]),
  )
  t.same(
    said.map(v => v.learning),
    [true, true, true, true, true, true, true, false, false],
  )
})

t.test('validity is silent before 7 results and has a band from the 8th on', async t => {
  const said = replay(series([1, 1.2, 0.9, 1.1, 1, 90, 1, 40], 1000), validity())
  t.match(said[6], { expected: null, low: null, high: null, zScore: 0, isAnomaly: false, learning: true })
  t.equal(said[7]!.isAnomaly, true)
  t.equal(said[7]!.learning, false)
})

const golden: [
  name: string,
  values: number[],
  options: DetectorOptions,
  total: number | null,
  want: boolean,
][] = [
  ['a constant count, again', [...repeat(10, 100), 100], metric('row_count'), null, false],
  ['a constant count, tenfold', [...repeat(3, 100), 1000], metric('row_count'), null, true],
  ['a constant count, gone', [...repeat(5, 100), 0], metric('row_count'), null, true],
  ['zeros stay zero', [...repeat(20, 0), 0], metric('duplicate_count'), null, false],
  ['five hundred after zeros', [...repeat(20, 0), 500], metric('duplicate_count'), null, true],
  ['a table that grows', [1, 2, 3, 4, 5, 6, 7, 8, 9], metric('row_count'), null, false],
  ['a growing table that loses rows', [...made(10, i => 100 + 10 * i), 60], metric('row_count'), null, true],
  ['negative values', [-5, -5.2, -4.9, -5.1, -5, -4.8, -5.1, -50], metric('min_value'), null, true],
  [
    'numbers near the limits of precision',
    [1e15, 1.001e15, 0.999e15, 1e15, 3e15],
    metric('row_count'),
    null,
    true,
  ],
  ['a low share of invalid rows', [...repeat(10, 30), 0], validity({ sensitivity: 1 }), 1000, false],
  ['one invalid row of 10', [...repeat(10, 0), 10], validity({ sensitivity: 2 }), 10, false],
  ['five invalid rows of 10', [...repeat(10, 0), 50], validity({ sensitivity: 2 }), 10, true],
  [
    'two invalid rows of 5 where one is usual',
    [...repeat(7, 20), 40],
    validity({ sensitivity: 2 }),
    5,
    false,
  ],
  ['0.2 % of a million rows', [...repeat(10, 0), 0.2], validity(), 1_000_000, true],
  ['always all rows', [...repeat(10, 100), 100], validity(), 10, false],
  ['9 % after 5 % of 100, narrow', [...repeat(8, 5), 9], validity({ sensitivity: 1 }), 100, true],
  ['9 % after 5 % of 100, wide', [...repeat(8, 5), 9], validity({ sensitivity: 4 }), 100, false],
]
for (const [name, values, options, total, want] of golden) {
  t.test(`${name}: ${want ? 'an anomaly' : 'no anomaly'}`, async t => {
    t.equal(last(values, options, total).isAnomaly, want)
  })
}

t.test('a level shift is noticed, and learned within 8 points', async t => {
  for (const seed of [1, 2, 3]) {
    const values = made(60, (i, random) => (i < 40 ? 1000 : 1600) + 20 * random(), seed)
    const said = replay(series(values), metric('mean'))
    t.equal(said[40]!.isAnomaly, true)
    t.same(
      said.slice(48).filter(v => v.isAnomaly),
      [],
    )
  }
})

t.test('a weekday pattern is learned: a quiet Sunday is normal, a quiet Wednesday is not', async t => {
  const week = [1000, 1000, 1000, 1000, 1000, 200, 200]
  const history = made(42, (i, random) => Math.round(week[i % 7]! + 10 * random()))
  t.equal(last([...history, 1000], metric('row_count')).isAnomaly, false)
  t.equal(last([...history, 200], metric('row_count')).isAnomaly, true)
  t.equal(last([...history, ...history.slice(0, 6), 205], metric('row_count')).isAnomaly, false)
})

t.test('month starts are learned from the second one on', async t => {
  const isStart = (i: number) => new Date((MONDAY + i * DAY) * 1000).getUTCDate() === 1
  const history = made(103, (i, random) => Math.round((isStart(i) ? 3000 : 1000) + 20 * random()))
  t.equal(isStart(102), true)
  t.equal(last(history, metric('row_count')).isAnomaly, false, 'the fourth start')
  t.equal(
    last([...history.slice(0, 100), 3000], metric('row_count')).isAnomaly,
    true,
    'in the middle of a month',
  )
})

t.test('an hourly pattern is learned', async t => {
  const options = metric('row_count', { interval: 'hourly' })
  const night = (i: number) => (i % 24 < 6 ? 20 : 500)
  const history = made(24 * 8, (i, random) => Math.round(night(i) + 0.05 * night(i) * random()))
  t.equal(last([...history, 20], options).isAnomaly, false)
  t.equal(last([...history, 500], options).isAnomaly, true)
})

t.test('one outlier does not poison the baseline', async t => {
  const history = made(30, (_, random) => 1000 + 10 * random())
  for (const kind of ['row_count', 'mean']) {
    const clean = last([...history, ...repeat(3, 1000), 1200], metric(kind))
    const hit = last([...history, 50_000, ...repeat(2, 1000), 1200], metric(kind))
    t.equal(clean.isAnomaly, true)
    t.equal(hit.isAnomaly, true)
    t.ok(hit.high! - hit.low! < 2 * (clean.high! - clean.low!))
  }
})

t.test('missing captures spread a growing table over the time it took', async t => {
  const points = series(made(20, i => 1000 + 100 * i))
  const later = { at: points[19]!.at + 4 * DAY, value: points[19]!.value + 400 }
  t.equal(judge(points, later, metric('row_count')).isAnomaly, false)
  t.equal(judge(points, { ...later, value: later.value + 4000 }, metric('row_count')).isAnomaly, true)
})

t.test('a schedule is read in its own zone, over midnight and through a change of the clocks', async t => {
  const at = (iso: string) => Date.parse(iso) / 1000
  const nights = { timezone: 'Europe/Berlin', rules: [{ days: [5], start: '22:00', end: '06:00' }] }
  t.equal(isActive(nights, at('2023-11-24T20:59:00Z')), false)
  t.equal(isActive(nights, at('2023-11-24T21:00:00Z')), true)
  t.equal(isActive(nights, at('2023-11-25T04:59:00Z')), true)
  t.equal(isActive(nights, at('2023-11-25T05:00:00Z')), false)
  t.equal(isActive(nights, at('2023-11-24T04:00:00Z')), false, 'the early hours belong to the day before')
  const office = {
    timezone: 'America/New_York',
    rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }],
  }
  t.equal(isActive(office, at('2024-03-08T13:30:00Z')), false, 'before the clocks change')
  t.equal(isActive(office, at('2024-03-11T13:30:00Z')), true, 'after the clocks changed')
  const always = { timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '24:00' }] }
  t.equal(isActive(always, at('2024-03-11T23:59:59Z')), true)
})

t.test('a schedule that cannot be read says what to write', async t => {
  t.throws(
    () => isActive({ timezone: 'Mars/Olympus', rules: [] }, MONDAY),
    /Unknown time zone "Mars\/Olympus"/,
  )
  const rules = [{ days: [1], start: '9am', end: '17:00' }]
  t.throws(() => isActive({ timezone: 'UTC', rules }, MONDAY), /Unreadable time "9am"/)
})

const office = { timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }] }
const works = (at: number) => isActive(office, at)
for (const mode of ['schedule', 'auto'] as const) {
  t.test(`operating by ${mode}: active is compared with active, dormant alerts on activity only`, async t => {
    const options = validity({ interval: 'hourly', operating: { mode, schedule: office } })
    const history = Array.from({ length: 24 * 14 }, (_, i): Point => {
      const at = MONDAY + i * HOUR
      return { at, value: works(at) ? 10 + (i % 5) * 0.4 : 0, total: 1000 }
    })
    const ask = (hour: number, value: number, sensitivity = 3) =>
      judge(
        history,
        { at: MONDAY + (24 * 14 + hour) * HOUR, value, total: 1000 },
        { ...options, sensitivity },
      )
    t.equal(ask(10, 11).isAnomaly, false, 'the usual rate')
    t.equal(ask(10, 33).isAnomaly, true, 'three times the rate')
    t.equal(ask(10, 0, 1).isAnomaly, false, 'nothing in an active hour')
    t.equal(ask(2, 0, 1).isAnomaly, false, 'nothing in a dormant hour')
    t.equal(ask(2, 0.1).isAnomaly, false, 'next to nothing in a dormant hour')
    t.equal(ask(2, 11).isAnomaly, true, 'the daily rate in a dormant hour')
  })
}

t.test(
  'the first active results of a schedule are a cold start, however many dormant ones there are',
  async t => {
    const history = series(repeat(9, 0), 1000, 'hourly')
    const options = validity({ interval: 'hourly', operating: { mode: 'schedule', schedule: office } })
    const first = judge(history, { at: MONDAY + 9 * HOUR, value: 50, total: 1000 }, options)
    t.same([first.learning, first.isAnomaly, first.expected], [true, false, null])
  },
)

t.test('the cadence of updates: null before 7, then the usual gap and a deadline beyond it', async t => {
  const daily = Array.from({ length: 40 }, (_, i) => MONDAY + i * DAY + (i % 3) * 60)
  t.equal(learnCadence(daily.slice(0, 6)), null)
  const cadence = learnCadence(daily)!
  const due = daily[39]! + DAY
  t.ok(Math.abs(cadence.expectedNext - due) < 600)
  t.ok(cadence.deadline > cadence.expectedNext && cadence.deadline < due + DAY / 2)
  t.ok(Math.abs(cadence.typicalGapSeconds - DAY) < 300)
  const [narrow, wide] = [learnCadence(daily, 1)!, learnCadence(daily, 4)!]
  t.ok(narrow.deadline < cadence.deadline && cadence.deadline < wide.deadline)
})

t.test('a table that rests at the weekend is not late on a Sunday', async t => {
  const weekdays = Array.from({ length: 42 }, (_, i) => MONDAY + i * DAY).filter((_, i) => i % 7 < 5)
  const friday = learnCadence(weekdays)!
  t.equal(friday.expectedNext, MONDAY + 42 * DAY)
  t.ok(friday.deadline > MONDAY + 42 * DAY && friday.deadline < MONDAY + 43 * DAY)
})

t.test('a table that rests at night is not late at night, and late soon by day', async t => {
  const updates = Array.from({ length: 14 * 96 }, (_, i) => MONDAY + i * 900).filter(at => {
    const hour = Math.floor(at / HOUR) % 24
    return hour >= 8 && hour < 20
  })
  const evening = learnCadence(updates)!
  t.ok(evening.deadline > updates[updates.length - 1]! + 12 * HOUR)
  const noon = learnCadence(updates.slice(0, -32))!
  t.ok(noon.deadline < updates[updates.length - 33]! + HOUR)
})

t.test('a second look at the same interval is no step of its own, and does not spoil the next', t => {
  const day = 86_400
  const points: Point[] = []
  let value = 100
  for (let d = 0; d < 29; d++) points.push({ at: d * day, value: (value += 50 + ((d * 7) % 11)) })
  const again = [26, 40, 50].map(seconds => ({ at: 28 * day + seconds, value }))
  const next = [
    { at: 29 * day, value: value + 55 },
    { at: 30 * day, value: value + 55 },
  ]
  const said = replay([...points, ...again, ...next], {
    series: 'row_count',
    interval: 'daily',
    direction: 'both',
    sensitivity: 3,
  }).slice(-5)
  t.same(
    said.map(({ isAnomaly }) => isAnomaly),
    [false, false, false, false, true],
    'a repeat is normal, the usual growth after it too, and no growth over a day is not',
  )
  t.ok(
    said.every(({ high, expected }) => high! < 2 * expected!),
    'the band stays a band',
  )
  t.end()
})

t.test('a value that somebody confirmed is expected again', async t => {
  const usual = made(40, (_, random) => Math.round(10_000 + 200 * random()))
  const point = (i: number, value: number, confirmed = false): Point => ({
    at: MONDAY + i * DAY,
    value,
    confirmed,
  })
  const history = usual.map((value, i) => point(i, value))
  const judged = (past: Point[], value: number) => judge(past, point(past.length, value), metric('row_count'))

  t.equal(judged(history, 30_000).isAnomaly, true)
  const unconfirmed = [...history, point(40, 30_000)]
  t.equal(judged(unconfirmed, 30_100).isAnomaly, true, 'news, as long as nobody says otherwise')
  const confirmed = [...history, point(40, 30_000, true)]
  const again = judged(confirmed, 30_100)
  t.equal(again.isAnomaly, false, 'the same again is no news')
  t.ok(again.high! >= 30_100 && again.low! < 10_000, 'and the band says so')
  t.equal(judged(confirmed, 60_000).isAnomaly, true, 'more of it is')
  t.equal(judged(confirmed, 3_000).isAnomaly, true, 'the other side is as before')
  t.same(judged(confirmed, 10_050).isAnomaly, false)

  const later = [
    ...confirmed,
    ...usual.map((value, i) => point(41 + i, value)),
    ...history.map(({ value }, i) => point(81 + i, value)),
  ]
  t.equal(judged(later, 30_000).isAnomaly, true, 'what does not come again is news again')
})

t.test('what somebody confirmed makes no other value news', async t => {
  fc.assert(
    fc.property(anySeries, fc.nat(), (made, pick) => {
      const { points, options } = made
      const before = points.slice(0, -2)
      const probe = points[points.length - 1]!
      const off = points[points.length - 2]!
      if (before.length < 7) return
      const state = () => before.reduce(advance, start(options))
      const usual = verdict(state(), probe, 1 + (pick % 4))
      const wider = verdict({ ...state(), confirmed: [{ value: off.value, left: 5 }] }, probe, 1 + (pick % 4))
      t.ok(Math.abs(wider.zScore) <= Math.abs(usual.zScore) + 1e-9)
      if (usual.low !== null) t.ok(wider.low! <= usual.low + 1e-9 && wider.high! >= usual.high! - 1e-9)
    }),
  )
})

t.test('values of any size have finite verdicts', async t => {
  const sizes = fc.constantFrom(1e-308, 1e-200, 1e-150, 1e-50, 1e50, 1e150, 1e200, 1e300)
  fc.assert(
    fc.property(sizes, seeds, kinds, (size, seed, kind) => {
      if (kind.endsWith('percent')) return
      const random = noise(seed)
      const points = series(Array.from({ length: 40 }, () => size * (1 + 0.1 * random())))
      for (const { expected, low, high, zScore } of replay(points, metric(kind))) {
        t.ok(Number.isFinite(zScore))
        if (expected !== null)
          t.ok([expected, low, high].every(Number.isFinite) && low! <= expected && expected <= high!)
      }
    }),
    { numRuns: 60 },
  )
})

t.test('a table that empties is news on any day, a first month start included', async t => {
  for (const noise of [0, 0.05]) {
    const values = made(80, (_, random) => Math.round(1_000 * (1 + noise * random())))
    const points = series(values)
    for (let day = 7; day < 80; day++) {
      const said = judge(points.slice(0, day), { ...points[day]!, value: 0 }, metric('row_count'))
      t.ok(said.zScore < -3, `on day ${day}, noise ${noise}: ${said.zScore}`)
    }
  }
})

t.test('a metric type may be called anything', async t => {
  for (const name of ['constructor', '__proto__', 'toString'])
    t.equal(judge(series(repeat(9, 5)), { at: MONDAY + 9 * DAY, value: 5 }, metric(name)).isAnomaly, false)
})

t.test('what comes after a surprise may be as before it', async t => {
  const usual = made(40, (_, random) => Math.round(1_000 * (1 + 0.02 * random())))
  const points = series([...usual, 2_000, 2_010, 1_990])
  const said = judge(points, { at: MONDAY + 43 * DAY, value: 1_000 }, metric('row_count'))
  t.equal(said.isAnomaly, false, 'an incident that ends is no second one')
})
