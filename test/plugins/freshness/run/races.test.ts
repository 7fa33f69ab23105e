import t from 'tap'
import { patchSchedule } from '../../../../plugins/freshness/schedules/schedules.ts'
import { untilBlocked } from '../../../helpers/lock-waits.ts'
import { explicit, startWorlds } from '../worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)
const { companyId } = tenant

const alertsOf = (scheduleId: string) =>
  query(
    `select severity, status, title from alerts where kind = 'freshness_violation' and cause = $1 order by created_at, id`,
    [scheduleId],
  )

const scheduleOf = async (id: string) =>
  (
    await query(
      `select status, is_active, running_slot, last_checked_at, settings -> 'alertSeverity' as alert_severity,
         settings ->> 'timestampColumn' as timestamp_column, settings ->> 'slaThreshold' as sla_threshold,
         settings ->> 'lastError' as last_error
       from checks where uuid = $1`,
      [id],
    )
  )[0] as Record<string, unknown>

/** A table updated at midnight, with a threshold of 10 hours, that no sweep checks. */
async function midnightWorld(t: Parameters<typeof world>[0], fields: object = explicit('10h')) {
  const made = await world(
    t,
    `create table orders (updated_at timestamptz); insert into orders values ('2025-03-10 00:00Z')`,
  )
  const { id } = await made.watch('orders', { ...fields, is_active: false })
  await query(`update checks set is_active = true, next_run_at = now() + interval '1 day' where uuid = $1`, [
    id,
  ])
  const at = (hour: number) => made.check(new Date(Date.UTC(2025, 2, 10, hour)))
  /** Runs some work while it holds the lock that recording a check of the schedule needs. */
  const holding = (work: (trx: Parameters<typeof patchSchedule>[1]) => Promise<void>) =>
    server.db.company(companyId, async trx => {
      await trx.raw('select 1 from checks where uuid = ? for update', [id])
      await work(trx)
    })
  return { ...made, id: id as string, at, holding }
}

t.test('the later of two concurrent checks resolves the alert of the first', async t => {
  const { id, at, holding } = await midnightWorld(t)
  const checks: Promise<object>[] = []
  await holding(async () => {
    checks.push(at(11))
    await untilBlocked({ query })
    checks.push(at(3))
    await untilBlocked({ query }, 2)
  })
  await Promise.all(checks)
  t.match(await scheduleOf(id), { status: 'pass', alert_severity: null })
  t.match(await alertsOf(id), [{ severity: 'critical', status: 'resolved' }])
})

t.test('an update that two concurrent checks saw counts once', async t => {
  const { id, at, holding } = await midnightWorld(t, { monitoring_mode: 'auto_learn' })
  const checks: Promise<object>[] = []
  await holding(async () => {
    checks.push(at(11))
    await untilBlocked({ query })
    checks.push(at(12))
    await untilBlocked({ query }, 2)
  })
  await Promise.all(checks)
  t.match(
    await query(
      `select count(*)::int as checks, count(*) filter (where details ? 'isUpdate')::int as updates
       from check_results r join checks c on c.id = r.check_id where c.uuid = $1`,
      [id],
    ),
    [{ checks: 2, updates: 1 }],
  )
})

t.test('a schedule that is paused during its check raises no alert', async t => {
  const { id, at, holding } = await midnightWorld(t)
  let checking: Promise<object> | undefined
  await holding(async trx => {
    checking = at(11)
    await untilBlocked({ query })
    await patchSchedule(server.plugins, trx, id, { is_active: false })
  })
  await checking
  t.same(await alertsOf(id), [])
  await at(12)
  t.match(await scheduleOf(id), { is_active: false, alert_severity: null })
  t.same(await alertsOf(id), [])
})

t.test('a schedule that is changed during its check is judged by its new terms only', async t => {
  const { id, check, holding } = await midnightWorld(t)
  await query('update checks set running_slot = now() where uuid = $1', [id])
  let checking: Promise<object> | undefined
  await holding(async trx => {
    checking = check()
    await untilBlocked({ query })
    await patchSchedule(server.plugins, trx, id, { check_interval: '1w', sla_threshold: '400d' })
  })
  await checking
  t.match(await scheduleOf(id), { status: null, last_checked_at: null, running_slot: null })
  t.same(await alertsOf(id), [])
})

t.test('two concurrent changes are both kept', async t => {
  const { id, holding, database, source } = await midnightWorld(t)
  await database.query('alter table orders add column other timestamptz')
  await query(
    `update tables set columns = columns || '[{"name":"other","type":"timestamptz","base":"timestamptz","kind":"timestamp"}]'
     where source_id = $1`,
    [source.id],
  )
  let changing: Promise<object> | undefined
  await holding(async trx => {
    changing = tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { sla_threshold: '12h' })
    await untilBlocked({ query })
    await patchSchedule(server.plugins, trx, id, { freshness_column: 'other' })
  })
  t.match(await changing, { status: 200 })
  t.match(await scheduleOf(id), { timestamp_column: 'other', sla_threshold: '12h' })
})

t.test('a schedule that is deleted during its check leaves no open alert', async t => {
  const { id, at } = await midnightWorld(t)
  const both: Promise<object>[] = []
  await server.db.company(companyId, async trx => {
    // Alerts can be read, but none can be inserted.
    await trx.raw('lock table alerts in share mode')
    both.push(at(11))
    await untilBlocked({ query })
    both.push(tenant.ask('DELETE', `/api/v1/sdk/freshness/schedules/${id}`))
    await untilBlocked({ query }, 2)
  })
  t.match(await Promise.all(both), [{ stale: 1 }, { status: 200 }])
  t.match(await alertsOf(id), [{ status: 'resolved' }])
})

t.test('a check of a source that is removed meanwhile records nothing', async t => {
  const { at, source, holding } = await midnightWorld(t)
  let checking: Promise<object> | undefined
  let removing: Promise<object> | undefined
  await holding(async () => {
    checking = at(11).catch((error: Error) => ({ error: error.message }))
    await untilBlocked({ query })
    removing = tenant.ask('DELETE', `/api/v1/sdk/assets/${source.id}`)
    await untilBlocked({ query }, 2)
  })
  t.match(await removing, { status: 200 })
  t.match(await checking, { stale: 1 })
})

t.test('a resolved critical alert is not raised again by a warning', async t => {
  const { id, at } = await midnightWorld(t)
  await at(11)
  await query(`update alerts set status = 'resolved', resolved_at = now() where cause = $1`, [id])
  await at(9)
  t.match(await alertsOf(id), [
    { severity: 'critical', status: 'resolved' },
    { severity: 'warning', status: 'triggered', title: / old, stale after / },
  ])
})

t.test('the tables of a source whose engine is no longer loaded are errors', async t => {
  const { at, source, id } = await midnightWorld(t)
  await at(1)
  await query(`update sources set source_type = 'gone' where id = $1`, [source.id])
  t.match(await at(2), { measured: 0, unknown: 1 })
  t.match(await scheduleOf(id), { status: 'error', last_error: /EXTENSIONS|unexpected/ })
})
