import t from 'tap'
import { checkJob } from '../../../plugins/checks/check-job.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. No sweep runs but those that a test asks for. */
const stage = await makeStage(t)

const SHOP = [
  `create table customers (id int primary key)`,
  `create table orders (id int primary key, customer_id int, email text)`,
  `insert into customers values (1)`,
  `insert into orders values (1, 1, 'ann@x.org'), (2, 1, null)`,
]

const KIND_NAMES = ['validity', 'metric', 'referential'] as const
type Kind = (typeof KIND_NAMES)[number]

/** A rule, a metric and a referential check of one table, each new and therefore due. */
async function shopWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const { app, tenant, asset } = world
  const made = async (path: string, body: object): Promise<string> => {
    const { status, body: reply } = await tenant.ask('POST', `/api/v1/sdk/${path}/${asset.id}`, body)
    if (status !== 201) throw new Error(JSON.stringify(reply))
    return `/api/v1/sdk/${path}/${asset.id}/${reply.data.uuid ?? reply.data.id}`
  }
  const table = { table_path: 'orders', column_name: 'email' }
  const rule = await made('validity', { ...table, rule_type: 'NOT_NULL', check_interval: 'hourly' })
  const metric = await made('metrics', { ...table, metric_type: 'null_percent', capture_interval: 'hourly' })
  const reference = await made('referential', {
    child_table_path: 'orders',
    child_column_name: 'customer_id',
    parent_table_path: 'customers',
    parent_column_name: 'id',
    capture_interval: 'hourly',
  })
  const [{ table_id: tableId } = {}] = await app.query('select table_id from checks')
  return {
    ...world,
    tableId: String(tableId),
    /** What measures each kind by hand. */
    byHand: {
      validity: () => tenant.ask('POST', `${rule}/check`),
      metric: () => tenant.ask('POST', `${metric}/capture`),
      referential: () => tenant.ask('POST', `${reference}/execute`),
    },
    /** Sets the due times of everything. */
    async plan(next: string, running = 'null') {
      await app.query(`update checks set next_run_at = ${next}, running_slot = ${running}`)
    },
    times: async (kind: Kind) =>
      (
        await app.query(
          'select next_run_at, next_run_at > now() as is_ahead, running_slot from checks where kind = $1',
          [kind],
        )
      )[0],
    /** The slots that measurements were stored for, in the order of storing. */
    slots: async (kind: Kind) =>
      (
        await app.query(
          `select scheduled_for from check_results r join checks c on c.id = r.check_id where c.kind = $1 order by r.id`,
          [kind],
        )
      ).map(({ scheduled_for: slot }) => slot),
  }
}

const DUE = `timestamptz '2026-01-05 10:20:30.123'`
const SLOT = new Date('2026-01-05T10:20:30.123Z')

for (const kind of KIND_NAMES) {
  t.test(`${kind}: what is due and measured by hand is not measured again`, async t => {
    const { app, byHand, plan, times, slots } = await shopWorld(t)
    await plan(DUE)
    // On the same grid, which a check takes up with its first run.
    await app.query(
      `update checks set next_run_at = cast($2 as timestamptz) + interval '3000 days' where kind <> $1`,
      [kind, SLOT],
    )
    t.equal((await byHand[kind]()).status, 200)
    t.same(await slots(kind), [SLOT], 'it is stored for the time it was due at')
    const { next_run_at: next, is_ahead: isAhead, running_slot: running } = (await times(kind)) ?? {}
    t.match([isAhead, running], [true, null])
    t.equal((Number(next) - Number(SLOT)) % 3_600_000, 0, 'the next time is on the same grid')
    t.same(await app.server.plugins.checks.dispatch(), { tables: 0 })
    t.equal((await byHand[kind]()).status, 200)
    t.same(await slots(kind), [SLOT, null], 'again by hand, it is not due')
    t.same((await times(kind))?.next_run_at, next)
  })

  t.test(`${kind}: what is not due keeps its next time`, async t => {
    const { byHand, plan, times, slots } = await shopWorld(t)
    await plan(`now() + interval '20 min'`)
    const before = await times(kind)
    t.equal((await byHand[kind]()).status, 200)
    t.same(await times(kind), before)
    t.same(await slots(kind), [null])
  })

  t.test(`${kind}: what a sweep claimed and no job has measured yet is measured once`, async t => {
    const { app, tenant, tableId, byHand, plan, times, slots } = await shopWorld(t)
    await plan(`now() + interval '20 min'`)
    await app.query(`update checks set running_slot = ${DUE} where kind = '${kind}'`)
    const before = await times(kind)
    t.equal((await byHand[kind]()).status, 200)
    t.same(await times(kind), { ...before, running_slot: null })
    t.same(await app.server.plugins.checks.runTable(tenant.companyId, tableId, 'claimed'), {
      checks: 0,
      statements: 0,
    })
    t.same(await slots(kind), [SLOT])
  })

  t.test(`${kind}: one that is switched off has no time to take`, async t => {
    const { app, byHand, plan, times, slots } = await shopWorld(t)
    await plan(DUE)
    await app.query(`update checks set is_active = false where kind = '${kind}'`)
    t.equal((await byHand[kind]()).status, 200)
    t.same((await times(kind))?.next_run_at, SLOT)
    t.same(await slots(kind), [null])
  })
}

t.test('a check of a whole asset takes what is due of it, and two at once take it once', async t => {
  const { app, tenant, asset, plan, slots, times } = await shopWorld(t)
  await plan(DUE)
  const asked = await Promise.all(
    [1, 2].map(() => tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/check`, {})),
  )
  for (const { body } of asked)
    await app.server.jobs.settled(checkJob, ({ run_id: id }) => id === body.data.job_id)
  for (const kind of KIND_NAMES) {
    t.same((await slots(kind)).toSorted(), [SLOT, null], kind)
    t.match(await times(kind), { is_ahead: true, running_slot: null })
  }
  t.same(await app.server.plugins.checks.dispatch(), { tables: 0 })
})

t.test('a check by hand that could not be made takes nothing', async t => {
  const { tenant, asset, byHand, plan, times, slots } = await shopWorld(t)
  await plan(DUE)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { is_active: false })
  for (const kind of KIND_NAMES) {
    t.equal((await byHand[kind]()).status, 409)
    t.same((await times(kind))?.next_run_at, SLOT)
    t.same(await slots(kind), [])
  }
})
