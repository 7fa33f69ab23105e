import fc from 'fast-check'
import { DateTime } from 'luxon'
import t from 'tap'
import {
  learnPoint,
  isActive,
  judgeByHistory,
  replaySeries,
  startDetector,
  judgePoint,
} from '../../../checks/detector.ts'
import type {
  DetectorOptions,
  DetectorState,
  Operating,
  SeriesPoint,
  Schedule,
} from '../../../checks/detector.ts'
import { feedOperating, judgeOperating, startOperating } from '../../../checks/detector/operating.ts'

const HOUR = 3600
const DAY = 24 * HOUR
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400
const STEP = { hourly: HOUR, daily: DAY, weekly: 7 * DAY }

const office: Schedule = {
  timezone: 'UTC',
  rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }],
}
const works = (at: number) => isActive(office, at)
const rule = (more: Partial<DetectorOptions> = {}): DetectorOptions => ({
  series: 'invalid_percent',
  domain: 'percent',
  interval: 'hourly',
  direction: 'high',
  sensitivity: 3,
  ...more,
})
const bySchedule = rule({ operating: { mode: 'schedule', schedule: office } })
const byAuto = rule({ operating: { mode: 'auto' } })

/** Results one interval apart, in percent of `total` rows. */
function results(
  n: number,
  percent: (at: number, i: number) => number,
  options = rule(),
  total = 1000,
): SeriesPoint[] {
  return Array.from({ length: n }, (_, i) => {
    const at = MONDAY + i * STEP[options.interval]
    return { at, value: percent(at, i), total }
  })
}

/** Two weeks of a table that works in office hours, with about a tenth of its rows invalid. */
const usual = (at: number, i: number) => (works(at) ? 10 + (i % 5) * 0.4 : 0)
const twoWeeks = results(24 * 14, usual)
/** A result so many hours after the two weeks, which is a Monday at that hour. */
const later = (hour: number, value: number, total = 1000): SeriesPoint => ({
  at: MONDAY + (24 * 14 + hour) * HOUR,
  value,
  total,
})

const intervals = fc.constantFrom('hourly', 'daily', 'weekly')
const percents = fc.double({ min: 0, max: 100, noNaN: true })
const sensitivities = fc.integer({ min: 1, max: 4 })
const modes = fc.constantFrom('off', 'schedule', 'auto').map(mode => ({ mode, schedule: office }) as const)
const histories = fc.array(fc.tuple(percents, fc.nat(5000)), { minLength: 7, maxLength: 80 })
const pointsOf = (values: [number, number][], interval: keyof typeof STEP): SeriesPoint[] =>
  values.map(([value, total], i) => ({ at: MONDAY + i * STEP[interval], value, total }))

t.test('rule 2: a usual rate passes although rows are invalid, an unusually high one alerts', async t => {
  const options = rule({ interval: 'daily' })
  const history = results(30, (_, i) => 4 + (i % 4) * 0.3, options)
  const at = MONDAY + 30 * DAY
  t.equal(judgeByHistory(history, { at, value: 4.8, total: 1000 }, options).isAnomaly, false)
  const high = judgeByHistory(history, { at, value: 12, total: 1000 }, options)
  t.equal(high.isAnomaly, true)
  t.ok(high.high! < 12 && high.expected! > 3 && high.expected! < 6)
})

t.test('rule 2: a low rate never alerts, whatever the mode', async t => {
  fc.assert(
    fc.property(intervals, modes, histories, sensitivities, (interval, operating, values, sensitivity) => {
      const options = rule({ interval, operating, sensitivity })
      for (const [i, said] of replaySeries(pointsOf(values, interval), options).entries())
        if (said.isAnomaly) t.ok(values[i]![0] > said.expected!, 'only above what is expected')
    }),
  )
})

t.test('rule 2: a weekday pattern is part of the baseline once it has been seen', async t => {
  const options = rule({ interval: 'daily' })
  const history = results(35, (_, i) => (i % 7 === 0 ? 20 : 5) + (i % 3) * 0.1, options)
  const on = (day: number, value: number) =>
    judgeByHistory(history, { at: MONDAY + (35 + day) * DAY, value, total: 1000 }, options).isAnomaly
  t.equal(on(0, 20.2), false, 'the rate of Mondays on a Monday')
  t.equal(on(2, 20.2), true, 'the rate of Mondays on a Wednesday')
})

t.test('rule 3: fewer than 7 prior results are recorded without a verdict', async t => {
  fc.assert(
    fc.property(intervals, modes, histories, sensitivities, (interval, operating, values, sensitivity) => {
      const said = replaySeries(pointsOf(values, interval), rule({ interval, operating, sensitivity }))
      for (const { isAnomaly, expected, learning } of said.slice(0, 7))
        t.same({ isAnomaly, expected, learning }, { isAnomaly: false, expected: null, learning: true })
    }),
  )
  const options = rule({ interval: 'daily' })
  const eighth = replaySeries(
    results(8, (_, i) => (i === 7 ? 60 : 5), options),
    options,
  )[7]!
  t.match(eighth, { isAnomaly: true, learning: false }, 'the eighth result is judged')
})

