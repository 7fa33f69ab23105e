import { readFileSync } from 'node:fs'
import t from 'tap'
import { IDEMPOTENT_POSTS } from '../../../../plugins/public/client/operations.ts'
import { keepsReplies } from '../../../../server/http/idempotency.ts'
import type { OpenApiDocument } from '../../../../server/openapi/document.ts'
import { OPERATIONS_FILE, renderOperations } from '../../../helpers/client-operations.ts'
import { startServer } from '../../../helpers/server.ts'

const { server, ask } = await startServer(t)

t.test('the client knows the API as the server describes it', async t => {
  const { body } = await ask('GET', '/openapi.json')
  const expected = await renderOperations(body as OpenApiDocument)
  const written = readFileSync(OPERATIONS_FILE, 'utf8').split('\n')
  // The first difference alone: the file has ten thousand lines.
  const differing = expected.split('\n').findIndex((line, place) => line !== written[place])
  t.equal(expected.split('\n')[differing], written[differing], `line ${differing + 1}`)
})

t.test('the client repeats exactly the POSTs whose replies the server keeps', async t => {
  const kept = server.table().filter(keepsReplies)
  t.strictSame([...IDEMPOTENT_POSTS].sort(), kept.map(({ path }) => path.replace('/api/v1/', '')).sort())
  t.ok(kept.length > 10)
})

t.test('each form of schema becomes the type that it describes', async t => {
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const properties = {
    text: { type: 'string', description: 'A   text\nof two lines.' },
    nothing: { type: ['string', 'null'] },
    count: { type: 'integer' },
    list: { type: 'array', items: { type: ['number', 'null'] } },
    word: { enum: ['a', 'b'] },
    open: { anyOf: [{ enum: ['a'] }, { type: 'string' }] },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    matched: { type: 'object', patternProperties: { '.*': { type: 'boolean' } } },
    any: {},
    object: { type: 'object' },
    empty: { type: 'object', additionalProperties: false },
    checked: { type: 'string', allOf: [{ pattern: '\\S' }] },
    other: { anyOf: [refer('Other'), { type: 'null' }] },
  }
  const schemas = {
    Thing: { type: 'object', properties, required: ['text', 'list'] },
    More: { allOf: [refer('Other'), { type: 'object', properties: { b: { const: 1 } }, required: ['b'] }] },
    Other: { type: 'object', properties: { a: { type: 'boolean' } }, oneOf: [{ required: ['a'] }] },
    Unused: { type: 'object' },
  }
  const reply = (name: string) => ({ content: { 'application/json': { schema: refer(name) } } })
  const page = { responses: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } } }
  const paths = {
    '/things/{id}': {
      get: { responses: { 200: reply('Thing'), 202: reply('More'), 404: reply('Unused') } },
      delete: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 204: {} },
      },
    },
    '/page': { get: page },
  }
  const text = await renderOperations({ paths, components: { schemas } } as unknown as OpenApiDocument)
  t.match(text, `'/things/{id}': { options: object; reply: Thing | More }`)
  t.match(text, `'/things/{id}': { options: { path: { id: string | number } }; reply: undefined }`)
  t.notMatch(text, '/page')
  t.notMatch(text, 'Unused')
  t.match(text, 'export interface Other {\n  a?: boolean\n}')
  t.match(text, 'export type More = Other & {\n  b: 1\n}')
  t.match(
    text,
    `export interface Thing {
  /** A text of two lines. */
  text: string
  nothing?: string | null
  count?: number
  list: (number | null)[]
  word?: 'a' | 'b'
  open?: 'a' | (string & {})
  counts?: Record<string, number>
  matched?: Record<string, boolean>
  any?: unknown
  object?: Record<string, unknown>
  empty?: Record<string, never>
  checked?: string
  other?: Other | null
}`,
  )
})
