import t from 'tap'
import { explicit, startWorlds } from './worlds.ts'

const { tenant, stranger, query, world } = await startWorlds(t)

t.test('the clock of a table counts its updates by the hours of the week', async t => {
  const { watch, source, database } = await world(
    t,
    'create table orders (ts timestamptz); create table lonely (ts timestamptz)',
  )
  const schedule = await watch('orders', explicit('10h'))
  await watch('lonely', explicit('10h'))
  const [orders, lonely] = ['orders', 'lonely'].map(name => `${source.name}.${database.name}.public.${name}`)
  const get = (asset: string, zone: string, who = tenant) =>
    who.ask('GET', `/api/v1/sdk/freshness/${asset}?clock_timezone=${encodeURIComponent(zone)}`)
  // A Monday and a Sunday; the last was no update.
  const updates = ['2026-03-02T07:10Z', '2026-03-09T07:50Z', '2026-03-08T23:30Z']
  await query('delete from check_results where check_id = (select id from checks where uuid = $1)', [
    schedule.id,
  ])
  for (const [at, isUpdate] of [...updates.map(at => [at, true]), ['2026-03-09T08:00Z', false]])
    await query(
      `insert into check_results (company_id, check_id, status, at, value, details)
       select company_id, id, 'pass', cast($2 as timestamptz) + interval '5 minutes', 300,
         case when $3 then '{"isUpdate": true}'::jsonb else '{}' end
       from checks where uuid = $1`,
      [schedule.id, at, isUpdate],
    )
  const counted = (hours: number[][]) =>
    hours.flatMap((day, n) => day.flatMap((count, hour) => (count > 0 ? [[n + 1, hour, count]] : [])))

  const { status, body } = await get(orders!, 'UTC')
  t.equal(status, 200)
  const { hours, ...clock } = body.data.update_clock
  t.same(clock, {
    ...{ timezone: 'UTC', updates: 3 },
    from: '2026-03-02T07:10:00.000Z',
    until: '2026-03-09T07:50:00.000Z',
  })
  t.same(counted(hours), [
    [1, 7, 2],
    [7, 23, 1],
  ])
  t.same(counted((await get(orders!, 'Asia/Kolkata')).body.data.update_clock.hours), [
    [1, 5, 1],
    [1, 12, 1],
    [1, 13, 1],
  ])
  t.match((await get(lonely!, 'UTC')).body.data.update_clock, { updates: 0, from: null, until: null })
  const plain = await tenant.ask('GET', `/api/v1/sdk/freshness/${orders}`)
  t.notOk('update_clock' in plain.body.data, 'only when it is asked for')

  t.match(await get(orders!, 'Mars/Base'), {
    status: 400,
    body: { error: { details: { field: 'clock_timezone' } } },
  })
  t.match(await get(source.id, 'UTC'), {
    status: 400,
    body: { error: { details: { field: 'clock_timezone' } } },
  })
  t.equal((await get(orders!, 'UTC', stranger)).status, 404)
})

t.test('updates of another signal are no updates of the new one', async t => {
  const { watch, source, database } = await world(
    t,
    `create table orders (ts timestamptz, other timestamptz); insert into orders values (now(), null)`,
  )
  const { id } = await watch('orders', { ...explicit('10h'), freshness_column: 'ts' })
  const table = `${source.name}.${database.name}.public.orders`
  const updates = async () => {
    const clock = await tenant.ask('GET', `/api/v1/sdk/freshness/${table}?clock_timezone=UTC`)
    const history = await tenant.ask('GET', `/api/v1/sdk/freshness/${table}/history`)
    const checks = history.body.data.data as { is_update: boolean }[]
    return [clock.body.data.update_clock.updates, checks.map(check => check.is_update)]
  }
  t.strictSame(await updates(), [1, [true]])
  await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { freshness_column: 'other' })
  t.strictSame(await updates(), [0, [false, false]])
})
