/** What the description says of input is what the server does with it, for every operation. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import type { Operation } from '../../../server/openapi/document.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import type { JsonSchema } from '../../../server/openapi/json-schema.ts'
import { startServer } from '../../helpers/server.ts'
import { withoutReferences } from '../../helpers/references.ts'
import { share } from '../../helpers/share.ts'

const app = await startServer(t)
const { server, query } = app
const tenant = await app.signUp()
const document = withoutReferences(openApi(server, ''))

interface Parameter {
  name: string
  in: string
  style?: string
  explode?: boolean
  schema: JsonSchema
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method,
    path,
    url: path.replaceAll(/\{\w+\}/g, 'x'),
    operation,
  })),
)
const parametersOf = ({ parameters = [] }: Operation) => parameters as Parameter[]

/** Asks with the credential that an operation takes. */
async function send(
  { method, url, operation }: Pick<(typeof operations)[number], 'method' | 'url' | 'operation'>,
  payload?: string,
  headers: Record<string, string> = {},
) {
  await query('delete from rate_windows')
  const isKeyTaken = operation.security.some(scheme => 'apiKey' in scheme)
  const credential = isKeyTaken ? tenant.key : tenant.token
  const { statusCode, payload: text } = await server.inject({
    method,
    url,
    ...(payload !== undefined && { payload }),
    headers: {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...(operation.security.length > 0 && { authorization: `Bearer ${credential}` }),
      ...headers,
    },
  })
  return { status: statusCode, text }
}

t.test('a NUL in the path or query is 400, and described', async t => {
  for (const operation of share(operations, 'operations with a NUL')) {
    const { status } = await send({ ...operation, url: `${operation.url}?x=%00` })
    t.equal(status, 400, operation.name)
    t.ok(operation.operation.responses[400], `${operation.name} describes it`)
  }
})

t.test('a body is described as required where none is refused, and as null where null is taken', async t => {
  const ofBody = /"loc":\["body"\]|"field":"body"/
  let required = 0
  for (const operation of operations) {
    const { requestBody } = operation.operation
    const body = requestBody as
      { required: boolean; content: Record<string, { schema: JsonSchema }> } | undefined
    const schema = body?.content['application/json']?.schema
    // Another test has those: a contract is a text or an object, and says itself what it lacks.
    if (!body || !schema || operation.path.includes('/contract')) continue
    // It would end the session of the others.
    if (operation.path.endsWith('/logout')) continue
    for (const payload of [undefined, 'null']) {
      const { text } = await send(operation, payload)
      t.equal(ofBody.test(text), body.required, `${operation.name} with ${payload ?? 'nothing'}: ${text}`)
      if (body.required) t.match(text, 'a JSON object is required in the body', operation.name)
    }
    required += Number(body.required)
    const choices = [schema, ...((schema.anyOf as JsonSchema[] | undefined) ?? [])]
    const isNullable = choices.some(({ type }) => [type].flat().includes('null'))
    t.equal(isNullable, !body.required, `null of ${operation.name}`)
    t.notOk('default' in schema, `${operation.name} has no default body`)
  }
  t.ok(required > 20)
})

interface Body {
  required: boolean
  content: Record<string, { schema: JsonSchema }>
}

t.test('a body with a contract is described as required, and as not empty', async t => {
  const taking = operations.filter(({ operation }) => {
    const { content } = (operation.requestBody ?? { content: {} }) as Body
    return Object.keys(content).some(type => /yaml/.test(type))
  })
  t.equal(taking.length, 7)
  for (const operation of taking) {
    const { required, content } = operation.operation.requestBody as Body
    t.ok(required, operation.name)
    for (const [type, { schema }] of Object.entries(content)) {
      if (type === 'application/json') continue
      t.equal(schema.minLength, 1, `${type} of ${operation.name}`)
    }
    const { status, text } = await send(operation, '', { 'content-type': 'text/yaml' })
    t.match(text, 'is empty: send the contract in it', `${operation.name}: ${status}`)
  }
})

