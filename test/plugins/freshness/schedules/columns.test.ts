import t from 'tap'
import type { ProfiledTimes } from '../../../../plugins/catalog/api.ts'
import {
  describeNoColumn,
  detectColumn,
  type TypedColumn,
} from '../../../../plugins/freshness/schedules/columns.ts'

const column = (name: string, kind: TypedColumn['kind'] = 'timestamp'): TypedColumn => ({
  name,
  kind,
  type: kind,
})
const profile = (columns: Record<string, [max: string | null, nulls?: number]>): ProfiledTimes => ({
  profiledAt: new Date('2026-03-09T08:00:00Z'),
  columns: Object.fromEntries(
    Object.entries(columns).map(([name, [max, nulls = 0]]) => [name, { count: 100, nulls, max }]),
  ),
})

t.test('without a profile, a column named like a time of loading is chosen', async t => {
  const chosen = (...names: string[]) => detectColumn(names.map(name => column(name)))?.name
  t.equal(chosen('time_hour', 'created_at'), 'created_at', 'a conventional name first')
  for (const name of ['time_hour', 'flight_date', 'shipped_at', 'shippedAt', 'SHIPPED_ON'])
    t.equal(chosen('id', name), name)
  t.equal(detectColumn([column('flight_date', 'date')])?.name, 'flight_date', 'a date, too')
  for (const name of ['birth_date', 'due_at', 'valid_until', 'expiresAt', 'scheduled_time'])
    t.equal(chosen(name), undefined, name)
})

t.test('a profile shows which column moves with the clock, whatever its name', async t => {
  const chosen = (columns: Record<string, [max: string | null, nulls?: number]>) =>
    detectColumn(
      Object.keys(columns).map(name => column(name)),
      { profile: profile(columns) },
    )?.name
  t.equal(chosen({ created_at: ['2025-01-01T00:00:00'], moved: ['2026-03-09T07:00:00'] }), 'moved')
  t.equal(
    chosen({ created_at: ['2026-03-09T06:00:00'], moved: ['2026-03-09T07:00:00'] }),
    'created_at',
    'a name decides between equals',
  )
  t.equal(
    chosen({ updated_at: ['2026-03-09T07:00:00', 90], born: ['2026-03-09T06:00:00Z'] }),
    'born',
    'few NULLs come first',
  )
  t.equal(
    chosen({ created_at: ['2026-05-01T00:00:00'], moved: ['2026-03-09'] }),
    'moved',
    'not one that lies ahead',
  )
  t.equal(chosen({ flight_date: ['2026-05-01'] }), undefined)
  t.equal(chosen({ moved: ['2026-03-09T20:00:00'] }), 'moved', 'a local time may be ahead of UTC')
})

t.test('why none is found is said', async t => {
  const why = (names: string[], choice: Parameters<typeof describeNoColumn>[1] = {}) =>
    describeNoColumn(
      names.map(name => column(name)),
      choice,
    )
  t.equal(why([]), 'it has no date or timestamp column')
  t.match(why(['saved']), /not profiled, and saved is not named like/)
  t.match(why(['seen'], { hidden: new Set(['seen']) }), /seen may not be read: tagged as personal data/)
  t.match(why(['due'], { profile: profile({ due: ['2026-05-01'] }) }), /due has values in the future/)
  t.match(why(['due'], { profile: profile({ due: [null] }) }), /due has no values/)
})
