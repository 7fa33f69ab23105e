import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'
const failed = (status: number, code: string) => ({ status, body: { error: { code } } })

t.test('destinations are linked to a rule, listed and unlinked', async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  const [one, two, foreign] = [
    await world.addDestination({ url }),
    await world.addDestination({ url }),
    await theirs.addDestination({ url }),
  ]
  const rule = (await world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [one.id] })).body
    .data
  const path = `${ALERTS}/rules/${rule.id}/destinations`
  const link = (...ids: string[]) => world.ask('POST', path, { destination_ids: ids })
  t.match(await link(one.id, two.id), {
    status: 200,
    body: { data: { rule_id: rule.id, linked_count: 1 } },
  })
  t.match((await link(two.id)).body.data, { linked_count: 0 })
  const listed = (await world.ask('GET', path)).body.data.destinations
  t.match(listed, [
    { id: one.id, destination_type: 'webhook' },
    { id: two.id, is_active: true },
  ])
  t.equal(listed.length, 2)

  t.match(await link(foreign.id), failed(404, 'DESTINATION_NOT_FOUND'))
  t.match(await link('x'), failed(400, 'VALIDATION_ERROR'))
  t.match(await link(), failed(400, 'VALIDATION_ERROR'))
  const others = [
    ['GET', path],
    ['POST', path, { destination_ids: [foreign.id] }],
    ['DELETE', `${path}/${one.id}`],
  ] as const
  for (const [method, at, body] of others)
    t.match(await theirs.ask(method, at, body), failed(404, 'NOT_FOUND'), method)
  t.match(await world.ask('GET', `${ALERTS}/rules/${randomUUID()}/destinations`), failed(404, 'NOT_FOUND'))

  t.match(await world.ask('DELETE', `${path}/${one.id}`), { status: 200, body: { data: { success: true } } })
  t.match(await world.ask('DELETE', `${path}/${one.id}`), failed(404, 'DESTINATION_NOT_FOUND'))
  t.match(await world.ask('DELETE', `${path}/${two.id}`), failed(409, 'CONFLICT'))
  await world.ask('PUT', `${ALERTS}/rules/${rule.id}`, { is_active: false })
  t.equal((await world.ask('DELETE', `${path}/${two.id}`)).status, 200)
  t.strictSame((await world.ask('GET', path)).body.data.destinations, [])
})

t.test('two that link at once lose nothing', async t => {
  const world = await makeWorld(app)
  const [first, ...more] = await Promise.all(Array.from({ length: 5 }, () => world.addDestination({ url })))
  const rule = (await world.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [first!.id] })).body
    .data
  const path = `${ALERTS}/rules/${rule.id}/destinations`
  await Promise.all(more.map(({ id }) => world.ask('POST', path, { destination_ids: [id] })))
  t.equal((await world.ask('GET', path)).body.data.destinations.length, 5)
})