t.test('a body is described as valid where the server takes its form, and only there', async t => {
  const change = (fields: object) => ({ source: 'none', changes: [fields] })
  const manifest = (version: number) => ({
    metadata: { dbt_schema_version: `https://schemas.getdbt.com/dbt/manifest/v${version}.json` },
  })
  const dbt = (fields: object) => ({ source: 'none', manifest: manifest(12), ...fields })
  const time = '2026-05-04T10:00:00Z'
  const event = { eventTime: time }
  const run = { runId: '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d99' }
  const job = { namespace: 'airflow', name: 'daily' }
  const listed = { asset_id: 'none', schedules: [{ table_path: 'a' }] }
  const external = { kind: 'dashboard', namespace: 'looker', name: 'sales' }
  const metrics = { metric_type: 'null_percent', table_path: 'a', column_names: ['b'] }
  const monitors = (content: unknown) => ({ files: [{ name: 'a.yaml', content }] })
  const cases: Record<string, { taken: object[]; refused: object[] }> = {
    'POST /api/v1/sdk/lineage/dbt': {
      taken: [
        dbt({ catalog: null, run_results: null }),
        dbt({ catalog: {}, run_results: { metadata: { generated_at: time }, results: [] } }),
        dbt({ run_results: { generated_at: time, results: [] } }),
        dbt({ manifest: manifest(4) }),
      ],
      refused: [
        dbt({ manifest: {} }),
        dbt({ manifest: { metadata: {} } }),
        ...[3, 13].map(version => dbt({ manifest: manifest(version) })),
        dbt({ run_results: {} }),
        dbt({ run_results: { results: [] } }),
        dbt({ run_results: { metadata: { generated_at: time } } }),
        { manifest: manifest(12) },
      ],
    },
    'POST /api/v1/sdk/lineage/impact': {
      taken: [
        change({ change: 'drop_table', table: 'a' }),
        change({ change: 'drop_schema', schema: 'a' }),
        change({ change: 'retype_column', table: 'a', column: 'b', new_type: 'int' }),
        change({ change: 'rename_table', table: 'a', schema: 'b' }),
      ],
      refused: [
        change({ change: 'drop_table' }),
        change({ change: 'drop_table', schema: 'a' }),
        change({ change: 'drop_schema', table: 'a' }),
        change({ change: 'drop_column', table: 'a' }),
        change({ change: 'add_not_null', column: 'a' }),
      ],
    },
    'POST /api/v1/sdk/recommendations/apply': {
      taken: [{ ids: ['rec_1'] }, { asset_id: 'none' }, { asset_id: 'none', type: ['mean'] }],
      refused: [{}, { ids: ['rec_1'], asset_id: 'none' }, { ids: ['rec_1'], type: ['mean'] }],
    },
    'POST /api/v1/lineage': {
      taken: [
        { ...event, run, job },
        { ...event, eventType: 'START', run, job, inputs: [job] },
        { ...event, job, inputs: null, outputs: null },
        { ...event, dataset: job },
      ],
      refused: [
        event,
        { ...event, run },
        { ...event, run: {}, job },
        { ...event, job: { name: 'a' } },
        { ...event, job: { namespace: '', name: 'a' } },
        { ...event, eventType: 'START', job },
        { ...event, job, inputs: [{ name: 'a' }] },
        { ...event, dataset: {} },
        { job },
      ],
    },
    'POST /api/v1/sdk/freshness/schedules/bulk': {
      taken: [listed, { asset_id: 'none', dry_run: true }],
      refused: [
        { ...listed, include_patterns: ['*'] },
        { ...listed, exclude_patterns: ['*'] },
        { ...listed, only_with_signal: true },
        { ...listed, dry_run: false },
      ],
    },
    'POST /api/v1/sdk/lineage/edges': {
      taken: [{ upstream_external: external, downstream_external: { ...external, name: 'orders' } }],
      refused: [
        { downstream: 'b' },
        { upstream_external: external },
        { upstream: 'a', upstream_external: external, downstream: 'b' },
      ],
    },
    'POST /api/v1/sdk/assets/{asset_id}/watch': {
      taken: [{ level: 'light' }, { keys: true }, { row_count: false, freshness: true }],
      refused: [{}, { keys: false }, { dry_run: true }],
    },
    'POST /api/v1/sdk/metrics/{asset_id}/bulk': {
      taken: [metrics],
      refused: [{ ...metrics, column_name: 'a' }],
    },
    'POST /api/v1/sdk/monitors/{asset_id}/plan': {
      taken: [monitors('version: 1\nsource: none\ntables: {}\n')],
      refused: [monitors(''), monitors(' \n')],
    },
    'POST /console/session': {
      taken: [{ email: 'a@example.com', password: 'b' }],
      refused: [{ email: 'a', password: 'b' }, { email: 'a@example.com' }, { demo: true, password: 'b' }, {}],
    },
  }
  const ajv = new Ajv2020({ strict: false })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  for (const [name, { taken, refused }] of Object.entries(cases)) {
    const operation = operations.find(each => each.name === name)!
    const { content } = operation.operation.requestBody as Body
    const isDescribed = ajv.compile(content['application/json']!.schema)
    for (const [bodies, isTaken] of [
      [taken, true],
      [refused, false],
    ] as const)
      for (const body of bodies) {
        const text = JSON.stringify(body)
        t.equal(isDescribed(body), isTaken, `${name} describes ${text}`)
        const { status, text: reply } = await send(operation, text)
        t.equal([400, 422].includes(status), !isTaken, `${name} with ${text}: ${status} ${reply}`)
      }
  }
})

