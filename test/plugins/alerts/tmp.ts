import t from 'tap'
import { startReceiver } from '../../helpers/receiver.ts'
import { startServer } from '../../helpers/server.ts'
import { makeWorld } from './world.ts'
await t.test('x', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0.2,0.2,0.2,0.2' } })
  const world = await makeWorld(app)
  const down = await startReceiver(t)
  const t0 = Date.now()
  down.answer((q, r) => { console.log('got', Date.now()-t0); r.writeHead(500).end() })
  const dead = await world.addDestination({ url: down.url })
  await world.raise()
  for (let i = 0; i < 40; i++) {
    await new Promise(r => setTimeout(r, 1000))
    const [d] = await world.deliveries(dead.id)
    if (i % 10 === 9) console.log(Date.now()-t0, await app.query(`select name,state,data->>'n' n,start_after-created_on as wait, started_on - start_after as lag, completed_on-started_on as took, retry_count, output from pgboss.job where name like 'alerts%' order by created_on`))
    if (d.status !== 'pending') break
  }
  console.log(JSON.stringify(await world.deliveries(dead.id), null, 1))
})
