import t from 'tap'
import { duePeriod, nextTime } from '../../../../plugins/alerts/digests/times.ts'

const weekly = { frequency: 'weekly', weekday: 1, sendAt: '08:00', timezone: 'Europe/Berlin' } as const
const daily = { ...weekly, frequency: 'daily', sendAt: '02:30' } as const
const at = (time: string) => new Date(time)

t.test('digests are due by the wall clock, also where clocks change', async t => {
  t.same(nextTime(weekly, at('2026-03-23T07:00:00Z')), at('2026-03-30T06:00:00Z'))
  t.same(nextTime(weekly, at('2026-03-30T05:59:59Z')), at('2026-03-30T06:00:00Z'))
  t.same(nextTime(daily, at('2026-03-28T12:00:00Z')), at('2026-03-29T01:30:00Z'), 'a time that is left out')
  t.same(nextTime(daily, at('2026-03-29T01:30:00Z')), at('2026-03-30T00:30:00Z'))
})

t.test('a period begins where the last one ended, and reaches back at most 31 days', async t => {
  const now = at('2026-03-31T00:00:00Z')
  const until = at('2026-03-30T06:00:00Z')
  t.same(duePeriod({ ...weekly, coveredUntil: null }, now), { since: at('2026-03-23T07:00:00Z'), until })
  const coveredUntil = at('2026-03-10T00:00:00Z')
  t.same(duePeriod({ ...weekly, coveredUntil }, now), { since: coveredUntil, until })
  const { since } = duePeriod({ ...weekly, coveredUntil: at('2025-01-01T00:00:00Z') }, now)
  t.same(since, at('2026-02-27T07:00:00Z'))
})
