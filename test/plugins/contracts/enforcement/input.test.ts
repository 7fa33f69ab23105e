import t from 'tap'
import { stringify } from 'yaml'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contract, ORDERS } from './contracts.ts'
import { contractsOf } from './world.ts'

const stage = await makeStage(t)
const world = await makeWorldOn(t, stage, ['create table orders (id bigint primary key)'])
const { app, tenant } = world
const { ask, path, put, rediscover } = contractsOf(world)
await rediscover()

async function send(
  payload: string | Buffer,
  type: string | undefined,
  url = `${path('orders')}?source=shop`,
) {
  await app.query('delete from rate_windows')
  const { statusCode, result } = await app.server.inject({
    method: 'PUT',
    url,
    payload,
    headers: { authorization: `Bearer ${tenant.key}`, ...(type !== undefined && { 'content-type': type }) },
  })
  return { status: statusCode, body: result as Record<string, never> }
}

t.test('a contract is taken as YAML and as JSON, alone or in a field', async t => {
  const text = `# the orders\n${stringify(contract({ schema: [ORDERS] }))}`
  for (const type of ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain', undefined]) {
    const { status, body } = await send(text, type)
    t.ok([200, 201].includes(status), JSON.stringify(body))
  }
  t.equal((await ask('GET', path('orders'))).body.data.contract, text, 'it is kept as it was sent')
  const value = contract({ schema: [ORDERS] })
  t.equal((await send(JSON.stringify(value), 'application/json')).status, 200)
  t.equal((await ask('PUT', path('orders'), { contract: text })).status, 200, 'the source is kept')
  t.equal((await ask('PUT', path('orders'), { contract: value, extra_columns: 'fail' })).status, 200)
  t.match((await ask('GET', path('orders'))).body.data, { extra_columns: 'fail' })
  t.equal((await ask('PUT', path('orders'), { contract: value })).status, 200)
  t.match((await ask('GET', path('orders'))).body.data, { extra_columns: 'fail' }, 'so is the setting')
})

t.test('an invalid contract is refused with the line of each error', async t => {
  const text = stringify(contract({ schema: [{ physicalName: 'x' }] })).replace('active', '7')
  const { status, body } = await send(text, 'application/yaml')
  t.equal(status, 400)
  t.match(body, {
    error: {
      code: 'VALIDATION_ERROR',
      details: {
        errors: [
          { field: '/status', error: /^line 6: expected a text/ },
          { field: '/schema/0', error: /^line 8: / },
        ],
        findings: [
          { path: '/status', line: 6 },
          { path: '/schema/0', line: 8 },
        ],
      },
    },
  })
})

t.test('bad input of every kind is refused with 4xx', async t => {
  const valid = contract({ schema: [ORDERS] })
  const cases: [what: string, body: unknown, status: number, message: RegExp][] = [
    ['nothing', {}, 400, /apiVersion/],
    ['no contract', { contract: null }, 400, /contract/],
    ['a number', { contract: 7 }, 400, /contract/],
    ['a list', { contract: [] }, 400, /contract/],
    ['a table as source', { contract: valid, source: 'shop.app.public.orders' }, 404, /asset/],
    ['another source', { contract: valid, source: 'nowhere' }, 404, /no such asset/],
    ['a source that is a number', { contract: valid, source: 7 }, 400, /source/],
    ['an unknown setting', { contract: valid, extra_columns: 'maybe' }, 400, /extra_columns/],
    ['an unknown field', { contract: valid, sources: 'shop' }, 400, /sources/],
    ['version 2', { contract: { dataContractSpecification: '2' } }, 400, /apiVersion/],
    ['broken YAML', { contract: 'a: [1' }, 400, /line/],
    ['two documents', { contract: 'a: 1\n---\nb: 2' }, 400, /document/],
    ['too deep', { contract: `${'['.repeat(40)}${']'.repeat(40)}` }, 400, /nested deeper/],
    ['too large', { contract: 'a'.repeat(300_000) }, 413, /at most 262144/],
  ]
  for (const [what, body, status, message] of cases) {
    const reply = await ask('PUT', path('bad'), { source: 'shop', ...(body as object) })
    t.match([reply.status, reply.body.error?.message], [status, message], what)
  }
  t.match(await ask('PUT', path('bad'), { contract: valid }), {
    status: 400,
    body: { error: { details: { field: 'source' } } },
  })
  t.equal((await send('', 'application/yaml')).status, 400)
  t.equal((await send('a: 1', 'application/xml')).status, 415)
  t.equal((await send(Buffer.from([0xff, 0xfe, 0x00]), 'application/yaml')).status, 400)
  for (const name of ['', '.', '-x', 'a b', 'a'.repeat(101), '%00', 'ä', 'a/b']) {
    const { status } = await ask('PUT', path(name), { contract: valid, source: 'shop' })
    t.ok(status >= 400 && status < 500, `${name}: ${status}`)
  }
  t.equal((await ask('GET', path('bad'))).status, 404, 'nothing was stored')
  const many = Array.from({ length: 2_600 }, (_, place) => ({ name: `c${place}`, logicalType: 'string' }))
  const large = await ask('PUT', path('bad'), {
    contract: stringify(contract({ schema: [{ name: 'orders', properties: many }] })),
    source: 'shop',
  })
  // A busy machine ends the reading of so large a contract before its clauses are counted.
  t.match(large, { status: 400, body: { error: { message: /5201 clauses, but at most 5000|time limit/ } } })
})

