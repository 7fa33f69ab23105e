import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { startServer, type Reply, type TestServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

const logged: string[] = []
const stream = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk))
    done()
  },
})
const receiver = await startReceiver(t)
const app = await startServer(t, {
  settings: { LOG_LEVEL: 'trace' },
  build: { log: pino({ level: 'trace' }, stream) },
})
const { query, server } = app

/** Every reply, as text; the ones that show a secret once are kept apart. */
const replies: string[] = []

async function ask(method: string, path: string, payload?: unknown, credential?: string): Promise<Reply> {
  const reply = await app.ask(method, path, payload, credential)
  replies.push(JSON.stringify([reply.headers, reply.body]))
  return reply
}

/** As it is, and in the forms in which it could lie in a column of bytes or of text. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]
}

/** The places in the database that hold one of the texts: every column of every table, as a dump has them. */
async function placesOf({ query: read }: TestServer, secrets: string[]): Promise<string[]> {
  const tables = await read(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    for (const { row } of await read(`select cast(to_jsonb(t) as text) as row from ${name} t`)) {
      const secret = secrets.find(each => String(row).includes(each))
      if (secret !== undefined) found.push(`${name} holds ${secret}`)
    }
  }
  return found
}

t.test('no secret is in any table, log line or reply', async t => {
  const source = await startSource(t)
  const password = `a yellow bird ${randomUUID()}`
  const email = `canary-${randomUUID().slice(0, 8)}@example.com`
  const bearer = `canary-bearer-${randomUUID()}`
  const custom = `canary-header-${randomUUID()}`
  const wrong = `canary-wrong-${randomUUID()}`
  const secrets = [password, source.config.password, bearer, custom, wrong]

  await ask('POST', '/api/v1/auth/register', { email, password, company_name: 'Birds' })
  await ask('POST', '/api/v1/auth/login', { email, password: wrong })
  // What is shown once, is shown here.
  const login = (await app.ask('POST', '/api/v1/auth/login', { email, password })).body
  const { key, id: keyId } = (
    await app.ask('POST', '/api/v1/api-keys', { name: 'ci', scope: 'admin' }, login.access_token)
  ).body.data
  const refreshed = (
    await app.ask('PUT', '/api/v1/auth/tokens/current', { refresh_token: login.refresh_token })
  ).body
  const config = {
    url: `${receiver.url}/hook`,
    auth: { type: 'bearer', value: bearer },
    headers: { 'X-Canary': custom },
  }
  const destinations = '/api/v1/sdk/alerts/destinations'
  const made = (
    await app.ask('POST', destinations, { name: 'hook', destination_type: 'webhook', config }, key)
  ).body.data
  const rotated = (await app.ask('POST', `${destinations}/${made.id}/rotate-secret`, undefined, key)).body
    .data
  secrets.push(key, made.signing_secret, rotated.signing_secret)
  for (const tokens of [login, refreshed]) secrets.push(tokens.access_token, tokens.refresh_token)

  // What goes well, and what goes wrong.
  await ask('GET', `${destinations}/${made.id}`, undefined, key)
  await ask('POST', `${destinations}/${made.id}/test`, undefined, key)
  t.equal(
    receiver.requests.at(-1)?.headers['authorization'],
    `Bearer ${bearer}`,
    'it was sent where it belongs',
  )
  receiver.answer((received, response) => response.writeHead(500).end(JSON.stringify(received.headers)))
  await ask('POST', `${destinations}/${made.id}/test`, undefined, key)
  await ask('PATCH', `${destinations}/${made.id}`, { config: { headers: { 'X-Canary': custom } } }, key)
  const added = await ask(
    'POST',
    '/api/v1/sdk/assets',
    { name: 'shop', source_type: 'postgresql', connection_config: source.config },
    key,
  )
  const asset = `/api/v1/sdk/assets/${added.body.data.id}`
  await source.query('create table orders (id int)')
  const { job_id: jobId } = (await ask('POST', `${asset}/discover`, undefined, key)).body.data
  await server.jobs.settled(discoverJob, data => data.run_id === jobId)
  await ask('POST', `${asset}/test-connection`, undefined, key)
  await ask('PATCH', asset, { connection_config: { password: wrong } }, key)
  await ask('POST', `${asset}/test-connection`, undefined, key)
  await ask('PATCH', asset, { connection_config: { password: source.config.password, port: 'x' } }, key)
  await ask('PATCH', asset, { connection_config: { password: source.config.password } }, key)
  await ask('GET', asset, undefined, key)
  await ask('GET', `${destinations}/${made.id}/deliveries`, undefined, key)
  await ask('GET', `/api/v1/api-keys/${keyId}`, undefined, key)
  await ask('GET', '/api/v1/audit-log?limit=500', undefined, key)
  await ask('GET', '/api/v1/auth/me', undefined, refreshed.access_token)
  await ask('GET', '/api/v1/auth/me', undefined, `${refreshed.access_token}x`)
  await ask('PUT', '/api/v1/auth/tokens/current', { refresh_token: refreshed.refresh_token.slice(0, -2) })

  const all = secrets.flatMap(forms)
  t.ok(new Set(secrets).size >= 11, 'all of them are looked for')
  t.strictSame(await placesOf(app, all), [])
  for (const secret of all) {
    t.notOk(
      logged.some(line => line.includes(secret)),
      `not in the log: ${secret}`,
    )
    t.notOk(
      replies.some(reply => reply.includes(secret)),
      `not in a reply: ${secret}`,
    )
  }
  t.ok(logged.length > 0, 'something was logged')
  const places = await placesOf(app, [email])
  t.ok(
    places.some(place => place.includes('users')),
    'the same search finds what is there',
  )
})

