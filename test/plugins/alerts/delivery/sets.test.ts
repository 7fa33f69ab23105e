import type { ServerResponse } from 'node:http'
import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { countChanges } from '../../../helpers/statement-counts.ts'
import { makeWorld } from '../world.ts'

const DESTINATIONS = 8
const ALERTS = 3

t.test('attempts that end together are claimed and recorded in a few statements', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' }, isOwn: true })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const open: ServerResponse[] = []
  receiver.answer((_request, response) => void open.push(response))
  for (let n = 0; n < DESTINATIONS; n += 1)
    await world.addDestination({ url: receiver.url }, { name: `destination ${n}` })
  const deliveries = await countChanges(app, 'deliveries')
  const attempts = await countChanges(app, 'delivery_attempts')
  const slots = await countChanges(app, 'destination_slots')
  await world.raiseAll(Array.from({ length: ALERTS }, (_, n) => ({ cause: `cause ${n}` })))
  const count = DESTINATIONS * ALERTS
  await receiver.received(count)
  open.forEach(response => response.writeHead(200).end())
  const states = () => app.query('select status, attempt from deliveries')
  while ((await states()).some(({ status }) => status === 'pending'))
    await new Promise(resolve => setTimeout(resolve, 20))
  t.strictSame(
    await states(),
    Array.from({ length: count }, () => ({ status: 'delivered', attempt: 1 })),
  )
  t.strictSame(await app.query('select count(*)::int as n from delivery_attempts'), [{ n: count }])
  t.strictSame(await app.query('select from destination_slots'), [])
  for (const [what, changes, alone] of [
    ['deliveries', await deliveries(), 2 * count + 1],
    ['attempts', await attempts(), count],
    ['slots', await slots(), count],
  ] as const)
    t.ok(changes > 0 && changes <= alone / 2, `${what}: ${changes} statements, ${alone} one by one`)
})

t.test('what fails in a set fails alone', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' }, isOwn: true })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const open: ServerResponse[] = []
  receiver.answer((_request, response) => void open.push(response))
  const { id } = await world.addDestination({ url: receiver.url })
  await app.query(`create function refuse() returns trigger language plpgsql as
    $$ begin if new.response_body = 'refuse' then raise 'refused'; end if; return new; end $$`)
  await app.query(
    `create trigger refuse before insert on delivery_attempts for each row execute function refuse()`,
  )
  await world.raiseAll(Array.from({ length: ALERTS }, (_, n) => ({ cause: `cause ${n}` })))
  await receiver.received(ALERTS)
  open.splice(0).forEach((response, n) => response.writeHead(200).end(n === 0 ? 'refuse' : 'fine'))
  const delivered = () => app.query(`select 1 from deliveries where status = 'delivered'`)
  while ((await delivered()).length < ALERTS - 1) await new Promise(resolve => setTimeout(resolve, 20))
  await receiver.received(ALERTS + 1)
  open.forEach(response => response.writeHead(200).end('fine'))
  while ((await delivered()).length < ALERTS) await new Promise(resolve => setTimeout(resolve, 20))
  t.equal((await world.deliveries(id)).length, ALERTS)
  t.equal(receiver.requests.length, ALERTS + 1)
})
