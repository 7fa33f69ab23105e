import net from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import Joi from 'joi'
import { access } from '../../../server/http/access.ts'
import { apiError, invalidInput, unprocessable } from '../../../server/http/errors.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import { envelope } from '../../../server/http/replies.ts'
import { startServer } from '../../helpers/server.ts'

const { server, ask, signUp } = await startServer(t)
const body = Joi.object({ name: Joi.string().required(), size: Joi.number(), deep: Joi.any() })
for (const path of ['/try', '/api/v1/sdk/try']) {
  server.route({
    method: 'POST',
    path,
    options: { ...access.open, validate: { payload: body } },
    handler: request => request.payload as object,
  })
}
const routes: Record<string, () => unknown> = {
  '/fails': () => {
    throw new Error('select secret from canary')
  },
  '/conflicts': () => {
    throw apiError('CONFLICT', 'Choose another name', { field: 'name' })
  },
  '/unprocessable': () => {
    throw unprocessable([{ loc: ['path', 'asset_id'], msg: 'is gone', type: 'any.gone' }])
  },
  '/refuses': () => {
    throw invalidInput(Array.from({ length: 250 }, (_, index) => ({ field: `f${index}`, error: 'is wrong' })))
  },
  '/overflows': () => server.db.statement('select cast(99999999999 as int) as x'),
  '/divides': () => server.db.statement('select 1 / 0 as x'),
  '/reads': () => server.db.statement('select cast(:id as uuid) as x', { id: 'no uuid' }),
  '/parses': () => server.db.statement(`select cast(substr('x{', 1) as jsonb) as x`),
  '/refers': () =>
    server.db.system(trx =>
      trx.raw(
        'insert into tags (id, company_id, source_id, name, category, origin) values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ?, ?, ?)',
        ['x', 'business', 'manual'],
      ),
    ),
  '/enveloped': () => envelope({ a: 1 }, 'well'),
}
for (const [path, handler] of Object.entries(routes)) {
  server.route({ method: 'GET', path, options: { ...access.open }, handler: handler as () => object })
}

t.test('every reply has a request id of its own', async t => {
  const replies = [await ask('GET', '/enveloped'), await ask('GET', '/nowhere'), await ask('GET', '/fails')]
  const ids = replies.map(({ headers }) => headers['x-request-id'])
  for (const id of ids) t.match(id, /^[0-9a-f-]{36}$/)
  t.equal(new Set(ids).size, 3)
})

t.test('no reply may do anything in a browser, but for the page of the reference', async t => {
  for (const url of ['/api/v1/health', '/api/v1/assets', '/nothing', '/openapi.json']) {
    const { headers } = await server.inject(url)
    t.match(headers, {
      'content-security-policy': /^default-src 'none'; .*frame-ancestors 'none'$/,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
  }
  t.match((await server.inject('/docs')).headers['content-security-policy'], /script-src 'self'/)
})

t.test('errors of ours answer with code, sentence and details', async t => {
  const { status, body } = await ask('GET', '/conflicts')
  t.equal(status, 409)
  t.strictSame(body, {
    error: { code: 'CONFLICT', message: 'Choose another name', details: { field: 'name' } },
  })
  t.strictSame((await ask('GET', '/unprocessable')).body, {
    detail: [{ loc: ['path', 'asset_id'], msg: 'is gone', type: 'any.gone' }],
    error: {
      code: 'VALIDATION_ERROR',
      message: 'asset_id: is gone',
      details: {
        field: 'asset_id',
        error: 'is gone',
        errors: [{ field: 'asset_id', error: 'is gone' }],
      },
    },
  })
  t.strictSame((await ask('GET', '/enveloped')).body, {
    success: true,
    data: { a: 1 },
    message: 'well',
    error: '',
    meta: {},
  })
})

t.test('a reply does not contain an internal error, only where to look it up', async t => {
  const { status, body, headers } = await ask('GET', '/fails')
  t.match([status, body.error.code], [500, 'INTERNAL_ERROR'])
  t.equal(body.error.details.request_id, headers['x-request-id'])
  t.notMatch(JSON.stringify(body), 'canary')
  t.equal(
    (await ask('GET', '/overflows')).status,
    400,
    'a value that the database cannot take is no fault of ours',
  )
})

t.test(
  "a value that cannot be taken is its sender's fault, a statement that fails by itself is ours",
  async t => {
    const status = async (path: string) => (await ask('GET', path)).status
    t.strictSame(await Promise.all(['/overflows', '/reads'].map(status)), [400, 400])
    t.strictSame(await Promise.all(['/divides', '/parses'].map(status)), [500, 500])
  },
)

t.test('every error code is one of Tidemark, and no reply is partial', async t => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const unzipped = await server.inject({ method: 'POST', url: '/try', headers, payload: 'no gzip' })
  t.match([unzipped.statusCode, JSON.parse(unzipped.payload)], [400, { error: { code: 'BAD_REQUEST' } }])
  const part = await server.inject({ url: '/enveloped', headers: { range: 'bytes=90000-' } })
  t.equal(part.statusCode, 200)
})

t.test('a body in an encoding that is not undone is refused before it is read', async t => {
  const send = (encoding: string, payload: Buffer | string) =>
    server.inject({
      method: 'POST',
      url: '/try',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      payload,
    })
  for (const encoding of ['br', 'zstd', 'nothing', 'gzip, br']) {
    const { statusCode, headers, payload } = await send(encoding, '{"name":"x"}')
    t.match(
      [statusCode, JSON.parse(payload)],
      [415, { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: /gzip/ } }],
    )
    t.equal(headers['accept-encoding'], 'gzip, deflate')
  }
  for (const encoding of ['gzip', 'GZIP', 'x-gzip'])
    t.match((await send(encoding, gzipSync('{"name":"x"}'))).statusCode, 200, encoding)
  for (const encoding of ['identity', ''])
    t.match((await send(encoding, '{"name":"x"}')).statusCode, 200, encoding)
  const empty = await server.inject({ url: '/enveloped', headers: { 'content-encoding': 'br' } })
  t.equal(empty.statusCode, 200, 'of no body it does not matter')
})