t.test('rule 4: without operating periods, all prior results are one baseline', async t => {
  fc.assert(
    fc.property(histories, values => {
      const points = pointsOf(values, 'hourly')
      const off = rule({ operating: { mode: 'off', schedule: office } })
      t.same(
        replaySeries(points, off),
        replaySeries(points, rule()),
        'a schedule that is linked plays no part',
      )
    }),
  )
  const mixed = judgeByHistory(twoWeeks, later(2, 11), rule())
  t.ok(mixed.expected !== null, 'results of nights and days are compared with each other')
})

t.test('rule 5: with a schedule, its days and hours in its zone decide what is compared', async t => {
  const tokyo: Schedule = {
    timezone: 'Asia/Tokyo',
    rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }],
  }
  const options = rule({ operating: { mode: 'schedule', schedule: tokyo } })
  const history = results(24 * 14, (at, i) => (isActive(tokyo, at) ? 10 + (i % 5) * 0.4 : 0))
  const ask = (hour: number, value: number) => judgeByHistory(history, later(hour, value), options).isAnomaly
  t.equal(ask(3, 11), false, 'noon in Tokyo')
  t.equal(ask(3, 33), true)
  t.equal(ask(12, 11), true, 'noon in London')
})

t.test('rule 5: a result keeps the period that it was recorded in when the schedule changes', async t => {
  const never: Schedule = { timezone: 'UTC', rules: [] }
  const options = rule({ operating: { mode: 'schedule', schedule: never } })
  const history = twoWeeks.map(point => ({ ...point, active: works(point.at) }))
  t.equal(judgeByHistory(history, { ...later(10, 11), active: true }, options).isAnomaly, false)
  t.equal(judgeByHistory(history, { ...later(10, 11), active: false }, options).isAnomaly, true)
})

for (const options of [bySchedule, byAuto]) {
  const { mode } = options.operating!
  const ask = (hour: number, value: number, sensitivity = 3, total = 1000) =>
    judgeByHistory(twoWeeks, later(hour, value, total), { ...options, sensitivity }).isAnomaly

  t.test(
    `rules 5 to 7, ${mode}: active is compared with active, dormant alerts on activity only`,
    async t => {
      t.equal(ask(10, 11), false, 'the usual rate')
      t.equal(ask(10, 33), true, 'three times the rate')
      t.equal(ask(10, 0, 1), false, 'nothing in an active hour')
      t.equal(ask(2, 0, 1), false, 'nothing in a dormant hour')
      t.equal(ask(2, 0.4, 1), false, 'next to nothing in a dormant hour')
      t.equal(ask(2, 11), true, 'the rate of the day in a dormant hour')
      t.equal(ask(2, 5, 3, 20), false, 'one row of twenty is no activity')
    },
  )
}

t.test('rule 6: a calendar is learned from the days of the week too', async t => {
  const options = rule({ interval: 'daily', operating: { mode: 'auto' } })
  const isWorkday = (at: number) => ![0, 6].includes(new Date(1000 * at).getUTCDay())
  const history = results(28, (at, i) => (isWorkday(at) ? 8 + (i % 3) * 0.4 : 0), options)
  const on = (day: number, value: number) =>
    judgeByHistory(history, { at: MONDAY + (28 + day) * DAY, value, total: 1000 }, options).isAnomaly
  t.equal(on(5, 8), true, 'activity on a Saturday')
  t.equal(on(1, 8), false, 'activity on a Tuesday')
})

t.test('rule 6: a table that never rests has no calendar, and is judged as by mode off', async t => {
  const active = fc.array(fc.tuple(fc.double({ min: 1, max: 100, noNaN: true }), fc.nat(5000)), {
    minLength: 20,
    maxLength: 80,
  })
  fc.assert(
    fc.property(intervals, active, (interval, values) => {
      const points = pointsOf(values, interval)
      const auto = rule({ interval, operating: { mode: 'auto' } })
      t.same(replaySeries(points, auto), replaySeries(points, rule({ interval })))
    }),
  )
})

t.test('rule 7: an active check is compared with prior active ones only', async t => {
  fc.assert(
    fc.property(fc.array(percents, { minLength: 1 }), percents, (others, value) => {
      const changed = twoWeeks.map((point, i) =>
        works(point.at) ? point : { ...point, value: others[i % others.length]! },
      )
      t.same(
        judgeByHistory(changed, later(10, value), bySchedule),
        judgeByHistory(twoWeeks, later(10, value), bySchedule),
      )
    }),
    { numRuns: 20 },
  )
})

