import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { exportJob } from '../../../../plugins/contracts/exchange/export-job.ts'
import { expireRows } from '../../../../server/database/retention.ts'
import { command as tidemark } from '../../../helpers/command.ts'
import { SECRET_KEY } from '../../../helpers/server.ts'
import { makeWorld } from '../../../helpers/world.ts'
import { contract, ORDERS } from './contracts.ts'
import { contractsOf } from './world.ts'

const world = await makeWorld(t, [
  `create table orders (id bigint primary key, amount numeric(10,2) not null, status text, code text unique)`,
  `insert into orders select n, n, 'open', 'c' || n from generate_series(1, 10) n`,
  `create table people (email text, born date, seen_at timestamptz, primary key (email, born))`,
  `insert into people values ('ann@example.com', '1990-01-01', now())`,
  `comment on table people is 'Who buys'`,
  `comment on column people.email is 'How to reach them'`,
])
const { app, tenant, asset, source } = world
const { ask, path, put, clauses, rediscover, runChecks } = contractsOf(world)
await rediscover()
const table = (name: string) => `shop.${source.name}.public.${name}`

const folder = mkdtempSync(join(process.env.TMPDIR ?? '/tmp', 'contracts-'))
function file(name: string, document: unknown): string {
  const target = join(folder, name)
  writeFileSync(target, typeof document === 'string' ? document : stringify(document))
  return target
}

const afar = { TIDEMARK_URL: app.server.info.uri, TIDEMARK_API_KEY: tenant.key }
const near = { DATABASE_URL: String(app.server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }

t.test('a draft is a contract that its table keeps, with the checks that there are', async t => {
  const sdk = `/api/v1/sdk/validity/${asset.id}`
  const rule = (body: object) => ask('POST', sdk, { table_path: 'people', ...body })
  await rule({ rule_type: 'REGEX', column_name: 'email', rule_config: { pattern: '@' }, name: 'mail' })
  await rule({ rule_type: 'RANGE', column_name: 'born', rule_config: { min: '1900-01-01' } })
  await rule({
    rule_type: 'CUSTOM_SQL',
    rule_config: { sql_expression: 'born < current_date' },
    name: 'born',
  })
  await ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: 'shop',
    table_path: 'people',
    freshness_column: 'seen_at',
    sla_threshold: '24h',
  })
  await ask('POST', '/api/v1/sdk/tags', {
    asset_id: table('people'),
    object_path: 'email',
    object_type: 'column',
    name: 'pii.email',
  })
  const { status, body } = await ask(
    'GET',
    `/api/v1/sdk/assets/${table('people')}/contract-draft?mode=odcs-pure`,
  )
  t.equal(status, 200)
  const drafted = parse(body.data.contract) as Record<string, unknown>
  t.match(drafted, {
    apiVersion: 'v3.1.0',
    name: 'people',
    status: 'draft',
    description: { purpose: 'Who buys' },
    schema: [
      {
        name: 'people',
        physicalName: 'public.people',
        physicalType: 'table',
        properties: [
          {
            name: 'email',
            logicalType: 'string',
            physicalType: 'text',
            primaryKey: true,
            primaryKeyPosition: 1,
            required: true,
            description: 'How to reach them',
            classification: 'restricted',
            tags: ['pii.email'],
            quality: [{ name: 'mail', metric: 'invalidValues', arguments: { pattern: '@' }, mustBe: 0 }],
          },
          { name: 'born', logicalType: 'date', logicalTypeOptions: { minimum: '1900-01-01' } },
          { name: 'seen_at', logicalType: 'timestamp' },
        ],
        quality: [{ name: 'born', type: 'sql', mustBe: 0 }],
      },
    ],
    slaProperties: [{ property: 'latency', value: 24, unit: 'h', element: 'people.seen_at' }],
  })
  t.notMatch(body.data.contract, /tidemark/i, 'nothing of this service is in a pure one')
  t.match((await ask('POST', '/api/public/contracts/validate', { contract: body.data.contract })).body.data, {
    valid: true,
    warnings: [],
  })
  const schedules = (await ask('GET', '/api/v1/sdk/freshness/schedules')).body.data.data as { id: string }[]
  for (const { id } of schedules) await ask('DELETE', `/api/v1/sdk/freshness/schedules/${id}`)
  t.equal((await ask('PUT', path('people'), { contract: body.data.contract, source: 'shop' })).status, 201)
  await runChecks()
  const bad = [...(await clauses('people')).values()].filter(({ status: found }) => found !== 'passing')
  t.strictSame(bad, [], 'every clause passes')
  await ask('DELETE', path('people'))
})

