/** 401, 429 and 403 come before the body of a request is read: who is refused need not send it, and cannot be heard. */
import t from 'tap'
import type { Operation } from '../../../server/openapi/document.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import { startServer } from '../../helpers/server.ts'

const app = await startServer(t)
const { server, ask, query } = app
const tenant = await app.signUp()
const keyOf = async (scope: string) => {
  const { body } = await ask('POST', '/api/v1/api-keys', { name: scope, scope }, tenant.token)
  return body.data as { id: string; key: string }
}
const reader = await keyOf('read-only')
const admin = await keyOf('admin')

/** Operations that take a body, with a credential that each of them lets in, or not. */
const operations = Object.entries(openApi(server, '').paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => method !== 'get')
    .map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      url: path.replaceAll(/\{\w+\}/g, 'x'),
      operation,
    })),
)
const guarded = operations.filter(({ operation }) => operation.security.length > 0)

/** Bodies that nothing can be made of. */
const UNREADABLE = {
  'no JSON': { type: 'application/json', payload: '{bad' },
  'another type': { type: 'text/csv', payload: 'a,b' },
  'a body of 2 MiB': { type: 'application/json', payload: `"${'x'.repeat(2 ** 21)}"` },
  'another encoding': { type: 'application/json', payload: '\xff', encoding: 'nothing' },
}
type Unreadable = (typeof UNREADABLE)[keyof typeof UNREADABLE] & { encoding?: string }

const send = async (
  { method, url }: { method: string; url: string },
  { type, payload, encoding }: Unreadable,
  credential?: string,
) => {
  const {
    statusCode,
    headers,
    payload: text,
  } = await server.inject({
    method,
    url,
    payload,
    headers: {
      'content-type': type,
      ...(encoding && { 'content-encoding': encoding }),
      ...(credential && { authorization: `Bearer ${credential}` }),
    },
  })
  return { status: statusCode, headers, code: /"code":"(\w+)"/.exec(text)?.[1] }
}

/** The scopes with which an operation lets a key in; none where it takes sessions only. */
const scopesOf = ({ security }: Operation) => security.flatMap(({ apiKey }) => apiKey ?? [])

t.test('without a credential, or with a wrong one, it is 401 whatever the body', async t => {
  for (const operation of guarded)
    for (const credential of [undefined, 'aa_live_wrong', 'wrong'])
      t.match(await send(operation, UNREADABLE['no JSON'], credential), { status: 401 }, operation.name)
})

t.test('without the scope it is 403 whatever the body', async t => {
  let refused = 0
  for (const operation of guarded) {
    const scopes = scopesOf(operation.operation)
    if (scopes.includes('read-only')) continue
    const [body] = Object.values(UNREADABLE).slice(refused++ % 4)
    await query(`delete from rate_windows`)
    const reply = await send(operation, body!, reader.key)
    t.match(reply, { status: 403, code: 'FORBIDDEN' }, operation.name)
  }
  t.ok(refused > 50)
  for (const [name, body] of Object.entries(UNREADABLE))
    t.match(
      await send({ method: 'POST', url: '/api/v1/sdk/assets' }, body, reader.key),
      { status: 403 },
      name,
    )
})

/** Uses up the minute of a caller, by name of what counts it. */
const exhaust = async (name: string) => {
  await query(
    `insert into rate_windows (name, used, ends_at, burst_used, burst_ends_at, is_allowed)
     values ($1, 100000, now() + interval '1 minute', 100000, now() + interval '1 second', true)
     on conflict (name) do update set used = excluded.used, ends_at = excluded.ends_at`,
    [name],
  )
}