t.test('a field __proto__ is one that is not known, and becomes the prototype of nothing', async t => {
  const text = '{"name":"x","deep":{"a":[{"__proto__":{"isAdmin":true}}]}}'
  t.match((await ask('POST', '/try', text)).body, {
    detail: [{ loc: ['body', 'deep', 'a', '0', '__proto__'], msg: 'unknown field `deep.a.0.__proto__`' }],
  })
  const { status, body } = await ask('POST', '/api/v1/sdk/try', '{"__proto__":1,"name":"x"}')
  t.match([status, body.error], [400, { code: 'VALIDATION_ERROR', details: { field: '__proto__' } }])
  t.equal(
    (await ask('POST', '/try', '{"name":"__proto__","deep":"__proto__"}')).status,
    200,
    'a text may be it',
  )
})

t.test('what is wrong is said once, by one spelling of its field, with what is allowed', async t => {
  const { body: schema, ...options } = {
    ...access.open,
    body: Joi.object({
      id: Joi.string().guid(),
      tags: Joi.array().items(Joi.string().trim()),
      inner: Joi.object({ a: Joi.any(), b: Joi.any() }).or('a', 'b'),
    })
      .or('id', 'tags', 'inner')
      .required()
      .label('InternalLabel'),
  }
  const query = Joi.object({ limit: Joi.number(), offset: Joi.number() })
  const validate = { payload: schema, query }
  server.route({
    method: 'POST',
    path: '/api/v1/sdk/says',
    options: { ...options, validate },
    handler: () => ({}),
  })
  const says = async (given: unknown, search = '') => {
    const { body } = await ask('POST', `/api/v1/sdk/says${search}`, given)
    return body.error.details.errors as { field: string; error: string }[]
  }
  t.strictSame(await says({ id: 'x', tags: ['a', ' '] }), [
    { field: 'id', error: 'id must be a UUID, not "x"' },
    { field: 'tags.1', error: 'tags.1 must not be empty' },
  ])
  t.strictSame(await says({ id2: 1, id3: 1, inner: { a: 1, c: 1 } }), [
    { field: 'inner.c', error: 'unknown field `inner.c`; allowed are a, b' },
    {
      field: 'id2',
      error: 'unknown field `id2`; did you mean `id`? Allowed are id, tags, inner',
      candidates: ['id'],
    },
    { field: 'id3', error: 'unknown field `id3`' },
  ])
  t.strictSame(await says({}), [{ field: 'body', error: 'give id, tags or inner' }])
  for (const given of [undefined, null, 1, 'null', '[]'])
    t.strictSame(await says(given), [{ field: 'body', error: 'a JSON object is required in the body' }])
  t.strictSame(await says({ tags: [] }, '?limt=1'), [
    {
      field: 'limt',
      error: 'unknown query parameter `limt`; did you mean `limit`? Allowed are limit, offset',
      candidates: ['limit'],
    },
  ])
})

