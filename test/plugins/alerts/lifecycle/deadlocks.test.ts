import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { deliverJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { sweepJob } from '../../../../plugins/alerts/jobs.ts'
import { IS_POSTPONED } from '../../../../plugins/alerts/delivery/postponed.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { untilBlocked } from '../../../helpers/lock-waits.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { sweepStep } from '../time.ts'
import { INCIDENTS } from '../incidents/world.ts'
import { ALERTS, makeWorld } from '../world.ts'

const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
const [well, ill] = receivers as [(typeof receivers)[0], (typeof receivers)[0]]

/** The same numbers in each run. */
let seed = 20_261_121
const random = (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return (seed >>> 8) % below
}
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map(item => ({ item, place: random(1 << 20) }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)

/** Holds what a statement locks until `release` is called; `done` is when its transaction has ended. */
async function holdLock(app: TestServer, companyId: string, statement: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
  const done = app.server.db.company(companyId, async trx => {
    await trx.raw(statement)
    lock()
    await released
  })
  await locked
  return { release, done }
}

t.test('a message about a superseded alert waits for no transaction that still holds it', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0', INCIDENT_DELAY_SECONDS: '600' } })
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url: well.url }, { messages: 'alerts' })
  // The new alert is not sent, so the end of the old one waits for that of the new one.
  await world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [id], severities: ['warning'] })
  const [first, superseded, last] = ['rule:0', 'rule:1', 'rule:2']
  await world.raiseAll([first, superseded, last].map(cause => ({ cause })))
  for (const { id: deliveryId } of await world.deliveries(id))
    await app.server.jobs.settled(deliverJob, ({ delivery_id }) => delivery_id === deliveryId)
  const { alerts } = app.server.plugins
  const company = (work: Parameters<typeof app.server.db.company>[1]) =>
    app.server.db.company(world.companyId, work)

  const beforeAll = await holdLock(
    app,
    world.companyId,
    `select from alerts where cause = '${first}' for update`,
  )
  // It has seen all three alerts, and locks them one after the other.
  const orphaning = company(trx => alerts.resolveOrphaned(trx, { sourceId: world.sourceId }))
  await untilBlocked(app)
  const messages = await holdLock(
    app,
    world.companyId,
    `select from deliveries where alert_id = (select id from alerts where cause = '${superseded}') for update`,
  )
  await world.raise({ cause: superseded, severity: 'critical' })
  // It holds the new alert and the last one, and is about to send messages about the old alert.
  const resolving = company(trx => alerts.resolveAll(trx, world.event().type, [superseded, last]))
  await untilBlocked(app, 2)
  beforeAll.release()
  await beforeAll.done
  // Now the first transaction holds the old alert and waits for the last one.
  await untilBlocked(app, 2)
  messages.release()
  await messages.done
  t.equal(await resolving, 2)
  t.equal(await orphaning, 1)
})

