import t from 'tap'
import { explicit, startWorlds } from './worlds.ts'

const { tenant, stranger, query, world } = await startWorlds(t)

const HOUR = 3_600_000

t.test('the history of a table contains every check, newest first', async t => {
  const { watch, source, database, check } = await world(
    t,
    `create table orders (ts timestamptz); create table other (ts timestamptz); create table lonely (ts timestamptz)`,
  )
  await watch('other')
  const schedule = await watch('orders', { ...explicit('10h'), is_active: false })
  // Active without a first check of today, so that a past day can be replayed.
  await query('update checks set is_active = true where uuid = $1', [schedule.id])
  const midnight = new Date(Date.now() - 20 * 24 * HOUR)
  const at = (hours: number) => new Date(midnight.getTime() + hours * HOUR)
  await check(at(0))
  await database.query('insert into orders values ($1)', [at(0.5)])
  await check(at(1))
  await check(at(9))
  await check(at(12))
  await database.query('alter table orders rename to away')
  await check(at(13))

  const table = `${source.name}.${database.name}.public.orders`
  const history = async (rest = '', asset = table) =>
    (await tenant.ask('GET', `/api/v1/sdk/freshness/${asset}/history${rest}`)).body
  const { data } = await history()
  const updated = at(0.5).toISOString()
  const known = { last_updated: updated, error_message: null }
  t.same(data.pagination, { total: 5, limit: 100, offset: 0, has_more: false })
  t.match(data.data, [
    { checked_at: at(13).toISOString(), status: 'unknown', sla_status: null, is_update: false },
    { status: 'stale', sla_status: 'violated', data_age_minutes: 690, is_update: false, ...known },
    { status: 'fresh', sla_status: 'warning', data_age_minutes: 510, is_update: false, ...known },
    { status: 'fresh', sla_status: 'within_sla', data_age_minutes: 30, is_update: true, ...known },
    { status: 'unknown', sla_status: null, data_age_minutes: null, last_updated: null, is_update: false },
  ])
  t.match(
    data.data[0],
    { last_updated: null, data_age_minutes: null, error_message: /.+/ },
    'also a failed one',
  )
  t.same(Object.keys(data.data[0]).sort(), [
    ...[
      'checked_at',
      'data_age_minutes',
      'error_message',
      'is_backfilled',
      'is_update',
      'last_updated',
      'sla_status',
      'status',
    ],
  ])

  const page = (await history('?limit=2&offset=1')).data
  t.same(page.data, data.data.slice(1, 3))
  t.same(page.pagination, { total: 5, limit: 2, offset: 1, has_more: true })
  t.same((await history('?offset=5')).data, {
    operating_hours: null,
    data: [],
    pagination: { total: 5, limit: 100, offset: 5, has_more: false },
  })
  t.equal((await history('?days_back=21')).data.pagination.total, 5)
  t.equal((await history('?days_back=19')).data.pagination.total, 0)
  await query(
    `insert into check_results (company_id, check_id, at)
     select company_id, id, last_checked_at - n * interval '1 hour' from checks, generate_series(1, 1200) n
     where uuid = $1`,
    [schedule.id],
  )
  const most = (await history('?limit=1000')).data
  t.equal(most.data.length, 1000)
  t.match(most.pagination, { total: 1205, has_more: true })

  for (const [rest, field] of [
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?offset=-1', 'offset'],
    ['?days_back=0', 'days_back'],
    ['?days_back=366', 'days_back'],
    ['?days_back=soon', 'days_back'],
    ['?status=ready', 'status'],
  ] as const)
    t.match((await history(rest)).error, { code: 'VALIDATION_ERROR', details: { field } }, rest)
  t.match((await history('', source.id)).error.details, { field: 'asset_id', error: /source/ })
  const lonely = await tenant.ask('GET', `/api/v1/sdk/freshness/${table.replace('orders', 'lonely')}/history`)
  t.match(lonely, { status: 422, body: { detail: [{ loc: ['path', 'asset_id'], msg: /schedules/ }] } })
  t.equal((await stranger.ask('GET', `/api/v1/sdk/freshness/${table}/history`)).status, 404)
})

t.test('a schedule is deleted without reading the checks of others', async t => {
  const unindexed = await query(
    `select con.conrelid::regclass::text as table, a.attname as column
     from pg_constraint con
     join pg_attribute a on a.attrelid = con.conrelid and a.attnum = con.conkey[1]
     where con.contype = 'f' and con.conrelid::regclass::text similar to '%(checks|check_states|check_results_%)'
       and con.confrelid::regclass::text in ('tables', 'checks')
       and not exists (select from pg_index i where i.indrelid = con.conrelid and i.indkey[0] = con.conkey[1])`,
  )
  t.same(unindexed, [], 'each foreign key with many rows has an index')
})
