import Hapi, { type RouteDefMethods, type RouteOptions } from '@hapi/hapi'
import { Validator } from '@seriousme/openapi-schema-validator'
import Joi from 'joi'
import t from 'tap'
import { access } from '../../../server/http/access.ts'
import { jsonSchema, type JsonSchema } from '../../../server/openapi/json-schema.ts'
import type { Operation } from '../../../server/openapi/document.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import { inPage, record, reply } from '../../../server/http/envelopes.ts'
import { pageQuery, queryBoolean } from '../../../server/http/page.ts'
import { onInvalid, shapeReplies } from '../../../server/http/replies.ts'
import { withoutReferences } from '../../helpers/references.ts'
import { startServer } from '../../helpers/server.ts'

const { server, ask } = await startServer(t, { settings: { BASE_URL: 'https://tidemark.example.com' } })
const document = openApi(server, server.config.baseUrl)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method} ${path}`,
    method,
    path,
    operation,
  })),
)

t.test('the document is valid OpenAPI 3.1, as served', async t => {
  const { status, body, headers } = await ask('GET', '/openapi.json')
  t.equal(status, 200)
  t.match(headers['content-type'], /^application\/json/)
  t.strictSame(body, JSON.parse(JSON.stringify(document)))
  const validator = new Validator()
  const { valid, errors } = await validator.validate(body as Record<string, unknown>)
  t.ok(valid, 'by its schema', { errors })
  t.equal(validator.version, '3.1')
  t.match(body, {
    info: { title: 'Tidemark', version: '1.0.0' },
    servers: [{ url: 'https://tidemark.example.com' }],
  })
  const again = await server.inject({
    url: '/openapi.json',
    headers: { 'if-none-match': String(headers.etag) },
  })
  t.equal(again.statusCode, 304)
})

t.test('parameters of several operations are described once', t => {
  const { parameters } = document.components
  t.match(parameters, { Limit: { name: 'limit' }, AssetId: { name: 'asset_id', in: 'path' } })
  t.ok(
    Object.keys(parameters).some(name => /[a-z]AssetId$/.test(name)),
    'others have a longer name',
  )
  const texts = operations
    .flatMap(({ operation }) => operation.parameters ?? [])
    .map(each => JSON.stringify(each))
  const inline = texts.filter(text => !text.includes('$ref'))
  t.strictSame(
    inline.filter((text, index) => inline.indexOf(text) !== index),
    [],
  )
  t.end()
})

t.test('every route is in it, and nothing else', async t => {
  const routes = server.table().map(({ method, path, settings }) => {
    const described = settings.app?.path ?? path.replaceAll(/[*?]\d*\}/g, '}')
    return `${method} ${described}`
  })
  t.ok(routes.length >= 5)
  t.strictSame(operations.map(({ name }) => name).sort(), routes.sort())
})

t.test('every operation has a summary, an id and a tag, and names who may call it', async t => {
  for (const { name, operation } of operations) {
    t.match(operation.summary, /^[A-Z].{5,100}$/, `${name} has a summary`)
    t.notMatch(operation.summary, /^(GET|POST|PUT|PATCH|DELETE) \//, `the summary of ${name} is a sentence`)
    t.ok(operation.tags.length > 0, `${name} has a tag`)
    t.ok(Array.isArray(operation.security), `${name} has a security statement`)
  }
  const ids = operations.map(({ operation }) => operation.operationId)
  t.strictSame(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'no id twice',
  )
})

t.test(
  'a route that the document calls closed refuses who sends nothing, and one it calls open does not',
  async t => {
    for (const { name, method, path, operation } of operations) {
      const url = path.replaceAll(/\{\w+\}/g, 'x')
      const { statusCode, payload } = await server.inject({ method, url })
      const isClosed = statusCode === 401 && payload.includes('"UNAUTHORIZED"')
      t.equal(isClosed, operation.security.length > 0, name)
      if (isClosed) t.ok(operation.responses[401] && operation.responses[403], `${name} documents it`)
    }
  },
)

t.test('a sign-in through a provider is described with its redirects', async t => {
  const { paths } = withoutReferences(document)
  const of = (path: string) => paths[`/api/v1${path}`]?.get
  for (const step of ['authorize', 'callback']) {
    const operation = of(`/oauth/{provider_type}/${step}`)
    t.match(operation?.responses[302], { description: String, headers: { Location: Object } }, step)
    t.ok(operation?.responses['5XX'] && operation.responses[422] && operation.responses[404], step)
  }
  t.match(of('/oauth/{provider_type}/callback')?.responses[200], {
    content: {
      'application/json': {
        schema: { anyOf: [{ properties: { access_token: Object } }, { properties: { linked_at: Object } }] },
      },
    },
  })
})

t.test('references lead somewhere', async t => {
  const text = JSON.stringify(document)
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]*)"/g)) {
    const target = path
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    t.ok(target, path)
  }
  for (const { name, operation } of operations) {
    for (const scheme of operation.security.flatMap(Object.keys))
      t.ok(document.components.securitySchemes[scheme], `${name}: ${scheme}`)
  }
})

/** A server of a few routes, described. */
function describeRoute(method: RouteDefMethods, path: string, options: RouteOptions): Operation {
  const small = Hapi.server()
  small.decorate('server', 'apiParts', { tags: {}, choices: {}, webhooks: {} })
  small.route({ method, path, handler: () => null, options: { ...options, auth: false } })
  const [methods] = Object.values(withoutReferences(openApi(small, '/')).paths)
  return Object.values(methods ?? {})[0] as Operation
}

/** A server that replies with these, described. */
function describeReplies(...schemas: Joi.Schema[]) {
  const small = Hapi.server()
  small.decorate('server', 'apiParts', { tags: {}, choices: {}, webhooks: {} })
  schemas.forEach((schema, index) =>
    small.route({
      method: 'GET',
      path: `/${index}`,
      handler: () => null,
      options: { ...access.open, auth: false, id: `get${index}`, response: reply(schema) },
    }),
  )
  return openApi(small, '/')
}

t.test('a record with a label is one component, wherever it stands', async t => {
  const part = record({ n: Joi.number().example(5) }).label('Part')
  const { paths, components } = describeReplies(
    inPage(part),
    record({ first: part.description('The first.'), last: part.allow(null) }),
  )
  t.match(components.schemas, {
    Part: { type: 'object', properties: { n: { type: 'number' } }, description: undefined },
    PartPage: { properties: { data: { items: { $ref: '#/components/schemas/Part' } } } },
    Pagination: Object,
  })
  const contentOf = (path: string) =>
    (paths[path]?.get?.responses[200] as { content: Record<string, object> }).content['application/json']
  t.strictSame(contentOf('/0'), { schema: { $ref: '#/components/schemas/PartPage' } }, 'without an example')
  t.match(contentOf('/1'), {
    schema: {
      properties: {
        first: { $ref: '#/components/schemas/Part', description: 'The first.' },
        last: { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] },
      },
    },
  })
  t.throws(
    () => describeReplies(part, record({ text: Joi.string() }).label('Part')),
    /Two different schemas of \/openapi.json are named Part/,
  )
  t.doesNotThrow(() => describeReplies(part, part.example({ n: 7 })), 'examples may differ')
})

t.test('the records that people work with have names, and are described once', async t => {
  const names = Object.keys(document.components.schemas)
  const known = [
    'Source Table Column Asset Job Tag SchemaChange Baseline FreshnessSchedule ValidityRule ValidityResult',
    'Metric MetricSnapshot ReferentialCheck ReferentialResult Alert AlertRule Destination Delivery ApiKey',
    'User Invitation Badge LineageGraph OperatingSchedule Pagination Error ValidationFailure',
    'CreateRuleRequest CreateSourceRequest CreateAlertRuleRequest',
  ]
  for (const name of known.join(' ').split(' ')) t.ok(names.includes(name), name)
  const size = JSON.stringify(document).length / operations.length
  t.ok(size < 3_000, `${size} characters for an operation`)
})

/** What operations may do. */
const VERBS =
  'acknowledge add apply bulkApply cancel capture change check create delete discard discover dismiss download dryRun exchange execute explain export find finish get import list login logout merge plan preview put redeliver redrive refresh register remove reset resolve restore rotate send snooze split start stop test track unsubscribe update validate verify'

t.test('operations are named as methods of a client: a verb and what it is about', async t => {
  const verb = new RegExp(`^(${VERBS.replaceAll(' ', '|')})([A-Z][a-z]+)*$`)
  for (const { name, operation } of operations) t.match(operation.operationId, verb, name)
})

t.test('parameters and bodies come from the schemas of a route', async t => {
  const operation = describeRoute('POST', '/api/v1/sdk/things/{id}/parts/{rest*}', {
    ...access.write,
    description: 'Makes a part',
    tags: ['api', 'parts'],
    validate: {
      params: Joi.object({ id: Joi.string().guid().description('A UUID'), rest: Joi.any() }),
      query: Joi.object({ ...pageQuery({ max: 20, fallback: 10 }), dry: queryBoolean.required() }),
      headers: Joi.object({ 'idempotency-key': Joi.string().max(64) }).unknown(),
      payload: Joi.object({ name: Joi.string().required() }).required(),
    },
  })
  t.match(operation, {
    operationId: 'createThingPart',
    tags: ['parts'],
    security: [{ apiKey: ['read-write'] }, { session: ['read-write'] }],
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'A UUID',
        schema: { type: 'string', format: 'uuid' },
      },
      { name: 'rest', in: 'path', required: true },
      {
        name: 'limit',
        in: 'query',
        schema: { type: 'integer', minimum: 1, maximum: 20, default: 10 },
      },
      { name: 'offset', in: 'query', schema: { type: 'integer', minimum: 0, default: 0 } },
      { name: 'dry', in: 'query', required: true, schema: { type: 'boolean' } },
      { name: 'idempotency-key', in: 'header', schema: { maxLength: 64 } },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { required: ['name'] } } } },
  })
  t.strictSame(Object.keys(operation.responses).sort(), [
    '2XX',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '414',
    '415',
    '429',
    '5XX',
  ])
})

t.test('what a query names may be missing', async t => {
  t.ok(document.paths['/api/v1/freshness']?.get?.responses[404])
})

t.test('replies come from the route, or are any object', async t => {
  const closed = describeRoute('DELETE', '/things', {
    ...access.session,
    response: { status: { 204: Joi.valid(null), 409: Joi.object({ why: Joi.string() }) } },
  })
  t.strictSame(closed.security, [{ session: [] }])
  t.match(closed.responses[204], { description: /no body/, content: undefined })
  t.match(closed.responses[409], {
    content: { 'application/json': { schema: { properties: { why: { type: 'string' } } } } },
  })
  const open = describeRoute('GET', '/things', access.open)
  t.strictSame(open.security, [])
  t.strictSame(Object.keys(open.responses), ['200', '400', '5XX'])
  t.match(open.responses[200], { content: { 'application/json': { schema: { type: 'object' } } } })
})

t.test('the status of bad input is the one that is answered', async t => {
  const small = Hapi.server({ routes: { validate: { failAction: onInvalid } } })
  small.decorate('server', 'apiParts', { tags: {}, choices: {}, webhooks: {} })
  shapeReplies(small)
  const paths = [
    '/api/v1/sdk/a',
    '/api/v1/api-keys',
    '/api/v1/operating-schedules',
    '/api/v1/assets',
    '/api/v1/sdkx',
    '/x',
  ]
  for (const path of paths) {
    const query = Joi.object({ n: Joi.number().required() })
    small.route({
      method: 'GET',
      path,
      handler: () => null,
      options: { ...access.read, auth: false, validate: { query } },
    })
  }
  const { paths: described } = openApi(small, '/')
  for (const path of paths) {
    const { statusCode } = await small.inject(path)
    t.ok(described[path]?.get?.responses[statusCode], `${path} answers ${statusCode}`)
    // Every API replies 400 to what it cannot read.
    if (statusCode === 400) t.notOk(described[path]?.get?.responses[422], path)
    else t.match(described[path]?.get?.responses[400], { $ref: /BadRequest$/ }, path)
  }
})

t.test('JSON Schema says what Joi means', async t => {
  const cases: [Joi.Schema, JsonSchema][] = [
    [Joi.string().valid('a', null), { type: ['string', 'null'], enum: ['a', null] }],
    [Joi.valid(1, 'a', null), { type: ['number', 'string', 'null'], enum: [1, 'a', null] }],
    [Joi.string().allow('', null).max(3), { type: ['string', 'null'], maxLength: 3 }],
    [Joi.string().trim().empty('').allow(null), { type: ['string', 'null'] }],
    [Joi.string().trim().empty(null), { type: 'string', minLength: 1, pattern: '\\S' }],
    [Joi.number().integer().min(1).example(5), { type: 'integer', minimum: 1, examples: [5] }],
    [Joi.date().iso(), { type: 'string', format: 'date-time' }],
    [
      Joi.alternatives(Joi.number(), Joi.string().meta({ secret: true })).allow(null),
      { anyOf: [{ type: 'null' }, { type: 'number' }, { type: 'string', minLength: 1, writeOnly: true }] },
    ],
    [
      Joi.object({ type: Joi.number(), list: Joi.array().items(Joi.object({ yes: queryBoolean })) }).or(
        'type',
        'list',
      ),
      {
        type: 'object',
        properties: {
          type: { type: 'number' },
          list: {
            type: 'array',
            items: { type: 'object', properties: { yes: { type: 'boolean' } }, additionalProperties: false },
          },
        },
        additionalProperties: false,
        anyOf: [{ required: ['type'] }, { required: ['list'] }],
      },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.any().default(Joi.ref('a')) })
        .xor('a', 'b')
        .with('a', 'b'),
      {
        type: 'object',
        properties: { a: {}, b: {} },
        additionalProperties: false,
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
        dependentRequired: { a: ['b'] },
      },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.any(), c: Joi.any(), d: Joi.any() }).xor('a', 'b').or('c', 'd'),
      {
        type: 'object',
        properties: { a: {}, b: {}, c: {}, d: {} },
        additionalProperties: false,
        allOf: [
          { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
          { anyOf: [{ required: ['c'] }, { required: ['d'] }] },
        ],
      },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.forbidden() }),
      { type: 'object', properties: { a: {} }, additionalProperties: false },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.forbidden() }).unknown(),
      { type: 'object', properties: { a: {}, b: { not: {} } } },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.any() }).and('a', 'b'),
      {
        type: 'object',
        properties: { a: {}, b: {} },
        additionalProperties: false,
        dependentRequired: { a: ['b'], b: ['a'] },
      },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.any() }).without('a', 'b'),
      {
        type: 'object',
        properties: { a: {}, b: {} },
        additionalProperties: false,
        not: { required: ['a', 'b'] },
      },
    ],
    [
      Joi.object({ a: Joi.any(), b: Joi.any(), c: Joi.any() }).oxor('a', 'b', 'c').nand('a', 'b', 'c'),
      {
        type: 'object',
        properties: { a: {}, b: {}, c: {} },
        additionalProperties: false,
        not: {
          anyOf: [
            ['a', 'b'],
            ['a', 'c'],
            ['b', 'c'],
            ['a', 'b', 'c'],
          ].map(required => ({ required })),
        },
      },
    ],
    [
      Joi.object({ child: Joi.link('#node') })
        .id('node')
        .shared(Joi.string().id('word')),
      { type: 'object', properties: { child: {} }, additionalProperties: false },
    ],
  ]
  for (const [schema, expected] of cases) t.strictSame(jsonSchema(schema), expected)
  t.match(jsonSchema(Joi.object({ a: Joi.number().default(1) }), 'output'), { required: ['a'] })
  t.strictSame(
    jsonSchema(
      Joi.object({ a: Joi.string(), b: Joi.number().min(0), c: Joi.array().items(Joi.object({})) }),
      'output',
    ),
    {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'number' },
        c: { type: 'array', items: { type: 'object', properties: {} } },
      },
    },
    'replies are described without what only input is held to',
  )
})

t.test('what is unavailable says when to try again, in the document as in the reply', async t => {
  const { components } = (await ask('GET', '/openapi.json')).body as {
    components: { responses: Record<string, { headers?: object }> }
  }
  const failure = components.responses.Failure
  t.match(failure?.headers, { 'Retry-After': { $ref: '#/components/headers/Retry-After' } })
})
