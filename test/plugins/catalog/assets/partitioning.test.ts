import t from 'tap'
import { discover, makeWorld } from '../../../helpers/world.ts'

const STATEMENTS = [
  'create table events (id int, at timestamptz not null) partition by range (at)',
  `create table events_1 partition of events for values from ('2026-01-01') to ('2026-02-01')`,
  'create table users (id int)',
]

t.test('the record of a table says how its rows are kept apart, and lists leave it out', async t => {
  const world = await makeWorld(t, STATEMENTS)
  await discover(world)
  const { tenant } = world
  const list = await tenant.ask('GET', '/api/v1/sdk/assets?asset_type=table&sort=name&order=asc')
  t.same(
    list.body.data.data.map((table: { name: string; partitioning?: object }) => [
      table.name,
      table.partitioning,
    ]),
    [
      ['events', undefined],
      ['users', undefined],
    ],
  )
  const [events, users] = list.body.data.data
  const show = async (id: string) => (await tenant.ask('GET', `/api/v1/sdk/assets/${id}`)).body.data
  const partitioning = { columns: [{ name: 'at', method: 'range' }], clustering: [], requires_filter: false }
  t.same((await show(events.id)).partitioning, partitioning)
  t.same((await show(events.qualified_name)).partitioning, partitioning, 'by name too')
  t.equal((await show(users.id)).partitioning, null)
})

t.test('what an older version did not store is no schema change', async t => {
  const world = await makeWorld(t, STATEMENTS)
  await discover(world)
  const id = async () =>
    (
      await world.app.query(`select id, partitioning from tables where name = 'events' and company_id = $1`, [
        world.tenant.companyId,
      ])
    )[0]!
  const known = await id()
  await world.app.query(`update tables set partitioning = null, fingerprint = 'of before' where id = $1`, [
    known.id,
  ])
  await discover(world)
  t.same(await id(), known)
  const changes = await world.app.query('select 1 from schema_changes where company_id = $1', [
    world.tenant.companyId,
  ])
  t.same(changes, [])
})
