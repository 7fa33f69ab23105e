/** Events of OpenLineage at their limits: each is stored in time, and a batch takes no more than its share. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../helpers/server.ts'
import { attack, MAX_P99_MS } from './attack.ts'

const app = await startServer(t)
const [hog, other] = [await app.signUp('Hog'), await app.signUp('Other')]

const datasets = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({ namespace: 'warehouse', name: `${name}${n}` }))

/** An event whose inputs all lead to all of its outputs. */
const event = (inputs: number, outputs: number) => {
  const name = randomUUID()
  return {
    eventType: 'COMPLETE',
    eventTime: new Date().toISOString(),
    producer: 'https://example.com',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: randomUUID() },
    job: { namespace: 'jobs', name },
    inputs: datasets(inputs, `${name}-in-`),
    outputs: datasets(outputs, `${name}-out-`),
  }
}

t.test('an event of 20,000 edges is stored, and of one of more, so many', async t => {
  t.match(await hog.ask('POST', '/api/v1/lineage', event(1_000, 20)), {
    status: 201,
    body: { data: { edges: 20_000 } },
  })
  t.match(await hog.ask('POST', '/api/v1/lineage', event(1_000, 21)), {
    status: 201,
    body: { data: { edges: 20_000, omitted_edges: 1_000 } },
  })
})

t.test('a batch stores what is the work of one, and names the rest to be sent again', async t => {
  const { p99Ms } = await attack(t, {
    route: 'POST /lineage/batch',
    attack: '5 events of 20,000 edges',
    bystander: other,
    async work() {
      const events = [...Array.from({ length: 4 }, () => event(1_000, 20)), event(1_000, 21)]
      const { status, body } = await hog.ask('POST', '/api/v1/lineage/batch', events)
      t.equal(status, 200)
      t.match(body.failed_events.at(-1), { index: 4, retriable: true, reason: /send it again/ })
      t.equal(body.summary.failed, body.summary.retriable)
      t.ok(body.summary.successful >= 1)
    },
  })
  t.ok(p99Ms < 5 * MAX_P99_MS)
})
