import t from 'tap'
import { judgeSourceHealth, watchedParts, type PartCount } from '../../../plugins/checks/watched-parts.ts'

const counted = (
  part: PartCount['part'],
  status: PartCount['status'],
  count: number,
  more: Partial<PartCount> = {},
) => ({
  ...{ owner: 'x', part, columnName: null, status, isLearning: false, count, tables: count },
  ...more,
})
const passing = (count: number) => ({ passing: count, learning: 0, failing: 0, error: 0, pending: 0 })

t.test('of several checks of one part the worst counts', async t => {
  t.same(
    watchedParts([
      counted('volume', 'pass', 1, { isLearning: true }),
      counted('volume', 'fail', 1),
      counted('unique', 'pass', 1, { columnName: 'id' }),
      counted('unique', null, 1, { columnName: 'email' }),
      counted('other', 'error', 1),
    ]),
    { freshness: null, volume: 'failing', uniques: { id: 'passing', email: 'pending' } },
  )
})

t.test('a source is fine only where each of its tables is watched', async t => {
  const all = [counted('freshness', 'pass', 3), counted('volume', 'warning', 3)]
  t.same(judgeSourceHealth(all, passing(12), 3), {
    status: 'fine',
    headline: '12 checks pass',
    watched: { tables: 3, freshness: 3, volume: 3 },
  })
  t.match(judgeSourceHealth(all, passing(12), 5), {
    status: 'unknown',
    headline:
      '12 checks pass; freshness is not watched in 2 of 5 tables; volume is not watched in 2 of 5 tables',
  })
  const learning = [
    counted('freshness', null, 1),
    counted('freshness', 'pass', 2),
    counted('volume', 'pass', 3),
  ]
  t.match(judgeSourceHealth(learning, { ...passing(3), pending: 2 }, 3), {
    status: 'unknown',
    headline: '3 checks pass, 2 not yet run; the freshness of 1 is not known yet',
  })
  const stale = [
    counted('freshness', 'fail', 1),
    counted('freshness', 'error', 1),
    counted('volume', 'pass', 2),
  ]
  t.match(judgeSourceHealth(stale, { ...passing(2), failing: 1 }, 2), {
    status: 'failing',
    headline: '1 fail, 2 checks pass; 1 of 2 tables are stale; the freshness of 1 could not be checked',
  })
  const young = [counted('freshness', 'pass', 2), counted('volume', 'pass', 2, { isLearning: true })]
  t.match(judgeSourceHealth(young, { ...passing(2), learning: 2 }, 2), {
    status: 'unknown',
    headline: '2 checks pass, 2 learning',
  })
  t.match(judgeSourceHealth([], passing(0), 0), { status: 'unknown', headline: 'no check watches it' })
})