t.test('what refers to a thing that was removed meanwhile is a conflict', async t => {
  const { status, body } = await ask('GET', '/refers')
  t.match([status, body.error], [409, { code: 'CONFLICT', message: /removed meanwhile/ }])
})

t.test('bad input is 422 with all failures, or 400 with the field under sdk', async t => {
  const bad = { size: 'large', extra: 1 }
  const plain = await ask('POST', '/try', bad)
  t.equal(plain.status, 422)
  t.match(plain.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).sort(), [
    'body.extra',
    'body.name',
    'body.size',
  ])
  t.match(plain.body.detail[0], { loc: ['body', 'name'], msg: String, type: 'any.required' })
  const sdk = await ask('POST', '/api/v1/sdk/try', bad)
  t.equal(sdk.status, 400)
  t.match(sdk.body.error, { code: 'VALIDATION_ERROR', details: { field: 'name', error: /required/ } })
  t.equal(sdk.body.error.details.errors.length, 3)
})

t.test('the first hundred of many failures are returned', async t => {
  const names = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`field_${i}`, 1]))
  const { body: plain } = await ask('POST', '/try', names)
  t.equal(plain.detail.length, 100)
  const { body } = await ask('POST', '/api/v1/sdk/try', names)
  t.equal(body.error.details.errors.length, 100)
  t.match(body.error.message, /and 14901 more$/)
})

t.test('a route takes no query and no body but those that it says', async t => {
  const bare = { ...access.open }
  for (const path of ['/bare', '/api/v1/bare', '/api/v1/sdk/bare'])
    server.route({ method: ['GET', 'POST'], path, options: bare, handler: () => ({ fine: true }) })
  const query = await ask('GET', '/api/v1/sdk/bare?bogus=1')
  t.match([query.status, query.body.error], [400, { code: 'VALIDATION_ERROR', details: { field: 'bogus' } }])
  t.equal((await ask('POST', '/api/v1/sdk/try?bogus=1', { name: 'x' })).status, 400, 'beside a body')
  t.match((await ask('GET', '/api/v1/bare?bogus=1')).body, {
    detail: [{ loc: ['query', 'bogus'], type: 'object.unknown' }],
  })
  const body = await ask('POST', '/api/v1/sdk/bare', { bogus: 1 })
  t.match([body.status, body.body.error], [400, { code: 'VALIDATION_ERROR', details: { field: 'bogus' } }])
  t.match((await ask('POST', '/api/v1/bare', [1])).body, { detail: [{ loc: ['body'] }] })
  for (const nothing of [undefined, {}, null])
    t.equal((await ask('POST', '/api/v1/sdk/bare', nothing)).status, 200)
  t.equal((await ask('GET', '/bare?bogus=1')).status, 200, 'outside of the API it does not matter')
  t.equal((await ask('GET', '/api/v1/health?bogus=1')).status, 200)
  t.equal((await ask('GET', '/api/v1/nowhere?bogus=1')).status, 404)
})

t.test('a value that the database refuses is not blamed on the form of the body', async t => {
  server.route({
    method: 'POST',
    path: '/stored',
    options: { ...access.open },
    handler: () =>
      server.db.system(trx => trx.raw(`select jsonb_build_object('n', cast(:n as bigint))`, { n: '1.5' })),
  })
  const { status, body } = await ask('POST', '/stored', { n: 1.5 })
  t.match([status, body.error.message], [400, /^The request could not be understood/])
})