t.test('rule 7: a dormant check never alerts at or below the floor', async t => {
  const next = fc.record({ value: fc.double({ min: 0, max: 0.5, noNaN: true }), total: fc.nat(100_000) })
  fc.assert(
    fc.property(histories, next, sensitivities, (values, { value, total }, sensitivity) => {
      const nights: Operating = { mode: 'schedule', schedule: { timezone: 'UTC', rules: [] } }
      const options = rule({ operating: nights, sensitivity })
      const history = pointsOf(values, 'hourly')
      const said = judgeByHistory(history, { at: MONDAY + history.length * HOUR, value, total }, options)
      // Returned rather than asserted, so that a failure shows its history and seed.
      return !said.isAnomaly && said.basis?.kind === 'dormant'
    }),
  )
  t.pass('as fast-check found no history that says otherwise')
})

t.test('rule 8: a schedule takes effect with 7 prior active results, whatever else there is', async t => {
  const ask = (history: SeriesPoint[], hour: number, value: number) =>
    judgeByHistory(history, { at: MONDAY + hour * HOUR, value, total: 1000 }, bySchedule)
  const monday = (hours: number) => twoWeeks.slice(0, hours)
  t.match(ask(monday(15), 15, 90), { expected: null, learning: true, isAnomaly: false }, 'the seventh')
  t.match(ask(monday(16), 16, 90), { learning: false, isAnomaly: true }, 'the eighth')
  const fromTuesdayNoon = twoWeeks
    .slice(36, 43)
    .map((point, i) => ({ ...point, at: MONDAY + (9 + i) * HOUR }))
  t.match(ask(fromTuesdayNoon, 20, 50), { expected: null, isAnomaly: false }, 'the first dormant one')
})

t.test('rule 8: a calendar takes effect once its slots have been seen', async t => {
  const options = rule({ interval: 'daily', operating: { mode: 'auto' } })
  const twoWorkdaysAWeek = results(60, (_, i) => (i % 7 < 2 ? 6 + (i % 3) : 0), options)
  const said = replaySeries(twoWorkdaysAWeek, options)
  t.same(
    said.flatMap(({ isAnomaly }, i) => (isAnomaly ? [i] : [])),
    [],
    'the first active days are no news, nor are the later ones',
  )
  const wednesday = { at: twoWorkdaysAWeek[58]!.at, value: 7, total: 1000 }
  t.equal(judgeByHistory(twoWorkdaysAWeek.slice(0, 58), wednesday, options).isAnomaly, true)
})

t.test('an hour seen once at the weekend rests when the same hour of the working days does', async t => {
  const saturday = twoWeeks.slice(0, 6 * 24)
  const night: SeriesPoint = { at: MONDAY + (6 * 24 + 3) * HOUR, value: 12, total: 1000 }
  t.equal(judgeByHistory([...saturday, ...twoWeeks.slice(6 * 24, 6 * 24 + 3)], night, byAuto).isAnomaly, true)
})

t.test('a state that went through JSON goes on exactly like the one that did not', async t => {
  fc.assert(
    fc.property(intervals, modes, histories, (interval, operating, values) => {
      const options = rule({ interval, operating })
      const points = pointsOf(values, interval)
      let stored = startDetector(options)
      const said = points.map(point => {
        const one = judgePoint(stored, point, 3)
        stored = learnPoint(JSON.parse(JSON.stringify(stored)) as DetectorState, point)
        return one
      })
      t.same(said, replaySeries(points, options))
    }),
    { numRuns: 30 },
  )
})

t.test('the state of 400 results takes at most 16 kB', async t => {
  for (const operating of [
    { mode: 'off' },
    { mode: 'schedule', schedule: office },
    { mode: 'auto' },
  ] as const)
    for (const interval of ['hourly', 'daily'] as const) {
      const options = rule({ interval, operating })
      const points = results(
        400,
        (at, i) => (works(at) || interval === 'daily' ? 7 + Math.sin(i * i) : 0),
        options,
      )
      const state = points
        .map((point, i) => ({ ...point, total: 900 + ((i * 7919) % 5000) }))
        .reduce(learnPoint, startDetector(options))
      t.ok(JSON.stringify(state).length <= 16_000, `${operating.mode} ${interval}`)
    }
})

for (const mode of ['off', 'schedule', 'auto'] as const) {
  t.test(`a confirmed result is learned in full, mode ${mode}`, async t => {
    const operating = { mode, schedule: office }
    const expectedAfter = (confirmed: boolean) => {
      const state = startOperating(operating, 'hourly')
      for (const { at, value, total } of twoWeeks)
        feedOperating(operating, 'hourly', state, at, value, total, null, false)
      feedOperating(operating, 'hourly', state, later(10, 60).at, 60, 1000, null, confirmed)
      const next = later(11, 60)
      return judgeOperating(operating, 'hourly', state, next.at, 60, 1000, 3)!
    }
    const [held, learned] = [expectedAfter(false), expectedAfter(true)]
    t.ok(learned.expected > held.expected && learned.high > held.high)
    t.ok(learned.zScore < held.zScore)
  })
}

