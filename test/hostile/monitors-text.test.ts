/** No monitors files within the limits hold the thread that serves all companies, and those beyond are refused. */
import t, { type Test } from 'tap'
import type { Reply } from '../helpers/server.ts'
import { discover, makeWorld } from '../helpers/world.ts'
import { recordCost } from './attack.ts'
import { longestDelay, MAX_DELAY_MS } from './event-loop.ts'

const world = await makeWorld(t, ['create table orders (id int primary key, status text)'])
await discover(world)
const { app, tenant, asset } = world
const { body: made } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
const reader = made.data.key as string

/** How often the same is tried: what other processes take of the machine is no delay of this one's. */
const MAX_TRIES = 5

interface Sent {
  attack: string
  what?: 'plan' | 'apply'
  contents: readonly (string | object)[]
}

/** Sends files, plans as a reader, and holds the event loop to its bound meanwhile. */
async function send(t: Test, { attack, what = 'plan', contents }: Sent): Promise<Reply> {
  const files = contents.map((content, index) => ({ name: `monitors/${index}.yaml`, content }))
  const path = `/api/v1/sdk/monitors/${asset.id}/${what}`
  let reply: Reply | undefined
  let delayMs = Infinity
  const work = async () => {
    reply = await app.ask('POST', path, { files }, what === 'plan' ? reader : tenant.key)
  }
  for (let tries = 0; tries < MAX_TRIES && delayMs > MAX_DELAY_MS; tries += 1)
    delayMs = Math.min(delayMs, await longestDelay(work))
  recordCost(t, {
    ...{ route: `POST /api/v1/sdk/monitors/{asset_id}/${what}`, attack, delayMs, p99Ms: null },
  })
  t.ok(delayMs <= MAX_DELAY_MS, `the event loop is held for ${delayMs.toFixed(0)} ms`)
  return reply!
}

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const fileOf = (checks: string) =>
  `version: 1\nsource: ${String(asset.name)}\ntables:\n  public.orders:\n    checks:\n      validity:${checks}`

const UNREADABLE: Record<string, { contents: string[]; says: RegExp }> = {
  'a list of 250,000 values': { contents: [`[${list(250_000, () => 'a').join(',')}]`], says: /./ },
  'a million brackets': { contents: ['}'.repeat(1_000_000)], says: /./ },
  'deep lists': { contents: ['- '.repeat(400_000)], says: /./ },
  'deep objects': { contents: ['{a: '.repeat(200_000)], says: /./ },
  'a million commas': { contents: [`[${','.repeat(1_000_000)}]`], says: /./ },
  'half a million tags': { contents: ['! '.repeat(500_000)], says: /./ },
  'two files of a million comments': { contents: ['#\n'.repeat(500_000), '\n'.repeat(900_000)], says: /./ },
  'two files of 4 MB': { contents: list(2, () => `[${list(2_000_000, () => 'a').join(',')}]`), says: /./ },
  'a file of 1.5 MB': { contents: ['a'.repeat(1_500_000)], says: /./ },
  '2,000 aliases of 300 checks': {
    contents: [
      `version: 1\nsource: shop\ntables:\n  first:\n    checks: &all\n      validity:\n` +
        list(300, n => `        - {key: k${n}, rule_type: NOT_NULL, column_name: status}\n`).join('') +
        list(2_000, n => `  t${n}:\n    checks: *all\n`).join(''),
    ],
    says: /10,000 checks/,
  },
  '5,000 aliases of a long text': {
    contents: [
      `version: 1\nsource: shop\ntables:\n  first:\n    checks:\n      validity:\n        - {key: a, rule_type: REGEX, rule_config: {pattern: &p ${'x'.repeat(9_000)}}}\n` +
        list(5_000, n => `        - {key: k${n}, rule_type: REGEX, rule_config: {pattern: *p}}\n`).join(''),
    ],
    says: /8,000,000 characters/,
  },
  '1,000 aliases of 1,000 values': {
    contents: [
      `version: 1\nsource: shop\ntables:\n  first:\n    checks:\n      validity:\n        - {key: a, rule_type: ENUM, rule_config: {allowed_values: &p [${list(1_000, n => n).join(',')}]}}\n` +
        list(1_000, n => `        - {key: k${n}, rule_type: ENUM, rule_config: {allowed_values: *p}}\n`).join(
          '',
        ),
    ],
    says: /300,000 values/,
  },
}

for (const [attack, { contents, says }] of Object.entries(UNREADABLE))
  t.test(`${attack} are refused, and no other request waits`, async t => {
    const { status, body } = await send(t, { attack, contents })
    t.comment(status, JSON.stringify(body).slice(0, 300))
    t.match(String(status), /^(400|413)$/)
    t.match(JSON.stringify(body.error ?? body), says)
  })

const checkOf = (n: number, more = '') =>
  `\n        - key: orders.status.${n}\n          rule_type: ENUM\n          column_name: status\n          rule_config:\n            allowed_values: [new, paid, shipped, returned]\n          severity: critical\n          name: Status ${n} is known\n          check_interval: hourly${more}`

t.test('3,000 checks in one file are planned, and no other request waits', async t => {
  const contents = [fileOf(list(3_000, n => checkOf(n)).join(''))]
  t.match(await send(t, { attack: '3,000 checks', contents }), {
    status: 200,
    body: { data: { create: 3_000, changes: [{ line: 7 }, { line: 15 }] } },
  })
})
t.test('20,000 values', async t => {
  const allowed = list(1000, n => `v${n}`)
  const contents = [
    {
      version: 1,
      source: asset.name,
      tables: {
        orders: {
          checks: {
            validity: list(18, n => ({
              key: `k${n}`,
              rule_type: 'ENUM',
              column_name: 'status',
              rule_config: { allowed_values: allowed },
            })),
          },
        },
      },
    },
  ]
  const r = await send(t, { attack: 'enum', contents })
  t.comment(r.status, JSON.stringify(r.body).slice(0, 300))
})
