import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { claimAttempts } from '../../../../plugins/alerts/delivery/claims.ts'
import { deliverJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { settleDelivery } from '../../../../plugins/alerts/delivery/settle.ts'
import { lockAlertOfDelivery } from '../../../../plugins/alerts/locks.ts'
import { Delivery } from '../../../../plugins/alerts/models.ts'
import { countBlocked } from '../../../helpers/lock-waits.ts'
import { jobContext, workOf } from '../../../helpers/job-context.ts'
import { startServer } from '../../../helpers/server.ts'
import { runSweep } from '../time.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

// No attempt starts by itself.
const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '3600' } })
const { server, query } = app
const url = 'https://receiver.invalid/hook'

/** Deliveries of a company, oldest first. */
const deliveriesOf = ({ companyId }: World) =>
  query(
    `select id, alert_id, event_type, status, fence, job_id, next_attempt_at from deliveries
      where company_id = $1 order by id`,
    [companyId],
  )

const context = (id?: string) => jobContext(server, { log: pino({ level: 'silent' }), ...(id && { id }) })

/** Runs the job of a first attempt. */
const runAttempt = ({ companyId }: World, deliveryId: unknown) =>
  workOf(server, deliverJob)({ company_id: companyId, delivery_id: String(deliveryId), n: 1 }, context())

const setActive = ({ ask }: World, id: string, isActive: boolean) =>
  ask('PATCH', `${ALERTS}/destinations/${id}`, { is_active: isActive })

/** Takes all slots of a destination. */
const fillSlots = ({ companyId }: World, destinationId: string) =>
  query(
    `insert into destination_slots (holder, company_id, destination_id)
     select gen_random_uuid(), $1, $2 from generate_series(1, 4)`,
    [companyId, destinationId],
  )

/** What ends a message before anything was sent. */
const ENDINGS: Record<string, (world: World, id: string, deliveryId: unknown) => Promise<unknown>> = {
  'its attempt finds the destination off': async (world, id, deliveryId) => {
    await query('update destinations set is_active = false where id = $1', [id])
    await runAttempt(world, deliveryId)
  },
  'its destination was busy until it was switched off': async (world, id, deliveryId) => {
    await fillSlots(world, id)
    await runAttempt(world, deliveryId)
    await setActive(world, id, false)
    await runAttempt(world, deliveryId)
  },
}

for (const [ending, end] of Object.entries(ENDINGS)) {
  t.test(`a message is unsent when ${ending}`, async t => {
    const world = await makeWorld(app)
    const { id } = await world.addDestination({ url })
    const rule = { name: 'r', destination_ids: [id], cooldown_minutes: 60 }
    await world.ask('POST', `${ALERTS}/rules`, rule)
    await world.raise()
    const [began] = await deliveriesOf(world)
    await end(world, id, began?.id)
    await setActive(world, id, true)
    await world.recover()
    t.match(await deliveriesOf(world), [{ event_type: 'alert.triggered', status: 'stopped' }])
    t.equal((await deliveriesOf(world)).length, 1, 'its end is not sent')

    const again = await world.ask('POST', `${ALERTS}/deliveries/${String(began?.id)}/redeliver`)
    t.match(again, { status: 409, body: { error: { code: 'CONFLICT', message: /never sent/ } } })

    await world.raise()
    const [, next] = await deliveriesOf(world)
    t.ok(next?.job_id, 'it starts no cooldown')
  })
}

t.test('a fence is lowered only where no former claim can be at the delivery', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  await world.raise()
  const [began] = await deliveriesOf(world)
  await fillSlots(world, id)
  const jobId = randomUUID()
  const claim = () =>
    server.db.company(world.companyId, async trx => {
      const data = { company_id: world.companyId, delivery_id: String(began?.id), n: 1 }
      return (await claimAttempts(trx, [{ data, job: { id: jobId, isAfterLoss: false } }]))[0]
    })
  t.match(await claim(), { state: 'busy' })
  t.match(await deliveriesOf(world), [{ fence: 0 }])
  await query('update deliveries set fence = 1, claimed_by = $2, claimed_at = now() where id = $1', [
    began?.id,
    jobId,
  ])
  t.match(await claim(), { state: 'busy' })
  t.match(await deliveriesOf(world), [{ fence: 2 }], 'the former claim records nothing any more')
})

t.test('what waits for a silent destination looks for a slot seldom', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  await world.raise()
  const [began] = await deliveriesOf(world)
  await fillSlots(world, id)
  const seconds = async () => {
    await runAttempt(world, began?.id)
    const [found] = await query(
      `select extract(epoch from start_after - created_on)::float8 as seconds from pgboss.job
        where id = (select job_id from deliveries where id = $1)`,
      [began?.id],
    )
    return Number(found?.seconds)
  }
  t.ok((await seconds()) < 5)
  await query('update destinations set silent_since = now() where id = $1', [id])
  t.ok((await seconds()) > 10)
})

/** Resolves when work has ended, or waits for a lock. @returns whether it has ended */
async function endedOrBlocked(work: Promise<unknown>): Promise<boolean> {
  let hasEnded = false
  const end = work.finally(() => (hasEnded = true))
  for (;;) {
    const isBlocked = (await countBlocked(app)) > 0
    // A job that an earlier test has left may be blocked instead: then the work ends all the same.
    if (isBlocked) await Promise.race([end, wait(1_000)])
    if (hasEnded || isBlocked) return hasEnded
  }
}

