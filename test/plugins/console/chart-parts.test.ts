/** What charts compute: operating hours, the shown part, and pages of a series. */
import t from 'tap'
import { isActive } from '../../../checks/detector.ts'
import { clampView, panView, zoomView } from '../../../plugins/console/client/parts/chart/view.ts'
import { findIdleSpans } from '../../../plugins/console/client/parts/chart/operating-hours.ts'

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)
const shown = (spans: readonly (readonly [number, number])[]) =>
  spans.map(span => span.map(moment => new Date(moment).toISOString().slice(0, 16)).join(' '))

t.test('the time outside operation is found', async t => {
  const office = {
    timezone: 'Europe/Berlin',
    rules: [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:30' }],
  }
  t.strictSame(
    shown(findIdleSpans(office, at('2026-11-26T12:00Z'), at('2026-11-30T12:00Z'))),
    ['2026-11-26T16:30 2026-11-27T08:00', '2026-11-27T16:30 2026-11-30T08:00'],
    'a night and a weekend',
  )
  t.strictSame(
    findIdleSpans(office, at('2026-11-26T10:00Z'), at('2026-11-26T11:00Z')),
    [],
    'in the middle of work',
  )
  const always = { timezone: 'UTC', rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '24:00' }] }
  t.strictSame(findIdleSpans(always, at('2026-01-01T00:00Z'), at('2026-12-31T00:00Z')), [])
  t.strictSame(findIdleSpans({ timezone: 'UTC', rules: [] }, 0, HOUR), [[0, HOUR]], 'no rule, no operation')
})

t.test('the console and the detector agree on the hours, also when clocks are changed', async t => {
  for (const schedule of [
    { timezone: 'Europe/Berlin', rules: [{ days: [5, 6], start: '22:00', end: '06:00' }] },
    { timezone: 'America/New_York', rules: [{ days: [1, 7], start: '01:00', end: '04:30' }] },
    {
      timezone: 'Asia/Kolkata',
      rules: [
        { days: [1], start: '00:00', end: '00:00' },
        { days: [3], start: '12:15', end: '24:00' },
      ],
    },
    { timezone: 'Pacific/Kiritimati', rules: [{ days: [1, 2], start: '08:00', end: '09:00' }] },
  ])
    for (const begin of ['2026-03-01T00:00Z', '2026-10-20T00:00Z']) {
      const [from, to] = [at(begin), at(begin) + 40 * 24 * HOUR]
      const spans = findIdleSpans(schedule, from, to)
      const wrong: string[] = []
      for (let moment = from; moment < to; moment += HOUR / 4) {
        const isIdle = spans.some(([start, end]) => moment >= start && moment < end)
        if (isIdle === isActive(schedule, moment / 1_000)) wrong.push(new Date(moment).toISOString())
      }
      t.strictSame(wrong, [], `${schedule.timezone} from ${begin}`)
    }
})

t.test('a view is moved, zoomed, and kept within the values', async t => {
  const whole = { min: 0, max: 1_000 }
  t.strictSame(panView({ min: 100, max: 200 }, -0.5), { min: 50, max: 150 })
  t.strictSame(clampView({ min: -50, max: 50 }, whole), { min: 0, max: 100 })
  t.strictSame(clampView({ min: 950, max: 1_050 }, whole), { min: 900, max: 1_000 })
  t.strictSame(clampView({ min: -500, max: 1_500 }, whole), whole)
  t.strictSame(zoomView({ min: 0, max: 400 }, 0.5, 100, 10), { min: 50, max: 250 }, 'around a moment')
  t.strictSame(zoomView({ min: 0, max: 400 }, 0.5, 900, 10), { min: 100, max: 300 }, 'which is not shown')
  t.strictSame(zoomView({ min: 0, max: 400 }, 0.01, 200, 100), { min: 150, max: 250 }, 'no further than this')
  t.strictSame(zoomView({ min: 190, max: 210 }, 0.5, 200, 100), { min: 190, max: 210 }, 'a short one stays')
})