t.test('concurrent work of two servers never deadlocks, and every message ends', async t => {
  const app = await startServer(t, {
    settings: { WEBHOOK_DELAYS: '0,0.1', INCIDENT_DELAY_SECONDS: '0' },
  })
  const { query } = app
  const servers = [app.server, await app.startTwin()]
  const world = await makeWorld(app)
  const other = await world.addSource('stock')
  const causes = Array.from({ length: 24 }, (_, at) => `rule:${at}`)
  const types = ['validity_failure', 'metric_anomaly']
  const tables = [randomUUID(), randomUUID(), randomUUID()]
  const { asset } = world.event()
  ill.answer(500)

  const addDestination = async () =>
    (
      await world.addDestination(
        { url: random(3) === 0 ? ill.url : well.url },
        { name: randomUUID(), messages: random(2) ? 'incidents' : 'alerts' },
      )
    ).id
  let destinations = await Promise.all(Array.from({ length: 4 }, addDestination))
  const rule = await world.ask('POST', `${ALERTS}/rules`, { name: 'All', destination_ids: destinations })
  const rulePath = `${ALERTS}/rules/${rule.body.data.id}`

  const company = (work: Parameters<typeof app.server.db.company>[1]) =>
    servers[random(2)]!.db.company(world.companyId, work)
  const alerts = () => servers[random(2)]!.plugins.alerts
  const events = (): Partial<AlertEvent>[] =>
    shuffled(causes)
      .slice(0, 1 + random(causes.length))
      .map(cause => ({
        cause,
        type: types[random(2)]!,
        severity: (['info', 'warning', 'critical'] as const)[random(3)]!,
        sourceId: random(2) ? world.sourceId : other,
        asset: { ...asset, id: tables[random(3)]! },
      }))
  const anyDestination = () => destinations[random(destinations.length)]!
  const anyOf = async (statement: string) => {
    const found = await query(statement, [world.companyId])
    return found.length > 0 ? String(found[random(found.length)]!.id) : randomUUID()
  }
  const someAlert = () =>
    anyOf(`select id from alerts where company_id = $1 and status not in ('resolved', 'dismissed')`)

  const someIncident = () =>
    anyOf(`select id from incidents where company_id = $1 and status not in ('resolved', 'dismissed')`)

  const deeds: (() => Promise<unknown>)[] = [
    () => company(trx => alerts().raiseAll(trx, events().map(world.event))),
    () => company(trx => alerts().raiseAll(trx, events().map(world.event))),
    () => company(trx => alerts().resolveAll(trx, types[random(2)]!, shuffled(causes).slice(0, 9))),
    () => company(trx => alerts().resolveOrphaned(trx, { sourceId: other })),
    () =>
      company(trx =>
        alerts().resolveOrphaned(trx, { assetIds: tables.slice(random(2)), onlyRechecked: true }),
      ),
    () =>
      company(trx =>
        alerts().resolveOrphaned(trx, { type: types[random(2)]!, causes: shuffled(causes).slice(9) }),
      ),
    async () => world.ask('POST', `${INCIDENTS}/${await someIncident()}/acknowledge`),
    async () => world.ask('POST', `${INCIDENTS}/${await someIncident()}/resolve`),
    async () => world.ask('POST', `${INCIDENTS}/${await someIncident()}/snooze`, { duration_minutes: 1 }),
    async () => world.ask('POST', `${ALERTS}/${await someAlert()}/acknowledge`),
    async () => world.ask('POST', `${ALERTS}/${await someAlert()}/resolve`),
    async () => world.ask('POST', `${ALERTS}/${await someAlert()}/dismiss`),
    async () => world.ask('POST', `${ALERTS}/${await someAlert()}/snooze`, { duration_minutes: 1 }),
    () => world.ask('PATCH', rulePath, { destination_ids: destinations, cooldown_minutes: random(2) }),
    () => world.ask('PATCH', `${ALERTS}/destinations/${anyDestination()}`, { is_active: random(3) > 0 }),
    () => world.ask('PATCH', `${ALERTS}/destinations/${anyDestination()}`, { is_active: true }),
    async () => {
      const gone = anyDestination()
      destinations = [...destinations.filter(id => id !== gone), await addDestination()]
      await world.ask('PATCH', rulePath, { destination_ids: destinations })
      return world.ask('DELETE', `${ALERTS}/destinations/${gone}`)
    },
    async () => {
      const id = anyDestination()
      await query(`update destinations set failing_since = now() - interval '6 days' where id = $1`, [id])
      return sweepStep(servers[random(2)]!, 'disabled')
    },
    async () => {
      await query(
        `update alerts set snoozed_until = now() where id in (
           select id from alerts where status = 'snoozed' for update skip locked)`,
      )
      return sweepStep(servers[random(2)]!, 'woken')
    },
    async () => {
      await query(
        `update deliveries set next_attempt_at = now() where id in (
           select id from deliveries where ${IS_POSTPONED} for update skip locked)`,
      )
      return sweepStep(servers[random(2)]!, 'postponed')
    },
    async () => {
      const id = await anyOf(`select id from deliveries where company_id = $1 and status <> 'pending'`)
      return world.ask('POST', `${ALERTS}/deliveries/${id}/redeliver`)
    },
  ]

  const errors: string[] = []
  const work = async () => {
    for (let round = 0; round < 10; round += 1) {
      const deed = deeds[random(deeds.length)]!
      try {
        const reply = (await deed()) as { status?: number } | undefined
        if (reply?.status === 500) errors.push(`${String(deed)} is answered with 500`)
      } catch (error) {
        errors.push(`${String(deed)}: ${(error as Error).message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: 6 }, work))
  t.strictSame(errors, [])

  // What waits for a message that was stopped is found by the sweep.
  const pending = () => query(`select 1 from deliveries where status = 'pending'`)
  while ((await pending()).length > 0) {
    // What is postponed waits for the end of a snooze.
    await query(`update alerts set snoozed_until = now() where status = 'snoozed'`)
    await query(
      `update deliveries set created_at = created_at - interval '5 minutes', next_attempt_at = null
        where id in (select id from deliveries where status = 'pending' for update skip locked)`,
    )
    await app.server.jobs.send(sweepJob, {})
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  const overtaken = await query(
    `select r.alert_id from deliveries r
       join deliveries d on d.message_id = r.message_id and d.destination_id = r.destination_id
                        and d.event_type = 'alert.triggered' and r.event_type = 'alert.resolved'
       join delivery_attempts first on first.delivery_id = r.id and first.n = 1
       join delivery_attempts last on last.delivery_id = d.id and last.trigger = 'automatic'
      where first.started_at < last.ended_at`,
  )
  t.strictSame(overtaken, [], 'no alert.resolved was sent before its alert.triggered')
  const [seen] = await query(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  )
  t.strictSame(seen, { deadlocks: 0 })
})
