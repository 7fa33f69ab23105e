import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { makeWorld } from '../helpers/world.ts'
import { manifest, node } from '../plugins/lineage/feeds/dbt-project.ts'
import { attack, MAX_P99_MS } from './attack.ts'
import { sendBytes, slowProject } from './dbt-projects.ts'
import { MAX_DELAY_MS } from './event-loop.ts'

const { app, tenant, asset } = await makeWorld(t, ['create table orders (id int primary key, total numeric)'])
const { server } = app
const other = await app.signUp('Other')

const DBT = '/api/v1/sdk/lineage/dbt'
const SMALL = JSON.stringify({ source: 'none', manifest: manifest([node('model', 'orders')]) })

t.test('a dbt project as large as a body may be holds no other company up', async t => {
  const most = 64 * 1_048_576
  const whole = slowProject(asset.id, 60)
  const body = Buffer.from(whole + ' '.repeat(most - Buffer.byteLength(whole)))
  let reply: { status: number } | undefined
  const { delayMs, p99Ms } = await attack(t, {
    route: `POST ${DBT}`,
    attack: 'a body of 64 MiB',
    bystander: other,
    async work() {
      const sent = sendBytes(server, tenant, DBT, body)
      await setImmediate()
      t.match(await sendBytes(server, other, DBT, SMALL), { status: 404 })
      reply = await sent
    },
  })
  // On a slow machine it takes too long to be read.
  t.ok([200, 413].includes(reply?.status ?? 0), String(reply?.status))
  t.ok(delayMs <= MAX_DELAY_MS, `${delayMs} ms`)
  t.ok(p99Ms <= MAX_P99_MS, `${p99Ms} ms`)
  t.match(await sendBytes(server, tenant, DBT, Buffer.alloc(most + 1, ' ')), {
    status: 413,
    body: /larger than 64 MiB/,
  })
})
