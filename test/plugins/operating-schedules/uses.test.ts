import t from 'tap'
import { startWorlds } from '../freshness/worlds.ts'

const { tenant, stranger, world } = await startWorlds(t)

t.test('the uses of a schedule are the rules that name it', async t => {
  const { source, database } = await world(t, 'create table orders (id int); create table items (id int)')
  const { body: hours } = await tenant.ask('POST', '/api/v1/operating-schedules', {
    ...{ name: 'office', timezone: 'UTC' },
    rules: [{ days: [1], start: '08:00', end: '18:00' }],
  })
  const uses = (who = tenant) => who.ask('GET', `/api/v1/operating-schedules/${hours.id}/uses`)
  t.match(await uses(), { status: 200, body: { data: { uses: [{ kind: 'rules', count: 0, items: [] }] } } })
  const named = { detection_mode: 'auto', operating_period_mode: 'schedule', operating_schedule_id: hours.id }
  for (const table of ['orders', 'items']) {
    const rule = { rule_type: 'NOT_NULL', table_path: table, column_name: 'id', ...named }
    t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)).status, 201)
  }
  const path = (table: string) => `${source.name}.${database.name}.public.${table}`
  const { body } = await uses()
  t.match(body.data.uses, [{ kind: 'rules', count: 2 }])
  t.match(body.data.uses[0].items, [
    { id: /^v_/, name: 'NOT_NULL items.id', asset: path('items') },
    { id: /^v_/, name: 'NOT_NULL orders.id', asset: path('orders') },
  ])
  t.equal((await uses(stranger)).status, 404)
})
