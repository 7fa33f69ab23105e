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
  await query('delete from freshness_checks where schedule_id = $1', [schedule.id])
  for (const [at, isUpdate] of [...updates.map(at => [at, true]), ['2026-03-09T08:00Z', false]])
    await query(
      `insert into freshness_checks (company_id, schedule_id, status, last_updated, checked_at, is_update)
       select company_id, id, 'fresh', $2, cast($2 as timestamptz) + interval '5 minutes', $3
       from freshness_schedules where id = $1`,
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