t.test('a contract is tested near and from afar, and nothing is stored', async t => {
  const good = file('good.yaml', contract({ schema: [ORDERS] }))
  const rules = [
    { metric: 'invalidValues', arguments: { validValues: ['paid'] }, mustBe: 0, name: 'paid' },
    { type: 'text', description: 'ask Ann', name: 'people' },
  ]
  const bad = file(
    'bad.yaml',
    contract({
      schema: [{ ...ORDERS, properties: [{ name: 'status', logicalType: 'integer', quality: rules }] }],
    }),
  )
  const invalid = file('invalid.yaml', 'apiVersion: v3.1.0\nkind: DataContract\n')
  for (const [way, settings] of Object.entries({ near, afar })) {
    const run = (...words: string[]) => tidemark(['contracts', 'test', ...words], settings)
    t.match(
      await run(good, '--source', 'shop'),
      { code: 0, out: /^pass: .*good\.yaml on shop: 12 passed/ },
      way,
    )
    const failed = await run(bad, '--source', 'shop')
    t.equal(failed.code, 1, way)
    t.match(
      failed.out,
      /^FAIL +public\.orders\.status is of type integer: it is text, not a type of integer$/m,
    )
    t.match(failed.out, /^FAIL +paid: 10 of 10 rows are invalid$/m)
    t.match(failed.out, /^not enforced {2}people: it is text for people$/m)
    t.match(failed.out, /^fail: .* 2 failed, 2 passed, 1 cannot be enforced$/m)
    t.equal((await run(good, '--source', 'shop', '--extra-columns', 'fail')).code, 0, way)
    t.match(JSON.parse((await run(good, '--source', 'shop', '--json')).out), {
      status: 'pass',
      source: 'shop',
    })
    t.match(await run(invalid, '--source', 'shop'), { code: 2, err: /id/ }, way)
    t.match(await run(join(folder, 'none.yaml'), '--source', 'shop'), { code: 2, err: /is not there/ }, way)
    t.match(await run(good, '--source', 'nowhere'), { code: 3 }, way)
    t.match(await run(good), { code: 2 }, way)
    const drafted = await tidemark(['contracts', 'draft', table('orders')], settings)
    t.match(drafted, { code: 0, out: /^apiVersion: v3\.1\.0$/m }, way)
    t.match(await tidemark(['contracts', 'draft', 'shop.nothing'], settings), { code: 3 }, way)
    const plan = ['contracts', 'plan', good, '--name', 'planned', '--source', 'shop']
    t.match(await tidemark(plan, settings), { code: 0, out: /^It (needs no|creates|adopts).+\.$/m }, way)
  }
  t.strictSame((await ask('GET', '/api/v1/sdk/contracts')).body.data.contracts, [])
  t.strictSame(await app.query('select 1 from contract_tests'), [])
  await source.query('alter table orders drop column code')
  t.match(await tidemark(['contracts', 'test', good, '--source', 'shop'], near), {
    code: 1,
    out: /there is no column code in public\.orders/,
  })
  await source.query('alter table orders add column code text unique')
})