const at = (iso: string) => Date.parse(iso) / 1000

t.test('a schedule is read in its own zone, over midnight and through a change of the clocks', async t => {
  const nights = { timezone: 'Europe/Berlin', rules: [{ days: [5], start: '22:00', end: '06:00' }] }
  t.equal(isActive(nights, at('2023-11-24T20:59:00Z')), false)
  t.equal(isActive(nights, at('2023-11-24T21:00:00Z')), true)
  t.equal(isActive(nights, at('2023-11-25T04:59:00Z')), true)
  t.equal(isActive(nights, at('2023-11-25T05:00:00Z')), false)
  t.equal(isActive(nights, at('2023-11-24T04:00:00Z')), false, 'the early hours belong to the day before')
  const newYork = { ...office, timezone: 'America/New_York' }
  t.equal(isActive(newYork, at('2024-03-08T13:30:00Z')), false, 'before the clocks change')
  t.equal(isActive(newYork, at('2024-03-11T13:30:00Z')), true, 'after the clocks changed')
})

t.test(
  'an hour that the clocks skip is in no period, and one that they repeat is in its period twice',
  async t => {
    const early = {
      timezone: 'Europe/Berlin',
      rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '02:00', end: '03:00' }],
    }
    const minutes = (day: string) =>
      Array.from({ length: 36 * 60 }, (_, i) => at(day) + 60 * i).filter(moment => isActive(early, moment))
        .length
    t.equal(minutes('2024-03-30T12:00:00Z'), 0, 'the night of the change to summer time')
    t.equal(minutes('2024-10-26T12:00:00Z'), 120, 'the night of the change back')
    t.equal(minutes('2024-06-01T12:00:00Z'), 60, 'any other night')
  },
)

t.test('24:00 ends a day, equal times make a whole one, and any of several rules counts', async t => {
  const all = [1, 2, 3, 4, 5, 6, 7]
  const always = { timezone: 'UTC', rules: [{ days: all, start: '00:00', end: '24:00' }] }
  t.equal(isActive(always, at('2024-03-11T23:59:59Z')), true)
  const monday = { timezone: 'UTC', rules: [{ days: [1], start: '06:00', end: '06:00' }] }
  t.equal(isActive(monday, at('2024-03-11T06:00:00Z')), true)
  t.equal(isActive(monday, at('2024-03-12T05:59:00Z')), true)
  t.equal(isActive(monday, at('2024-03-12T06:00:00Z')), false)
  const shifts = {
    timezone: 'UTC',
    rules: [
      { days: [1], start: '06:00', end: '10:00' },
      { days: [1, 2], start: '20:00', end: '24:00' },
    ],
  }
  t.equal(isActive(shifts, at('2024-03-11T09:59:00Z')), true)
  t.equal(isActive(shifts, at('2024-03-11T12:00:00Z')), false)
  t.equal(isActive(shifts, at('2024-03-12T23:59:00Z')), true)
  t.equal(isActive(shifts, at('2024-03-13T00:00:00Z')), false)
})

t.test('a schedule is read alike in whatever order moments are asked about', async t => {
  const zones = fc.constantFrom(
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'UTC',
  )
  const moments = fc.array(fc.integer({ min: at('2023-01-01'), max: at('2025-01-01') }), {
    minLength: 5,
    maxLength: 40,
  })
  fc.assert(
    fc.property(zones, moments, (timezone, asked) => {
      const rules = [{ days: [1, 3, 7], start: '01:30', end: '14:45' }]
      const schedule = { timezone, rules }
      for (const moment of asked.flatMap(first => [first, first + 2 * DAY, first - DAY])) {
        const local = DateTime.fromSeconds(moment, { zone: timezone })
        const minute = local.hour * 60 + local.minute
        const isIn = [1, 3, 7].includes(local.weekday) && minute >= 90 && minute < 14 * 60 + 45
        t.equal(isActive(schedule, moment), isIn, `${moment} in ${timezone}`)
      }
    }),
    { numRuns: 30 },
  )
})

t.test('a schedule that cannot be read says what to write', async t => {
  t.throws(
    () => isActive({ timezone: 'Mars/Olympus', rules: [] }, MONDAY),
    /Unknown time zone "Mars\/Olympus"/,
  )
  for (const time of ['9am', '24:01', '12:60', '']) {
    const rules = [{ days: [1], start: time, end: '17:00' }]
    t.throws(() => isActive({ timezone: 'UTC', rules }, MONDAY), /Unreadable time/)
  }
})