// PostgreSQL leaves the values out of its errors where a table has row-level security.
t.test('what the database says of a row that it refuses is not logged with its values', async t => {
  await query('alter table users add constraint never check (false) not valid')
  t.teardown(() => query('alter table users drop constraint never'))
  await query('delete from rate_windows')
  t.teardown(() => query('delete from rate_windows'))
  const before = logged.length
  const body = { email: 'refused@example.com', password: 'a blue bird at noon', company_name: 'Blue birds' }
  t.equal((await app.ask('POST', '/api/v1/auth/register', body)).status, 500)
  const lines = logged.slice(before).join('')
  t.match(lines, /a request failed/)
  t.match(lines, /violates check constraint/, 'what is wrong is logged')
  for (const value of ['$argon2', 'refused@example.com', 'Failing row'])
    t.notOk(lines.includes(value), `${value} is not`)
})

t.test('a ciphertext moved to another row, column or company opens nowhere', async t => {
  const source = await startSource(t)
  const [mine, theirs] = [await app.signUp('Mine'), await app.signUp('Theirs')]
  const assets = '/api/v1/sdk/assets'
  const add = async (tenant: typeof mine, name: string) => {
    const body = { name, source_type: 'postgresql', connection_config: source.config }
    return (await tenant.ask('POST', assets, body)).body.data.id as string
  }
  const [one, two, foreign] = [await add(mine, 'one'), await add(mine, 'two'), await add(theirs, 'foreign')]
  const move = (from: string, to: string) =>
    query('update sources set secrets = (select secrets from sources where id = $1) where id = $2', [
      from,
      to,
    ])
  const test = async (tenant: typeof mine, id: string) =>
    (await tenant.ask('POST', `${assets}/${id}/test-connection`)).body

  t.match(await test(mine, two), { data: { success: true } })
  await move(one, two)
  t.match(await test(mine, two), { error: { code: 'INTERNAL_ERROR' } })
  await move(one, foreign)
  t.match(await test(theirs, foreign), { error: { code: 'INTERNAL_ERROR' } })
  t.match(await test(mine, one), { data: { success: true } }, 'the one it belongs to still works')

  const body = {
    name: 'hook',
    destination_type: 'webhook',
    config: { url: receiver.url, auth: { type: 'bearer', value: 'x' } },
  }
  const { id } = (await mine.ask('POST', '/api/v1/sdk/alerts/destinations', body)).body.data
  await query('update destinations set secrets = signing_secrets where id = $1', [id])
  const before = receiver.requests.length
  const tested = await mine.ask('POST', `/api/v1/sdk/alerts/destinations/${id}/test`)
  t.notOk(tested.body.data?.success)
  t.equal(receiver.requests.length, before, 'nothing was sent')
})
