import fc from 'fast-check'
import t from 'tap'
import { learnPoint, judgeByHistory, replaySeries, startDetector, judgePoint } from '../../checks/detector.ts'
import type { DetectorOptions, DetectorState, SeriesPoint, SeriesVerdict } from '../../checks/detector.ts'
import { domainOfSeries } from '../../checks/series-domains.ts'

const DAY = 86_400
const HOUR = 3600
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400
const STEP = { hourly: HOUR, daily: DAY, weekly: 7 * DAY }

const metric = (series: string, more: Partial<DetectorOptions> = {}): DetectorOptions => ({
  series,
  domain: domainOfSeries(series),
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
): SeriesPoint[] {
  return values.map((value, i) => ({ at: MONDAY + i * STEP[interval], value, total }))
}

/** The verdict on the last value by the ones before it. */
function last(values: number[], options: DetectorOptions, total: number | null = null): SeriesVerdict {
  const points = series(values, total, options.interval)
  return judgeByHistory(points.slice(0, -1), points[points.length - 1]!, options)
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
    const points = Array.from({ length }, (_, i): SeriesPoint => {
      const level = (percent ? 10 : 1000) * (i === seed % length ? 3 : 1)
      const value = Math.max(0, level * (1 + 0.1 * random()))
      const whole = kind.endsWith('count') ? Math.round(value) : Math.min(100 * level, value)
      const at = MONDAY + Math.round((i + 0.1 * random()) * STEP[interval])
      return { at, value: percent ? Math.min(100, whole) : whole, total: percent ? 500 : null }
    })
    return { points, options: metric(kind, { interval, direction: seed % 2 ? 'both' : 'high' }) }
  })

/**
 * Verdicts that agree up to rounding, `scale` and `shift` taken out of their values. Rounding may choose either of two
 * equally good predictors, so a comparison with this function always uses the same series.
 */
function agree(one: SeriesVerdict[], other: SeriesVerdict[], scale: number, shift: number): boolean {
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
          replaySeries(points, { ...options, sensitivity }).every((v, i) => {
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
      return agree(replaySeries(series(values), options), replaySeries(series(scaled), options), factor, 0)
    }),
    { numRuns: 60, seed: 3 },
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
        return agree(replaySeries(series(values), options), replaySeries(series(moved), options), 1, constant)
      }),
      { numRuns: 60, seed: 3 },
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
        const said = replaySeries(points, metric(kind, { interval, sensitivity: 0.1 }))
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
      const narrow = replaySeries(points, { ...options, sensitivity: Math.min(a, b) })
      const wide = replaySeries(points, { ...options, sensitivity: Math.max(a, b) })
      return wide.every((v, i) => v.zScore === narrow[i]!.zScore && (!v.isAnomaly || narrow[i]!.isAnomaly))
    }),
    { numRuns: 40 },
  )
})

t.test('no verdict depends on later points', async () => {
  fc.assert(
    fc.property(anySeries, fc.nat(), ({ points, options }, cut) => {
      const i = cut % points.length
      const alone = judgeByHistory(points.slice(0, i), points[i]!, options)
      return JSON.stringify(alone) === JSON.stringify(replaySeries(points, options)[i])
    }),
    { numRuns: 60 },
  )
})

t.test('a stored state goes on where it was: point by point over JSON equals the replay', async () => {
  const operating = fc.constantFrom<DetectorOptions['operating']>(undefined, { mode: 'auto' })
  fc.assert(
    fc.property(anySeries, operating, ({ points, options: plain }, operating) => {
      const options = { ...plain, operating }
      let stored = JSON.stringify(startDetector(options))
      const said = points.map(point => {
        const v = judgePoint(JSON.parse(stored) as DetectorState, point, options.sensitivity)
        stored = JSON.stringify(learnPoint(JSON.parse(stored) as DetectorState, point))
        return v
      })
      return JSON.stringify(said) === JSON.stringify(replaySeries(points, options))
    }),
    { numRuns: 30 },
  )
})