t.test('the end of a chain starts after the beginning of an older alert that ends meanwhile', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const rule = { name: 'r', destination_ids: [id], severities: ['warning'] }
  await world.ask('POST', `${ALERTS}/rules`, rule)
  await world.raise()
  await world.raise({ severity: 'critical' })
  const [began] = await deliveriesOf(world)
  const endAttempt = () =>
    server.db.company(world.companyId, async trx => {
      const delivery = await Delivery.query(trx).findById(String(began?.id)).throwIfNotFound()
      await lockAlertOfDelivery(trx, delivery)
      await Delivery.query(trx).where({ id: delivery.id }).patch({ status: 'failed' })
      await settleDelivery(server.jobs, trx, delivery)
    })
  let ending: Promise<void> | undefined
  await server.db.company(world.companyId, async trx => {
    t.equal(await server.plugins.alerts.resolve(trx, 'validity_failure', 'rule:1'), true)
    ending = endAttempt()
    await endedOrBlocked(ending)
  })
  await ending
  const found = await deliveriesOf(world)
  t.match(found, [{ status: 'failed' }, { event_type: 'alert.resolved', alert_id: began?.alert_id }])
  t.ok(found[1]?.job_id, 'it waits for nothing')
})

t.test('what was sent of an alert is looked for since its beginning only', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  // The partition of the past reaches to the end of this month.
  await query(`update alerts set created_at = now() + interval '40 days' where id = $1`, [alertId])
  let recovering: Promise<boolean> | undefined
  const isDone = await server.db.system(async trx => {
    await trx.raw('lock table partitions.deliveries_past in access exclusive mode')
    recovering = world.recover()
    return endedOrBlocked(recovering)
  })
  t.equal(isDone, true)
  t.equal(await recovering, true)
})

t.test('one company whose alerts cannot be written does not stop the sweep of the others', async t => {
  const worlds = [await makeWorld(app), await makeWorld(app)]
  const destinations = []
  for (const world of worlds) {
    const { id } = await world.addDestination({ url })
    destinations.push(id)
    await world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [id] })
    const { alertId } = await world.raise()
    await world.ask('POST', `${ALERTS}/${alertId}/snooze`, { duration_minutes: 60 })
    await world.raise({ cause: 'rule:2' })
  }
  const [bad] = worlds
  // What is snoozed is due, of the first company first; so is a postponed message.
  await query(
    `update alerts set snoozed_until = now() - case when company_id = $1 then 120 else 60 end * interval '1 second'
      where status = 'snoozed'`,
    [bad!.companyId],
  )
  await query(
    `update deliveries set job_id = null,
            next_attempt_at = now() - case when company_id = $1 then 120 else 60 end * interval '1 second'
      where company_id = any($2) and alert_id in (select id from alerts where cause = 'rule:2')`,
    [bad!.companyId, worlds.map(({ companyId }) => companyId)],
  )
  const table = (name: string, condition: string) =>
    query(
      `alter table ${name} add constraint refused check (company_id <> '${bad!.companyId}' or ${condition}) not valid`,
    )
  await table('alerts', `cause = 'rule:2' or status = 'snoozed'`)
  await table('deliveries', `job_id is null`)
  t.teardown(async () => {
    for (const name of ['alerts', 'deliveries']) await query(`alter table ${name} drop constraint refused`)
  })
  await runSweep(app, server)
  const states = async ({ companyId }: World) =>
    (await query('select status from alerts where company_id = $1 order by cause', [companyId])).map(
      ({ status }) => status,
    )
  t.strictSame(await states(worlds[1]!), ['triggered', 'triggered'])
  t.strictSame(await states(bad!), ['snoozed', 'triggered'])
  const waiting = async ({ companyId }: World) =>
    (
      await query(
        `select from deliveries d join alerts a on a.id = d.alert_id
          where d.company_id = $1 and a.cause = 'rule:2' and d.job_id is null`,
        [companyId],
      )
    ).length
  t.strictSame([await waiting(worlds[1]!), await waiting(bad!)], [0, 1])
})

t.test('messages are looked at anew only when a rule changes that may have held them back', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const make = async (cooldown: number) => {
    const rule = { name: 'r', destination_ids: [id], cooldown_minutes: cooldown }
    return String((await world.ask('POST', `${ALERTS}/rules`, rule)).body.data.id)
  }
  const ids = [await make(0), await make(60)]
  await world.raise()
  const [began] = await deliveriesOf(world)
  const isReviewed = async (act: () => Promise<unknown>) => {
    await query(
      `update deliveries set job_id = null, rule_ids = $2, next_attempt_at = now() + interval '1 hour' where id = $1`,
      [began?.id, ids],
    )
    await act()
    const [found] = await query(`select next_attempt_at <= now() as "isDue" from deliveries where id = $1`, [
      began?.id,
    ])
    return found?.isDue
  }
  const path = (at: number) => `${ALERTS}/rules/${ids[at]}`
  t.equal(await isReviewed(() => world.ask('PATCH', path(0), { name: 'other' })), false)
  t.equal(await isReviewed(() => world.ask('PATCH', path(1), { cooldown_minutes: 0 })), true)
  await world.ask('PATCH', path(1), { cooldown_minutes: 60 })
  t.equal(await isReviewed(() => world.ask('DELETE', path(0))), false)
  t.equal(await isReviewed(() => world.ask('DELETE', path(1))), true)
})