t.test('past the limit it is 429 whatever the body, and before the scope is looked at', async t => {
  const [{ id: userId }] = (await query(`select id from users where email = $1`, [tenant.email])) as [
    { id: string },
  ]
  await query(`delete from rate_windows`)
  const ofKeys = [admin.id, reader.id].flatMap(id => [`key:${id}`, `lineage:${id}`])
  for (const name of [...ofKeys, ...['asset', 'auth', 'lineage'].map(of => `${of}:${userId}`)])
    await exhaust(name)
  for (const operation of guarded) {
    // Others are limited in nothing but their Idempotency-Keys.
    const { plugins } = server.match(operation.method.toLowerCase() as 'get', operation.url)!.settings
    if (plugins?.access?.limit == null) continue
    for (const credential of [admin.key, reader.key, tenant.token]) {
      const reply = await send(operation, UNREADABLE['no JSON'], credential)
      t.match(reply, { status: 429, code: 'RATE_LIMITED' }, operation.name)
      t.match(
        reply.headers,
        { 'retry-after': /^\d+$/, 'x-ratelimit-remaining': /^(-\d+|0)$/ },
        operation.name,
      )
    }
  }
  for (const [name, body] of Object.entries(UNREADABLE))
    t.match(await send({ method: 'POST', url: '/api/v1/sdk/assets' }, body, admin.key), { status: 429 }, name)
  await query(`delete from rate_windows`)
})

t.test('an address past the limit of an open operation gets 429 whatever the body', async t => {
  await query(`delete from rate_windows`)
  const limited = operations.flatMap(operation => {
    const guard = server.match(operation.method as 'post', operation.url)?.settings.plugins?.access
    return operation.operation.security.length === 0 && typeof guard?.limit === 'object' && guard.limit
      ? { ...operation, limit: guard.limit.name }
      : []
  })
  t.ok(limited.length >= 5)
  for (const { limit, ...operation } of limited) {
    await exhaust(`${limit}:127.0.0.1`)
    const reply = await send(operation, UNREADABLE['no JSON'])
    t.match(reply, { status: 429, code: 'RATE_LIMITED' }, operation.name)
  }
  await query(`delete from rate_windows`)
})

t.test('a body that cannot be read does not count, but at login', async t => {
  const used = async (name: string) =>
    (await query(`select used from rate_windows where name like $1`, [name]))[0]?.used ?? 0
  const tenants = { 'key:%': admin.key, 'asset:%': tenant.token }
  for (const [name, credential] of Object.entries(tenants)) {
    await query(`delete from rate_windows`)
    const target = { method: 'POST', url: '/api/v1/sdk/assets' }
    for (const body of Object.values(UNREADABLE)) {
      const { status, headers } = await send(target, body, credential)
      t.ok([400, 413, 415].includes(status), String(status))
      t.match(headers['x-ratelimit-remaining'], /^\d+$/, 'the remaining limit is sent all the same')
    }
    t.equal(await used(name), 0, name)
    t.equal((await ask('POST', '/api/v1/sdk/assets', {}, credential)).status, 400)
    t.equal(await used(name), 1, 'a body that can be read counts')
    t.equal((await ask('DELETE', '/api/v1/sdk/assets/x', undefined, credential)).status, 404)
    t.equal(await used(name), 2, 'as does a request without one')
  }
  await query(`delete from rate_windows`)
  t.match(await send({ method: 'POST', url: '/api/v1/auth/login' }, UNREADABLE['no JSON']), { status: 400 })
  t.equal(await used('login:%'), 1)
  t.match(await send({ method: 'POST', url: '/api/v1/auth/register' }, UNREADABLE['no JSON']), {
    status: 400,
  })
  t.equal(await used('register:%'), 0)
})

t.test('a request without the scope counts, as it does where it has no body', async t => {
  await query(`delete from rate_windows`)
  await send({ method: 'POST', url: '/api/v1/sdk/assets' }, UNREADABLE['no JSON'], reader.key)
  await ask('DELETE', '/api/v1/sdk/assets/x', undefined, reader.key)
  const [row] = await query(`select used from rate_windows where name = $1`, [`key:${reader.id}`])
  t.equal(row?.used, 2)
})
