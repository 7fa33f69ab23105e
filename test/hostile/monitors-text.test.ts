/** No monitors files within the limits hold the thread that serves all companies, and those beyond are refused. */
import t, { type Test } from 'tap'
import type { Reply } from '../helpers/server.ts'
import { discover, makeWorld } from '../helpers/world.ts'
import { recordCost } from './attack.ts'
import { calmestDelay, MAX_DELAY_MS } from './event-loop.ts'

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
  const work = async () => {
    reply = await app.ask('POST', path, { files }, what === 'plan' ? reader : tenant.key)
  }
  const delayMs = await calmestDelay(work, { tries: MAX_TRIES, enough: MAX_DELAY_MS })
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
  'a list of 250,000 values': {
    contents: [`[${list(250_000, () => 'a').join(',')}]`],
    says: /is an object with/,
  },
  'a million brackets': { contents: ['}'.repeat(1_000_000)], says: /too much (time|memory)/ },
  'deep lists': { contents: ['- '.repeat(400_000)], says: /nested deeper than 32/ },
  'deep objects': { contents: ['{a: '.repeat(200_000)], says: /nested deeper than 32/ },
  'a million commas': { contents: [`[${','.repeat(1_000_000)}]`], says: /too much (time|memory)/ },
  'half a million tags': { contents: ['! '.repeat(500_000)], says: /one tag|too much/ },
  'two files of a million comments': {
    contents: ['#\n'.repeat(500_000), '# \n'.repeat(100_000)],
    says: /is an object with/,
  },
  'two files of 4 MB': {
    contents: list(2, () => `[${list(2_000_000, () => 'a').join(',')}]`),
    says: /2 MiB/,
  },
  'a file of 1.5 MB': { contents: ['a'.repeat(1_500_000)], says: /0\.yaml has more than 1048576 bytes/ },
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
  t.test(`${attack} are refused, and no other request waits for long`, async t => {
    const { status, body } = await send(t, { attack, contents })
    t.match(String(status), /^(400|413)$/)
    t.match(JSON.stringify(body.error ?? body), says)
  })

const checkOf = (n: number, more = '') =>
  `\n        - key: orders.status.${n}\n          rule_type: ENUM\n          column_name: status\n          rule_config:\n            allowed_values: [new, paid, shipped, returned]\n          severity: critical\n          name: Status ${n} is known\n          check_interval: hourly${more}`

t.test(
  '3,000 checks in one file are planned, applied and exported, and no other request waits for long',
  async t => {
    const contents = [fileOf(list(3_000, n => checkOf(n)).join(''))]
    t.match(await send(t, { attack: '3,000 checks', contents }), {
      status: 200,
      body: { data: { create: 3_000, changes: [{ line: 7 }, { line: 15 }] } },
    })
    // A second try finds them applied.
    t.equal((await send(t, { attack: '3,000 checks', what: 'apply', contents })).status, 200)
    let text = ''
    const delayMs = await calmestDelay(
      async () => {
        const headers = { authorization: `Bearer ${reader}`, accept: 'application/yaml' }
        const reply = await app.server.inject({ url: `/api/v1/sdk/monitors/${asset.id}`, headers })
        text = reply.payload
      },
      { tries: MAX_TRIES, enough: MAX_DELAY_MS },
    )
    recordCost(t, { route: 'GET /api/v1/sdk/monitors/{asset_id}', attack: 'YAML', delayMs, p99Ms: null })
    t.ok(delayMs <= MAX_DELAY_MS, `the event loop is held for ${delayMs.toFixed(0)} ms`)
    t.equal(text.match(/- key: /g)?.length, 3_000)
  },
)

t.test('the place of a fault is named in a file of 1,000 checks, also where an alias brings it', async t => {
  const more = (n: number) =>
    n === 0 ? '\n          error_message: &long x' : '\n          error_message: *long'
  const checks = list(1_000, n => checkOf(n, n < 2 ? more(n) : ''))
  checks[700] = checks[700]!.replace('column_name: status', 'column_name: nothing')
  const { status, body } = await send(t, { attack: 'one fault', contents: [fileOf(checks.join(''))] })
  t.equal(status, 400)
  const line = 6 + 700 * 8 + 2 + 3
  t.match(body.error.message, new RegExp(`^monitors/0\\.yaml:${line}:11: `))
})

t.test('60 texts of SQL of 490 conditions are planned, and no other request waits for long', async t => {
  const texts = list(60, n => list(490, () => `id = ${n}`).join(' and '))
  const checks = texts.map(
    (text, n) =>
      `\n        - key: sql.${n}\n          rule_type: CUSTOM_SQL\n          rule_config:\n            sql_expression: ${text}`,
  )
  const contents = [fileOf(checks.join(''))]
  const sent = { attack: '60 texts of SQL', contents }
  t.equal((await send(t, sent)).status, 403, 'a reader tries no SQL of its own')
  t.equal((await send(t, { ...sent, what: 'apply' })).status, 200)
})
