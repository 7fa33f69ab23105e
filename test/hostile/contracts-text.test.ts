/** No contract within the limits holds the thread that serves all companies, and a busy machine makes none too large. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createValidator, MAX_BYTES } from '../../plugins/contracts/validator.ts'
import { createTextPool } from '../../server/text-pool/text-pool.ts'
import { discover, makeWorld } from '../helpers/world.ts'
import { recordCost } from './attack.ts'
import { calmestDelay, MAX_DELAY_MS } from './event-loop.ts'

const HEAD = 'apiVersion: v3.1.0\nkind: DataContract\nid: orders\nversion: 1.0.0\nstatus: active\nschema:\n'

/** A text of nearly the largest size. */
function filled(head: string, part: (index: number) => string, tail = ''): string {
  let text = head
  for (let index = 0; ; index += 1) {
    const longer = text + part(index)
    if (Buffer.byteLength(longer + tail) > MAX_BYTES) return text + tail
    text = longer
  }
}

const column = (n: number) =>
  `      - name: column_${n}\n        logicalType: string\n        physicalType: varchar(40)\n        required: true\n`

/** What it says, and whether it is valid. */
const CONTRACTS: Record<string, string> = {
  'columns of one table': filled(`${HEAD}  - name: orders\n    properties:\n`, column),
  'as many clauses as a contract may have': `${HEAD}  - name: orders\n    properties:\n${Array.from({ length: 1_600 }, (_, n) => column(n)).join('')}`,
  'columns in one line': filled(`${HEAD}  - {name: o, properties: [`, n => `{name: c${n}},`, ']}\n'),
  'tables without columns': filled(HEAD, n => `  - {name: t${n}}\n`),
  'rules that are wrong': filled(`${HEAD}  - name: a\n    quality:\n`, () => '    - metric: rowCount\n'),
  'tags that are no texts': filled(`${HEAD}  - name: o\ntags:\n`, () => '  - 1\n'),
  'unknown fields': filled(`${HEAD}  - name: o\n`, n => `x${n}: 1\n`),
  'agreements about nothing': filled(
    `${HEAD}  - name: a\nslaProperties:\n`,
    n => `  - {property: latency, value: ${n}, element: a.b}\n`,
  ),
  'relationships of nothing': filled(
    `${HEAD}  - name: a\n    relationships:\n`,
    n => `    - {from: a.b${n}, to: c.d${n}}\n`,
  ),
  'aliases of thousands of columns': filled(
    `${HEAD}  - name: a\n    properties: &all\n`,
    n => `      - {name: c${n}}\n`,
    Array.from({ length: 60 }, (_, n) => `  - {name: t${n}, properties: *all}\n`).join(''),
  ),
  'a list of 130,000 values': filled('[', () => 'a,', ']'),
  'a text of brackets': '}'.repeat(MAX_BYTES),
}

const world = await makeWorld(t, [
  'create table orders (id int primary key, status text)',
  `do $$ begin
    for place in 1..300 loop
      execute format('create table wide_%s (%s)', place,
        (select string_agg(format('column_%s text', n), ', ') from generate_series(1, 100) n));
    end loop;
  end $$`,
])
await discover(world)
const { app, tenant, asset } = world

const ROUTES = [
  ['POST', '/api/public/contracts/validate'],
  ['POST', '/api/v1/contracts/validate'],
  ['POST', `/api/v1/contracts/${asset.id}/plan`],
  ['PUT', `/api/v1/sdk/contracts/orders?source=${String(asset.name)}`],
  ['POST', `/api/v1/sdk/assets/${asset.id}/contract-test`],
] as const

for (const [method, url] of ROUTES)
  t.test(
    `${method} ${url.replace(String(asset.id), '{asset_id}')}: no other request waits for long`,
    async t => {
      for (const [attack, text] of Object.entries(CONTRACTS)) {
        await app.query('delete from rate_windows')
        let status = 0
        const headers = { 'content-type': 'application/yaml', authorization: `Bearer ${tenant.key}` }
        const delayMs = await calmestDelay(
          async () => {
            status = (await app.server.inject({ method, url, payload: text, headers })).statusCode
          },
          { tries: 5, enough: MAX_DELAY_MS },
        )
        const route = `${method} ${url.replace(String(asset.id), '{asset_id}').replace(/\?.*/, '')}`
        recordCost(t, { route, attack, delayMs, p99Ms: null })
        t.ok([200, 201, 202, 400, 413, 422].includes(status), `${attack}: ${status}`)
        t.ok(delayMs <= MAX_DELAY_MS, `${attack}: the event loop is held for ${delayMs.toFixed(0)} ms`)
      }
    },
  )

t.test('30,000 columns are exported as a contract, and no other request waits for long', async t => {
  let text = ''
  const delayMs = await calmestDelay(
    async () => {
      const headers = { authorization: `Bearer ${tenant.key}` }
      const reply = await app.server.inject({ url: `/api/v1/contracts/${asset.id}/export`, headers })
      text = reply.payload
    },
    { tries: 5, enough: MAX_DELAY_MS },
  )
  const route = 'GET /api/v1/contracts/{asset_id}/export'
  recordCost(t, { route, attack: '300 tables of 100 columns', delayMs, p99Ms: null })
  t.ok(delayMs <= MAX_DELAY_MS, `the event loop is held for ${delayMs.toFixed(0)} ms`)
  t.equal(text.match(/- name: column_/g)?.length, 30_000)
})

/** Takes all cores for some seconds, of which each contract gets a small part. */
function takeCores(t: Test): void {
  const burn = 'const end = Date.now() + 3_000; while (Date.now() < end) Math.sqrt(2)'
  const burners = Array.from({ length: 8 * availableParallelism() }, () => new Worker(burn, { eval: true }))
  t.teardown(() => Promise.all(burners.map(burner => burner.threadId < 0 || once(burner, 'exit'))))
}

t.test('a valid contract is valid on a machine whose cores are all taken', async t => {
  const pool = createTextPool()
  t.teardown(() => pool.stop())
  const { validate } = createValidator(pool)
  takeCores(t)
  t.match(await validate({ text: CONTRACTS['columns of one table']! }, '192.0.2.1'), { valid: true })
})
