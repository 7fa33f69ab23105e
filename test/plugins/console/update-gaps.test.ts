import t from 'tap'
import { gapsBetween } from '../../../plugins/console/client/screens/table-page/update-gaps.ts'

const NOW = Date.parse('2026-03-10T12:00:00Z')

t.test('updates become the gaps between them, and the last gap runs until now', async t => {
  const gaps = gapsBetween(
    ['2026-03-10T10:00:00Z', '2026-03-10T08:00:00Z', '2026-03-10T08:00:00Z', null],
    NOW,
  )
  t.strictSame(
    gaps.map(({ seconds }) => seconds),
    [7_200, 7_200],
  )
  t.equal(gaps.at(-1)!.until, NOW)
})

t.test('a time that is yet to come does not move the end of the axis', async t => {
  const gaps = gapsBetween(['2026-03-10T11:00:00Z', '2026-03-11T11:00:00Z'], NOW)
  t.strictSame(gaps, [{ from: NOW - 3_600_000, until: NOW, seconds: 3_600 }])
  t.strictSame(gapsBetween([], NOW), [])
})