t.test('unreadable requests are distinguished', async t => {
  const deep = (levels: number) => `{"name":"x","deep":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const cases: [string, number, RegExp][] = [
    ['{"name":', 400, /not valid JSON/],
    ['{"name":"\\u0000"}', 400, /NUL/],
    ['{"name":"\\ud800"}', 400, /surrogate/],
    ['{"\\u0000":1}', 400, /NUL/],
    [deep(40), 400, /nested deeper than 32/],
    [`{"name":"x","deep":[${'[0,0,0],'.repeat(8_000)}0]}`, 400, /more than 20000 values/],
    // Counted before they are parsed: nothing would be found wrong with them else.
    [`{"name":"x","deep":[${'[],'.repeat(30_000)}`, 400, /more than 20000 values/],
    [`{"name":"x","deep":[${'"]\\",",'.repeat(20_001)}`, 400, /more than 20000 values/],
    [`{"name":"${String.raw`[{,\",`.repeat(30_000)}"`, 400, /not valid JSON/],
    [`{"name":"${'x'.repeat(1_100_000)}"}`, 413, /1 MiB/],
  ]
  for (const [text, status, message] of cases) {
    const reply = await ask('POST', '/try', text)
    t.match([reply.status, reply.body.error.message], [status, message], text.slice(0, 40))
  }
  t.equal((await ask('POST', '/try', deep(20))).status, 200)
  const marks = String.raw`[{,\",`.repeat(30_000)
  t.equal((await ask('POST', '/try', `{"name":"${marks}"}`)).status, 200, 'what a text holds is no value')
  const bytes = async (...given: number[]) => {
    const payload = Buffer.from([...Buffer.from('{"name":"'), ...given, ...Buffer.from('"}')])
    const headers = { 'content-type': 'application/json' }
    const { statusCode, payload: body } = await server.inject({
      method: 'POST',
      url: '/try',
      headers,
      payload,
    })
    return [statusCode, body]
  }
  t.match(await bytes(0xff), [400, /"BAD_REQUEST".*not UTF-8/])
  t.match(await bytes(0xed, 0xa0, 0x80), [400, /not UTF-8/], 'half of a surrogate pair')
  t.match(await bytes(0xef, 0xbf, 0xbd), [200, /\ufffd/], 'the mark itself may be meant')
  const form = await server.inject({
    method: 'POST',
    url: '/try',
    headers: { 'content-type': 'text/html' },
    payload: 'x',
  })
  t.match([form.statusCode, JSON.parse(form.payload).error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
  t.equal((await ask('GET', '/enveloped?x=%00')).status, 400)
})

t.test('an unknown path says where the known ones are', async t => {
  const { status, body } = await ask('GET', '/api/v1/nothing')
  t.match([status, body.error], [404, { code: 'NOT_FOUND', message: /openapi\.json/ }])
})

t.test('a method that a path does not take is 405, which names those that it takes', async t => {
  const paths = openApi(server, '').paths
  const { key } = await signUp()
  const signedIn = { headers: { authorization: `Bearer ${key}` } }
  const all = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'propfind']
  for (const [path, operations] of Object.entries(paths)) {
    const url = path.replaceAll(/\{\w+\}/g, 'x')
    const allowed = new Set(Object.keys(operations))
    if (allowed.has('get')) allowed.add('head')
    for (const method of all.filter(each => !allowed.has(each))) {
      // A template beside the path may take the method, of what has another name.
      const { statusCode, headers, payload } = await server.inject({ method, url, ...signedIn })
      t.equal(statusCode, 405, `${method} ${url}`)
      const names = String(headers.allow).toLowerCase().split(', ')
      t.strictSame(names.sort(), [...allowed].sort(), `Allow of ${method} ${url}`)
      if (method !== 'head')
        t.match(JSON.parse(payload), { error: { code: 'METHOD_NOT_ALLOWED', message: /^This path takes / } })
      t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/)
    }
  }
  for (const method of all) {
    const { statusCode, headers } = await server.inject({ method, url: '/api/v1/nothing' })
    t.strictSame([statusCode, headers.allow], [404, undefined], `${method} of an unknown path`)
  }
  t.equal((await server.inject({ method: 'DELETE', url: '/api/v1/assets/%ff' })).statusCode, 405)
})

t.test('a content type without a body is accepted', async t => {
  server.route({
    method: 'POST',
    path: '/empty',
    options: { ...access.open },
    handler: () => ({ fine: true }),
  })
  const { port } = new URL(server.info.uri)
  const socket = net.connect(Number(port), '127.0.0.1')
  const reply = new Promise<string>(resolve => socket.on('data', chunk => resolve(String(chunk))))
  socket.write(
    'POST /empty HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  )
  t.match(await reply, /^HTTP\/1\.1 200/)
  socket.destroy()
})

t.test('a reply lists 100 failures and counts the others, wherever they come from', async t => {
  const { status, body } = await ask('GET', '/refuses')
  t.equal(status, 400)
  t.equal(body.error.details.errors.length, 100)
  t.match(body.error.message, /f99: is wrong; and 150 more$/)
})