t.test('a URL that is too long is 414, and described wherever a path or a query may be so long', t => {
  for (const { name, path, operation } of operations) {
    const inQuery = parametersOf(operation).some(({ in: place }) => place === 'query')
    t.equal('414' in operation.responses, path.includes('{') || inQuery, name)
  }
  t.end()
})

/** Every schema of an input, with where it stands. */
function* inputs(): Generator<[where: string, schema: JsonSchema]> {
  for (const { name, operation } of operations) {
    for (const { name: parameter, schema } of parametersOf(operation))
      yield* within(`${parameter} of ${name}`, schema)
    const content = (
      operation.requestBody as { content?: Record<string, { schema: JsonSchema }> } | undefined
    )?.content
    for (const { schema } of Object.values(content ?? {})) yield* within(`body of ${name}`, schema)
  }
}

function* within(where: string, value: unknown): Generator<[string, JsonSchema]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [where, value as JsonSchema]
  for (const [key, item] of Object.entries(value)) yield* within(`${where}/${key}`, item)
}

t.test('patterns can be compiled by every language', t => {
  let patterns = 0
  for (const [where, { pattern }] of inputs()) {
    if (typeof pattern !== 'string') continue
    patterns++
    t.notMatch(pattern, /\\[pP]\{|\(\?<?[=!]|\(\?</, where)
    // Without the flag `u` too.
    t.doesNotThrow(() => new RegExp(pattern), where)
  }
  t.ok(patterns > 10)
  t.end()
})

t.test('a closed vocabulary is described by its words', async t => {
  const words = (path: string, method: string, parameter: string) => {
    const operation = document.paths[path]?.[method] as Operation
    const found = parametersOf(operation).find(({ name }) => name === parameter)
    const body = (operation.requestBody as { content: Record<string, { schema: JsonSchema }> } | undefined)
      ?.content
    const field = (body?.['application/json']?.schema.properties as Record<string, JsonSchema> | undefined)?.[
      parameter
    ]
    return { found, schema: found?.schema ?? field ?? {} }
  }
  const lists: [path: string, parameter: string][] = [
    ['/api/v1/sdk/freshness', 'status'],
    ['/api/v1/sdk/freshness', 'schema'],
    ['/api/v1/sdk/freshness', 'tag'],
    ['/api/v1/assets', 'schema'],
    ['/api/v1/assets', 'tag'],
    ['/api/v1/sdk/alerts', 'severity'],
    ['/api/v1/sdk/alerts', 'status'],
    ['/api/v1/sdk/alerts', 'event_type'],
    ['/api/v1/sdk/alerts/inbox', 'status'],
    ['/api/v1/sdk/alerts/destinations/{id}/deliveries', 'status'],
  ]
  for (const [path, parameter] of lists) {
    const { found } = words(path, 'get', parameter)
    t.match(
      found,
      { style: 'form', explode: false, schema: { type: 'array', items: { type: 'string' } } },
      parameter,
    )
    if (!['schema', 'tag'].includes(parameter))
      t.ok((found?.schema.items as JsonSchema).enum, `${parameter} of ${path} names its words`)
  }
  const registered: [path: string, method: string, name: string, word: string][] = [
    ['/api/v1/sdk/validity/{asset_id}', 'get', 'rule_type', 'NOT_NULL'],
    ['/api/v1/sdk/validity/{asset_id}', 'post', 'rule_type', 'CUSTOM_SQL'],
    ['/api/v1/sdk/validity/dry-run', 'post', 'rule_type', 'UNIQUE'],
    ['/api/v1/sdk/checks', 'get', 'kind', 'referential'],
    ['/api/v1/sdk/checks/{asset_id}', 'get', 'kind', 'validity'],
    ['/api/v1/sdk/metrics/{asset_id}', 'get', 'metric_type', 'row_count'],
    ['/api/v1/sdk/metrics/{asset_id}', 'post', 'metric_type', 'mean'],
    ['/api/v1/sdk/alerts/destinations', 'get', 'destination_type', 'webhook'],
    ['/api/v1/sdk/alerts/destinations', 'post', 'destination_type', 'slack'],
    ['/api/v1/sdk/assets', 'post', 'source_type', 'postgresql'],
  ]
  for (const [path, method, name, word] of registered) {
    const { schema } = words(path, method, name)
    t.ok((schema.enum as string[] | undefined)?.includes(word), `${name} of ${method} ${path}`)
  }
})

t.test('durations, zones and keys have patterns, which judge as the server does', async t => {
  const patternsOf = (name: string) =>
    [...inputs()].filter(([where]) => where.endsWith(`/${name}`) || where.startsWith(`${name} of `))
  const cases: Record<string, [good: string[], bad: string[]]> = {
    sla_threshold: [
      ['90m', '24h', '7d', '1w'],
      ['1', 'h', '1.5h', '24 h', '24H', ''],
    ],
    check_interval: [
      ['5m', '1h'],
      ['1y', '-1h'],
    ],
    timezone: [
      ['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+1'],
      ['+02:00', ' UTC', '2'],
    ],
    'Idempotency-Key': [
      ['a', 'abc-1', 'a b', '5f0c1c2e-8a55-4f0e-9a30-6a1d7f8b2c11'],
      ['', 'ä', ' a', 'a ', '\t'],
    ],
  }
  for (const [name, [good, bad]] of Object.entries(cases)) {
    const schemas = patternsOf(name).filter(
      ([, { type, enum: words }]) => [type].flat().includes('string') && !words,
    )
    t.ok(schemas.length > 0, name)
    for (const [where, { pattern }] of schemas) {
      t.type(pattern, 'string', where)
      for (const text of good) t.match(text, new RegExp(String(pattern), 'u'), where)
      for (const text of bad) t.notMatch(text, new RegExp(String(pattern), 'u'), `${where} refuses ${text}`)
    }
  }
})

t.test('days in a query are described as dates', t => {
  const { operation } = operations.find(({ name }) => name === 'GET /api/v1/sdk/assets/{asset_id}/usage')!
  for (const name of ['from', 'to'])
    t.match(parametersOf(operation).find(each => each.name === name)?.schema, { format: 'date' }, name)
  t.end()
})

t.test('texts that are trimmed are described as holding more than white space', t => {
  const badge = document.paths['/api/v1/sdk/badges']?.post?.requestBody as {
    content: Record<string, { schema: JsonSchema }>
  }
  const { tag_filters: tags } = badge.content['application/json']!.schema.properties as Record<
    string,
    { items: JsonSchema }
  >
  t.notMatch('\n', new RegExp(String(tags?.items.pattern)))
  t.match(' a ', new RegExp(String(tags?.items.pattern)))
  t.end()
})

t.test('texts in a query fit into a URL, whatever their characters', t => {
  for (const { name, operation } of operations) {
    for (const { name: parameter, in: place, schema } of parametersOf(operation)) {
      if (place !== 'query' || (schema.type !== 'string' && schema.type !== 'array')) continue
      if (schema.enum || schema.format || schema.pattern || (schema.items as JsonSchema | undefined)?.enum)
        continue
      const most = (schema.maxLength ?? (schema.items as JsonSchema | undefined)?.maxLength) as
        number | undefined
      t.ok(most !== undefined && most <= 8_000, `${parameter} of ${name} has a length`)
    }
  }
  t.end()
})

t.test('one header has one error body for each path', async t => {
  const headers = { 'idempotency-key': 'one-key' }
  const [operation] = operations.filter(({ name }) => name === 'POST /api/v1/sdk/badges')
  const keys = [
    { name: 'one', scope: 'read-only' },
    { name: 'two', scope: 'read-only' },
  ]
  const ask = (body: object) =>
    send({ ...operation!, url: '/api/v1/api-keys' }, JSON.stringify(body), headers)
  t.equal((await ask(keys[0]!)).status, 201)
  const reused = await ask(keys[1]!)
  t.equal(reused.status, 400)
  t.match(JSON.parse(reused.text), {
    error: { code: 'VALIDATION_ERROR', details: { field: 'idempotency-key', error: /another request/ } },
  })
  for (const { name, path, operation: described } of operations)
    if (
      /^\/api\/v1\/(sdk|api-keys)/.test(path) &&
      parametersOf(described).some(({ name: header }) => header === 'Idempotency-Key')
    )
      t.notOk(described.responses[422] && !/freshness/.test(path), `${name} describes no 422`)
})