t.test('hostile names and values are stored as they are, or as they can be', async t => {
  const names = [
    'a"b',
    "a'b",
    'a;drop table orders',
    'a.b',
    '"a.b"',
    'ä'.repeat(200),
    'a\u0000b',
    '\ud800',
    '${table}',
    '__proto__',
    'constructor',
    ' ',
  ]
  for (const name of names) {
    const properties = [
      {
        name,
        logicalType: 'string',
        required: true,
        unique: true,
        quality: [{ metric: 'nullValues', mustBe: 0 }],
      },
    ]
    const schema = [
      { name, properties, quality: [{ type: 'sql', query: name, mustBe: 0 }] },
      { ...ORDERS, properties },
    ]
    const slaProperties = [{ property: 'latency', value: 1, unit: 'h', element: name }]
    // As YAML: in JSON, a NUL and half of a pair are refused of every request.
    const text = stringify(contract({ schema, team: { name }, slaProperties }))
    const made = await ask('PUT', path('hostile'), { contract: text, source: 'shop' })
    t.ok([200, 201].includes(made.status), `${JSON.stringify(name)}: ${JSON.stringify(made.body)}`)
    t.equal((await ask('GET', path('hostile'))).status, 200)
    t.equal((await ask('GET', `${path('hostile')}/history`)).status, 200)
  }
  t.equal((await ask('DELETE', path('hostile'))).status, 200)
})

t.test('a severity or kind that JavaScript has a meaning for is one as any other', async t => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    const schema = [
      {
        name: 'orders',
        physicalType: name,
        quality: [{ metric: 'rowCount', mustBeGreaterThan: 0, severity: name }],
      },
    ]
    const { status, body } = await put('names', { schema })
    t.ok([200, 201].includes(status), JSON.stringify(body))
    t.match(body.data.clauses, [
      {},
      { status: 'not_enforced', reason: `${name} is no kind of table that a catalog has` },
      { severity: 'warning' },
    ])
  }
  t.equal((await ask('DELETE', path('names'))).status, 200)
})

t.test('values that JSON has and checks do not take say so in the clause', async t => {
  const options = {
    minimum: 'x',
    maximum: -1e400,
    pattern: '(',
    minLength: -3,
    maxLength: 1e21,
    multipleOf: 2,
  }
  const properties = Object.entries(options).map(([option, value]) => ({
    name: 'id',
    logicalType: option.includes('Length') || option === 'pattern' ? 'string' : 'number',
    logicalTypeOptions: { [option]: value },
  }))
  for (const property of properties) {
    const reply = await put('values', { schema: [{ name: 'orders', properties: [property] }] })
    t.ok(reply.status < 500, JSON.stringify([property, reply.body]))
  }
})

t.test('a source that was not discovered, is switched off or cannot be reached', async t => {
  const made = await ask('POST', '/api/v1/sdk/assets', {
    name: 'later',
    source_type: 'postgresql',
    connection_config: world.source.config,
  })
  const schema = [{ ...ORDERS, quality: [{ type: 'sql', query: 'select 1', mustBe: 1 }] }]
  t.match(await put('later', { schema }, { source: 'later' }), {
    status: 201,
    body: {
      data: { status: 'pending', clauses: [{ status: 'pending', reason: 'later was not discovered yet' }] },
    },
  })
  await ask('PATCH', `/api/v1/sdk/assets/${made.body.data.id}`, { is_active: false })
  t.equal((await put('later', { schema }, { source: 'later' })).status, 200)
  t.match(await ask('POST', '/api/v1/sdk/assets/later/contract-test', { contract: contract({ schema }) }), {
    status: 409,
  })
  t.equal((await put('later', { schema }, { source: 'shop' })).status, 200, 'it moves to another source')
  t.match((await ask('GET', path('later'))).body.data, { source_name: 'shop' })
})

t.test('companies do not see each other', async t => {
  const other = await app.signUp('Other')
  await put('secret', { schema: [ORDERS] })
  const found = (await ask('GET', path('secret'))).body.data as { badge_url: string }
  for (const [method, url] of [
    ['GET', path('secret')],
    ['GET', `${path('secret')}/history`],
    ['DELETE', path('secret')],
  ] as const)
    t.equal((await other.ask(method, url)).status, 404, `${method} ${url}`)
  t.strictSame((await other.ask('GET', '/api/v1/sdk/contracts')).body.data.contracts, [])
  t.equal(
    (await other.ask('PUT', path('secret'), { contract: contract(), source: world.asset.id })).status,
    404,
  )
  t.equal(
    (await other.ask('POST', `/api/v1/sdk/assets/${world.asset.id}/contract-test`, contract())).status,
    404,
  )
  t.equal((await other.ask('GET', `/api/v1/sdk/assets/${world.asset.id}/contract-draft`)).status, 404)
  t.equal((await other.ask('GET', `/api/v1/contracts/${world.asset.id}/export`)).status, 404)
  t.equal((await other.ask('POST', `/api/v1/contracts/${world.asset.id}/apply`, contract())).status, 404)
  const asked = await other.ask('POST', '/api/v1/contracts/export-jobs', {
    scope: 'assets',
    asset_public_ids: [world.asset.id],
  })
  t.equal(asked.status, 404)
  const own = await ask('POST', '/api/v1/contracts/export-jobs', { scope: 'all' })
  for (const end of ['', '/download'])
    t.equal(
      (await other.ask('GET', `/api/v1/contracts/export-jobs/${own.body.data.job_id}${end}`)).status,
      404,
    )
  const badge = await app.ask('GET', new URL(found.badge_url).pathname)
  t.match([badge.status, badge.headers['content-type']], [200, /image\/svg/], 'its badge is public')
  t.equal((await app.ask('GET', '/badges/contracts/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg')).status, 404)
})