t.test('a state of another version is refused with what to do', async t => {
  const old = { ...startDetector(metric('mean')), version: 0 }
  t.throws(() => learnPoint(old, { at: MONDAY, value: 1 }), /rebuild it from the history/)
  t.throws(() => judgePoint(old, { at: MONDAY, value: 1 }, 3), /rebuild it from the history/)
})

t.test('a metric says nothing before 3 points, and is learning before 7', async t => {
  const said = replaySeries(
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
  const said = replaySeries(series([1, 1.2, 0.9, 1.1, 1, 90, 1, 40], 1000), validity())
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

for (const interval of ['hourly', 'daily'] as const)
  for (const [before, after] of [
    [1000, 1600],
    [1600, 1000],
    [1000, 5000],
    [5000, 1000],
  ] as const) {
    t.test(
      `a level shift from ${before} to ${after}, ${interval}, is news, and learned in a week of points`,
      async t => {
        for (const seed of [1, 2, 3]) {
          const values = made(
            70,
            (i, random) => Math.round((i < 60 ? before : after) * (1 + 0.02 * random())),
            seed,
          )
          for (const kind of ['row_count', 'mean']) {
            const said = replaySeries(series(values, null, interval), metric(kind, { interval }))
            t.equal(said[60]!.isAnomaly, true)
            t.notOk(said.slice(67).some(v => v.isAnomaly))
          }
        }
      },
    )
  }

t.test('a higher share of invalid rows is news for three results, a lower one never', async t => {
  const values = made(75, (i, random) => Math.max(0, (i >= 25 && i < 50 ? 8 : 2) + 0.3 * random()))
  const said = replaySeries(series(values, 1000), validity())
  t.same(
    said.flatMap((v, i) => (v.isAnomaly ? [i] : [])),
    [25, 26, 27],
  )
})

t.test('a growing table: no load, a double load and a deletion are news, the next load is not', async t => {
  for (const seed of [1, 2, 3]) {
    const loads = made(60, (_, random) => Math.round(1000 * (1 + 0.05 * random())), seed)
    const after = (load: number) => {
      const sums = [...loads, load, 1000].reduce((rows, one) => [...rows, rows.at(-1)! + one], [50_000])
      return replaySeries(series(sums), metric('row_count'))
        .slice(-2)
        .map(v => v.isAnomaly)
    }
    t.same(after(1000), [false, false])
    for (const load of [0, 2000, -5000]) t.same(after(load), [true, false], `after a load of ${load}`)
  }
})

t.test('the first free weekend is news, later ones are not, and any other day off is', async t => {
  const isFree = (i: number) => i % 7 >= 5
  for (const seed of [1, 2, 3]) {
    const values = made(35, (i, random) => Math.round((isFree(i) ? 200 : 1000) * (1 + 0.03 * random())), seed)
    const said = replaySeries(series(values), metric('row_count'))
    t.same(
      said.flatMap((v, i) => (v.isAnomaly && i >= 7 ? [i] : [])),
      [],
    )
    for (const week of [2, 3, 4]) {
      const wednesday = series(values.slice(0, 7 * week + 3)).at(-1)!
      const off = { ...wednesday, value: 200 }
      t.equal(judgeByHistory(series(values.slice(0, 7 * week + 2)), off, metric('row_count')).isAnomaly, true)
    }
  }
})

t.test('a first month start may bring more', async t => {
  const firstOfDecember = 11
  const history = made(firstOfDecember, (_, random) => Math.round(1000 * (1 + 0.03 * random())))
  t.equal(last([...history, 2000], metric('row_count')).isAnomaly, false)
  t.equal(
    last([...history.slice(0, -2), 2000], metric('row_count')).isAnomaly,
    true,
    'a day within the month may not',
  )
})

t.test('a long incident is a level of its own: its end is news once, and then forgotten', async t => {
  for (const seed of [1, 2, 3]) {
    const isIncident = (i: number) => i >= 60 && i < 80
    const values = made(
      95,
      (i, random) => Math.round((isIncident(i) ? 3000 : 1000) * (1 + 0.03 * random())),
      seed,
    )
    const said = replaySeries(series(values), metric('row_count')).map(v => v.isAnomaly)
    t.same([said[60], said[80]], [true, true])
    t.notOk(said.slice(67, 80).includes(true) || said.slice(82).includes(true))
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
  t.equal(judgeByHistory(points, later, metric('row_count')).isAnomaly, false)
  t.equal(
    judgeByHistory(points, { ...later, value: later.value + 4000 }, metric('row_count')).isAnomaly,
    true,
  )
})

t.test('a second look at the same interval is no step of its own, and does not spoil the next', async t => {
  const points = series(made(29, i => 100 + 50 * i + ((i * 7) % 11)))
  const { at, value } = points[28]!
  const again = [26, 40, 50].map(seconds => ({ at: at + seconds, value }))
  const next = [1, 2].map(days => ({ at: at + days * DAY, value: value + 55 }))
  const said = replaySeries([...points, ...again, ...next], metric('row_count')).slice(-5)
  t.same(
    said.map(({ isAnomaly }) => isAnomaly),
    [false, false, false, false, true],
    'a repeat is normal, the usual growth after it too, and no growth over a day is not',
  )
  t.ok(
    said.every(({ high, expected }) => high! < 2 * expected!),
    'the band stays a band',
  )
})

t.test('a confirmed value is expected again', async t => {
  const usual = made(40, (_, random) => Math.round(10_000 + 200 * random()))
  const point = (i: number, value: number, confirmed = false): SeriesPoint => ({
    at: MONDAY + i * DAY,
    value,
    confirmed,
  })
  const history = usual.map((value, i) => point(i, value))
  const judged = (past: SeriesPoint[], value: number) =>
    judgeByHistory(past, point(past.length, value), metric('row_count'))

  t.equal(judged(history, 30_000).isAnomaly, true)
  const unconfirmed = [...history, point(40, 30_000)]
  t.equal(judged(unconfirmed, 30_100).isAnomaly, true, 'news, unless it is confirmed')
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

t.test('a confirmed value keeps the band within the values that can occur', async t => {
  const confirming = (kind: string, values: number[], value: number) =>
    judgeByHistory(
      [...series(values, 1000), { at: MONDAY + values.length * DAY, value, total: 1000, confirmed: true }],
      { at: MONDAY + (values.length + 1) * DAY, value: values[0]!, total: 1000 },
      metric(kind),
    )
  const rows = made(40, (_, random) => Math.round(10_000 + 200 * random()))
  t.equal(confirming('row_count', rows, 0).low, 0, 'no table has less than no rows')
  const low = made(40, (_, random) => 8 + random())
  t.equal(confirming('null_percent', low, 0).low, 0)
  const high = low.map(value => 100 - value)
  t.equal(confirming('null_percent', high, 100).high, 100)
})

t.test('a table that empties is news although half of it was confirmed', async t => {
  const rows = made(40, (_, random) => Math.round(10_000 + 200 * random()))
  const half: SeriesPoint = { at: MONDAY + 40 * DAY, value: 5_000, confirmed: true }
  const said = judgeByHistory(
    [...series(rows), half],
    { at: MONDAY + 41 * DAY, value: 0 },
    metric('row_count'),
  )
  t.equal(said.isAnomaly, true)
})

t.test('a confirmed value makes no other value news', async t => {
  const ofBothSigns = anySeries.chain(({ points, options }) =>
    fc.constantFrom(0, options.series.endsWith('percent') ? 0 : 1000).map(shift => ({
      points: points.map(point => ({ ...point, value: point.value - shift })),
      options,
    })),
  )
  fc.assert(
    fc.property(ofBothSigns, fc.nat(), ({ points, options }, pick) => {
      const before = points.slice(0, -2)
      const probe = points[points.length - 1]!
      const off = points[points.length - 2]!
      if (before.length < 7) return
      const state = () => before.reduce(learnPoint, startDetector(options))
      const usual = judgePoint(state(), probe, 1 + (pick % 4))
      const wider = judgePoint(
        { ...state(), confirmed: [{ value: off.value, left: 5 }] },
        probe,
        1 + (pick % 4),
      )
      t.ok(Math.abs(wider.zScore) <= Math.abs(usual.zScore) + 1e-9)
      if (usual.low !== null) t.ok(wider.low! <= usual.low + 1e-9 && wider.high! >= usual.high! - 1e-9)
    }),
  )
})

t.test(
  'values of any size, and of all sizes together, have finite verdicts that keep their promises',
  async t => {
    const sizes = fc.constantFrom(1e-308, 1e-200, 1e-150, 1e-50, 0, 1, 1e50, 1e150, 1e200, 1e300)
    const values = fc.oneof(
      fc
        .tuple(sizes, seeds)
        .map(([size, seed]) => made(40, (_, random) => size * (1 + 0.1 * random()), seed)),
      fc
        .array(fc.tuple(sizes, fc.constantFrom(-1, 1)), { minLength: 4, maxLength: 20 })
        .map(all => all.map(([size, sign]) => sign * size)),
    )
    fc.assert(
      fc.property(values, fc.constantFrom('row_count', 'duplicate_count', 'mean'), (values, kind) => {
        const said = replaySeries(series(values), metric(kind))
        return said.every(({ expected, low, high, zScore, isAnomaly }, i) => {
          if (expected === null || low === null || high === null) return zScore === 0 && !isAnomaly
          const isFinite = [expected, low, high, zScore].every(Number.isFinite)
          const isOutside = values[i]! < low || values[i]! > high
          return isFinite && low <= expected && expected <= high && isAnomaly === isOutside
        })
      }),
      { numRuns: 200 },
    )
  },
)

t.test('a table that empties is news on any day, a first month start included', async t => {
  for (const noise of [0, 0.05]) {
    const values = made(80, (_, random) => Math.round(1_000 * (1 + noise * random())))
    const points = series(values)
    for (let day = 7; day < 80; day++) {
      const said = judgeByHistory(points.slice(0, day), { ...points[day]!, value: 0 }, metric('row_count'))
      t.ok(said.zScore < -3, `on day ${day}, noise ${noise}: ${said.zScore}`)
    }
  }
})

t.test('a metric type may be called anything', async t => {
  for (const name of ['constructor', '__proto__', 'toString'])
    t.equal(
      judgeByHistory(series(repeat(9, 5)), { at: MONDAY + 9 * DAY, value: 5 }, metric(name)).isAnomaly,
      false,
    )
})

t.test('what comes after a surprise may be as before it', async t => {
  const usual = made(40, (_, random) => Math.round(1_000 * (1 + 0.02 * random())))
  const points = series([...usual, 2_000, 2_010, 1_990])
  const said = judgeByHistory(points, { at: MONDAY + 43 * DAY, value: 1_000 }, metric('row_count'))
  t.equal(said.isAnomaly, false, 'an incident that ends is no second one')
})

t.test('three wild days in a row do not blind a metric', async t => {
  for (const wild of [
    [0, 0, 0],
    [1_900, 2_600, 2_250],
    [0, 2_000, 0],
  ]) {
    const calm = made(90, (_, random) => Math.round(1_000 + 12 * random()))
    const points = series([...calm.slice(0, 45), ...wild, ...calm.slice(45)])
    const later = points.slice(0, 45 + 3 + 35)
    for (const value of [500, 2_000]) {
      const said = judgeByHistory(later, { at: MONDAY + later.length * DAY, value }, metric('row_count'))
      t.equal(said.isAnomaly, true, `${value} after ${wild.join(', ')}`)
    }
  }
})

t.test('a value measured again at once is judged as the first time', async t => {
  const points = series(made(40, i => 300 + 9 * i + ((i * 7) % 4)))
  const { at, value } = points[39]!
  const jump = { at: at + DAY, value: value + 90 }
  const [first, again] = replaySeries(
    [...points, jump, { ...jump, at: jump.at + 35 }],
    metric('row_count'),
  ).slice(-2)
  t.same([first!.isAnomaly, again!.isAnomaly], [true, true], 'an anomaly does not pass by being looked at')
})
