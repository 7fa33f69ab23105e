import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { exampleOf } from '../../../server/openapi/examples.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import { withoutReferences } from '../../helpers/references.ts'
import { startServer } from '../../helpers/server.ts'

/** What the linter's recommended rules say and we leave as it is, with the reason. */
const LEFT: [rule: string, pointer: RegExp, reason: string][] = [
  ['no-ambiguous-paths', /./, 'a literal segment goes before a parameter, and ids are UUIDs, never words'],
  ['no-required-schema-properties-undefined', /\/not(\/|$)/, '`not` names fields that stand beside it'],
  ['no-required-schema-properties-undefined', /\/(anyOf|oneOf)\/\d+\//, 'as do `anyOf` and `oneOf`'],
  [
    'operation-4xx-response',
    /paths\/(~1|~1health|~1api~1v1~1health|~1openapi\.json|~1docs.*|~1api~1public~1beta~1status|~1redoc.*|~1assets.*)\/get/,
    'a plain request for these always succeeds',
  ],
  [
    'operation-2xx-response',
    /paths\/~1api~1v1~1oauth~1\{provider_type\}~1authorize\//,
    'it sends people on to the provider',
  ],
]

// A host of its own: the linter warns of example.com and localhost, which are not what is looked at here.
const { server } = await startServer(t, { settings: { BASE_URL: 'https://tidemark.test' } })
const document = openApi(server, server.config.baseUrl)

t.test("the document passes the recommended rules of another project's linter", async t => {
  // A schema that allows no other fields says so; the linter would take each for one.
  const open = { severity: 'warn', allowAdditionalProperties: true } as const
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'no-invalid-media-type-examples': open, 'no-invalid-schema-examples': open },
  })
  const source = JSON.stringify(document)
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  for (const { ruleId, severity, message, location } of problems) {
    const pointer = String(location[0]?.pointer)
    if (LEFT.some(([rule, where]) => rule === ruleId && where.test(pointer))) continue
    t.fail(`${severity} ${ruleId}: ${message}`, { pointer })
  }
  for (const [rule, where, reason] of LEFT) {
    const isNeeded = problems.some(
      ({ ruleId, location }) => rule === ruleId && where.test(String(location[0]?.pointer)),
    )
    if (!isNeeded) t.comment(`nothing needs the exception of ${rule}: ${reason}`)
  }
  t.ok(
    problems.every(({ severity }) => severity === 'warn'),
    'and none of it is an error',
  )
})

interface Content {
  schema: Record<string, unknown>
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

t.test('every body and every reply in JSON has an example, which is as its schema says', async t => {
  const ajv = new Ajv2020({ strict: false })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const { paths } = withoutReferences(document)
  const check = (name: string, content: Record<string, Content> = {}) => {
    const json = content['application/json']
    if (!json) return
    // Readers put the example of a body together from those of its schemas.
    const all = [
      exampleOf(json.schema),
      json.example,
      ...Object.values(json.examples ?? {}).map(({ value }) => value),
    ]
    const given = all.filter(example => example !== undefined)
    t.ok(given.length > 0, `${name} has an example`)
    const validate = ajv.compile(json.schema)
    for (const example of given)
      if (!validate(example)) t.fail(`${name}: ${ajv.errorsText(validate.errors)}`, { example })
  }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      const name = `${method} ${path}`
      check(
        `the body of ${name}`,
        (requestBody as { content?: Record<string, Content> } | undefined)?.content,
      )
      for (const [status, reply] of Object.entries(responses))
        check(`${status} of ${name}`, (reply as { content?: Record<string, Content> }).content)
    }
  }
})

t.test('every parameter and every group of operations is described', async t => {
  for (const { name, description } of document.tags) t.ok(description, `the tag ${name}`)
  for (const [path, methods] of Object.entries(withoutReferences(document).paths))
    for (const [method, { parameters = [] }] of Object.entries(methods))
      for (const { name, description } of parameters as { name: string; description?: string }[])
        t.ok(description, `${name} of ${method} ${path}`)
})

t.test('every operation says when to use it, in its own words, and what comes back', t => {
  const operations = Object.values(document.paths).flatMap(methods => Object.values(methods))
  const summaries = operations.map(({ summary }) => summary)
  t.strictSame(
    summaries.filter((summary, index) => summaries.indexOf(summary) !== index),
    [],
    'no two have the same summary',
  )
  for (const { operationId, description, responses } of operations) {
    t.match(description, /^.{10,}[.]$/s, `the description of ${operationId}`)
    for (const [status, reply] of Object.entries(responses)) {
      const { description: text } = reply as { description?: string }
      if (/^2/.test(status)) t.notMatch(text, /^The reply$/, `${status} of ${operationId}`)
    }
  }
  t.end()
})

t.test('sections stand in groups, in an order of their own, each with a page that is there', async t => {
  const { tags, externalDocs, 'x-tagGroups': groups } = document
  t.strictSame(
    groups.flatMap(group => group.tags),
    tags.map(({ name }) => name),
  )
  t.strictSame(
    groups.map(({ name }) => name),
    ['Catalog', 'Monitoring', 'Notifications', 'Accounts', 'Service'],
  )
  t.equal(tags[0]?.name, 'assets', 'the first is what one begins with')
  const orders = tags.map(({ name }) => server.apiParts.tags[name]?.order)
  t.equal(new Set(orders).size, orders.length, 'no two at one place')
  t.equal(Object.keys(server.apiParts.tags).length, tags.length, 'no section is without operations')
  for (const { url } of [externalDocs, ...tags.map(tag => tag.externalDocs)].flatMap(docs => docs ?? [])) {
    const { statusCode } = await server.inject(url.replace(server.config.baseUrl, ''))
    t.equal(statusCode, 200, url)
  }
  for (const { name, ...tag } of tags)
    t.match(tag, { 'x-displayName': /^[A-Z]/, externalDocs: { url: String } }, name)
})

t.test('every operation has a success among its replies', t => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      const isSuccess = (status: string) => status.startsWith('2') || status.startsWith('3')
      t.ok(Object.keys(responses).some(isSuccess), `${method} ${path}`)
    }
  t.end()
})

t.test('every operation says exactly what it answers when all goes well', async t => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { responses }] of Object.entries(methods))
      t.notOk(responses['2XX'], `${method} ${path}`)
  for (const { method, path, settings } of server.table()) {
    const { status = {}, schema } = settings.response ?? {}
    const isTold = Object.keys(status).some(code => Number(code) < 400) || typeof schema === 'object'
    t.ok(isTold, `${method} ${path} has schemas of its replies`)
  }
})