t.test('the endpoints of the published client', async t => {
  const yaml = stringify(contract({ schema: [ORDERS] }))
  const send = async (url: string, payload: string) => {
    await app.query('delete from rate_windows')
    const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/x-yaml' }
    const { statusCode, result } = await app.server.inject({ method: 'POST', url, payload, headers })
    return { status: statusCode, body: result as { data: Record<string, object> } }
  }
  const base = '/api/v1/contracts'
  t.match(await send(`${base}/validate`, yaml), {
    status: 200,
    body: {
      data: {
        valid: true,
        errors: [],
        contract_summary: { id: 'orders', name: 'Orders', version: '1.0.0', apiVersion: 'v3.1.0' },
      },
    },
  })
  t.match(await send(`${base}/validate`, yaml.replace('active', '7')), {
    status: 200,
    body: {
      data: { valid: false, errors: [{ yaml_path: 'status', code: 'type', line: 6, message: /status/ }] },
    },
  })
  t.match(await send(`${base}/validate`, 'a: ['), {
    status: 200,
    body: { data: { valid: false, errors: [{ code: 'unreadable' }], contract_summary: null } },
  })
  t.match(await send(`${base}/validate`, `a: ${'['.repeat(5_000)}`), {
    status: 200,
    body: { data: { valid: false, errors: [{ message: /line 1: nested deeper than 32 levels/, line: 1 }] } },
  })
  const plan = `${base}/${asset.id}/plan`
  t.match((await send(plan, yaml)).body.data, {
    valid: true,
    summary: { schema: { added: 12, modified: 0, removed: 0 } },
  })
  t.match((await send(`${plan}?include=validity&mode=odcs-pure`, yaml)).body.data.diffs, {
    validity: { added: [] },
  })
  const applied = await send(`${base}/${asset.id}/apply?prune=true&include=schema,metrics`, yaml)
  t.match(applied, {
    status: 200,
    body: { data: { valid: true, unsupported_domains: ['metrics'], pruned: false, contract: 'Orders' } },
  })
  const none = await send(`${base}/${asset.id}/apply?include=metrics`, yaml)
  t.match(none.body.data, { applied: {}, unsupported_domains: ['metrics'], contract: null })
  t.not((await clauses('Orders')).size, 0, 'parts that contracts do not have take nothing away')
  const left = `${base}/${asset.id}/apply?include=validity`
  t.match((await send(`${plan}?include=validity`, yaml)).body.data, { summary: { schema: { removed: 12 } } })
  t.match((await send(left, yaml)).body.data, {
    pruned: true,
    applied: { schema: { removed: { length: 12 } } },
  })
  t.equal(
    (await clauses('Orders')).size,
    0,
    'parts that are left out are no longer enforced, and the reply says so',
  )
  await send(`${base}/${asset.id}/apply`, yaml)
  t.match((await send(plan, yaml.replace('bigint', 'int'))).body.data, {
    summary: { schema: { added: 0, modified: 1, removed: 0 } },
  })
  t.match((await ask('GET', path('Orders'))).body.data, { status: 'pending', source_name: 'shop' })
  const exported = await ask('GET', `${base}/${asset.id}/export`)
  t.match(exported, { status: 200, headers: { 'content-type': /application\/yaml/ } })
  t.match(parse(String(exported.body)), { schema: [{ name: 'orders' }, { name: 'people' }] })
  await ask('DELETE', path('Orders'))

  for (const body of [
    { scope: 'all' },
    { scope: 'assets', asset_public_ids: [table('people')] },
    { scope: 'warehouse', scope_name: 'shop' },
  ]) {
    const { job_id: id } = (await ask('POST', `${base}/export-jobs`, body)).body.data
    await app.server.jobs.settled(exportJob, data => data.export_id === id)
    t.match((await ask('GET', `${base}/export-jobs/${id}`)).body.data, {
      job_id: id,
      status: 'completed',
      contracts: 1,
    })
    const { rawPayload, statusCode } = await app.server.inject({
      url: `${base}/export-jobs/${id}/download`,
      headers: { authorization: `Bearer ${tenant.key}` },
    })
    t.equal(statusCode, 200)
    t.match(firstFile(rawPayload), /^apiVersion: v3\.1\.0$/m)
  }
  for (const body of [
    {},
    { scope: 'some' },
    { scope: 'assets' },
    { scope: 'warehouse' },
    { scope: 'all', mode: 7 },
  ])
    t.equal((await ask('POST', `${base}/export-jobs`, body)).status, 422, JSON.stringify(body))
  t.equal((await ask('GET', `${base}/export-jobs/nothing`)).status, 404)
  t.equal((await put('again', { schema: [ORDERS] })).status, 201)
})

t.test('history and archives that are too old are deleted', async t => {
  await put('old', { schema: [ORDERS] })
  await put('old', { schema: [ORDERS], version: '1.1.0' })
  const history = async () => (await ask('GET', `${path('old')}/history`)).body.data.events as object[]
  await app.query(
    `update contract_events e set at = now() - interval '401 days' from data_contracts c
     where c.id = e.contract_id and c.name = 'old' and e.event = 'created'`,
  )
  await app.query(
    `insert into contract_tests (run_id, company_id, source_id, document, extra_columns, created_at)
     values (gen_random_uuid(), $1, $2, '{}', 'allow', now() - interval '8 days')`,
    [tenant.companyId, asset.id],
  )
  const url = '/api/v1/contracts/export-jobs'
  const [old, young] = [1, 2].map(() => ask('POST', url, { scope: 'all' }))
  const { job_id: id } = (await old!).body.data
  const { job_id: kept } = (await young!).body.data
  await app.server.jobs.settled(exportJob, data => data.export_id === id)
  await app.query(`update contract_exports set created_at = now() - interval '25 hours' where id = $1`, [id])
  t.equal((await ask('GET', `${url}/${id}`)).status, 404, 'its time is over before it is deleted')
  const counts = { contract_events: 1, contract_exports: 1, contract_tests: 1 }
  t.match(await expireRows(app.server, { batch: 1 }), counts)
  t.match(await history(), [{ event: 'replaced' }])
  t.equal((await ask('GET', `${url}/${kept}`)).status, 200)
  await ask('DELETE', path('old'))
})

/** The content of the first file of an archive. */
function firstFile(archive: Buffer): string {
  const nameLength = archive.readUInt16LE(26)
  const size = archive.readUInt32LE(18)
  return inflateRawSync(archive.subarray(30 + nameLength, 30 + nameLength + size)).toString()
}
