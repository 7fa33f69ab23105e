/** What an API key admits, and how often a request with one waits for the database. */
import { Socket } from 'node:net'
import t from 'tap'
import { startServer, type Tenant } from '../../../helpers/server.ts'

const app = await startServer(t)
const { ask, query } = app
const ours = await app.signUp('Ours')
const theirs = await app.signUp('Theirs')
await query(`update companies set plan = 'enterprise'`)

/** A table with a rule. */
async function addTable({ companyId }: Tenant): Promise<string> {
  const [table] = await query(
    `with source as (
       insert into sources (id, company_id, name, source_type, config) values (gen_random_uuid(), $1, 's', 'postgresql', '{}')
       returning *
     )
     insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), $1, id, 'c', 'p', 't', 's.c.p.t', 'table', '[]', '[]', '' from source returning id`,
    [companyId],
  )
  await query(
    `insert into checks (uuid, company_id, source_id, table_id, type, name, severity, check_interval,
       kind, sensitivity, settings)
     select gen_random_uuid(), company_id, source_id, id, 'NOT_NULL', 'rule', 'info', 'daily', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}'
     from tables where id = $1`,
    [table?.id],
  )
  return String(table?.id)
}

const ourTable = await addTable(ours)
const theirTable = await addTable(theirs)
const rulesOf = (table: string) => `/api/v1/sdk/validity/${table}?limit=10`
const HOT = [rulesOf(ourTable), `/api/v1/assets/${ourTable}`, `/api/v1/sdk/assets/${ourTable}`]

/** A Sync of PostgreSQL's protocol, which ends a transaction. */
const SYNC = Buffer.from('S\0\0\0\x04', 'latin1')

/** Counts the packets that go to the database while something runs. */
async function countPackets(work: () => Promise<unknown>): Promise<number> {
  let packets = 0
  const prototype = Socket.prototype as unknown as {
    _writeGeneric(isMany: boolean, data: unknown, ...rest: unknown[]): unknown
  }
  const write = prototype._writeGeneric
  prototype._writeGeneric = function (isMany, data, ...rest) {
    const chunks = isMany ? (data as { chunk: Buffer }[]).map(({ chunk }) => chunk) : [data]
    if (chunks.some(chunk => Buffer.isBuffer(chunk) && chunk.equals(SYNC))) packets += 1
    return write.call(this, isMany, data, ...rest)
  }
  try {
    await work()
  } finally {
    prototype._writeGeneric = write
  }
  return packets
}

/** The job engine asks too at times: the least of three tries is what the work itself sends. */
async function countFewest(work: () => Promise<unknown>): Promise<number> {
  return Math.min(await countPackets(work), await countPackets(work), await countPackets(work))
}

t.test('a GET waits twice for the database: for its key, and for all that it reads', async t => {
  for (const path of HOT) {
    t.equal((await ours.ask('GET', path)).status, 200)
    t.equal(await countFewest(async () => t.equal((await ours.ask('GET', path)).status, 200)), 2, path)
  }
})

t.test('bad input is refused after the caller', async t => {
  const path = `${rulesOf(ourTable)}&offset=-1`
  t.match(await ours.ask('GET', path), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.match(await ask('GET', path, undefined, `${ours.key}x`), { status: 401 })
  t.match(await ours.ask('GET', '/api/v1/sdk/validity/nothing?limit=10'), { status: 404 })
})

t.test('the table of another company is not found', async t => {
  t.match(await ours.ask('GET', rulesOf(theirTable)), { status: 404 })
  t.match(await ours.ask('GET', `/api/v1/assets/${theirTable}`), { status: 404 })
})

t.test('a revoked or expired key is refused at its next request', async t => {
  for (const change of ['revoked_at = now()', `expires_at = now() - interval '1 second'`]) {
    const { body } = await ask('POST', '/api/v1/api-keys', { name: 'doomed', scope: 'read-only' }, ours.token)
    const { key, id } = body.data as { key: string; id: string }
    for (const path of HOT) t.equal((await ask('GET', path, undefined, key)).status, 200)
    await query(`update api_keys set ${change} where id = $1`, [id])
    for (const path of HOT) {
      const counted = await countFewest(async () => {
        const reply = await ask('GET', path, undefined, key)
        t.match(reply, { status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
        t.notMatch(JSON.stringify(reply.body), /rule|s\.c\.p\.t/)
      })
      t.equal(counted, 1, 'nothing is read for it')
    }
  }
})

t.test('past its limit a key is refused, and nothing is read for it', async t => {
  await query(`update rate_windows set used = 5000, ends_at = now() + interval '1 minute'`)
  const counted = await countFewest(async () =>
    t.match(await ours.ask('GET', HOT[0]!), { status: 429, body: { error: { code: 'RATE_LIMITED' } } }),
  )
  t.equal(counted, 1)
  await query('delete from rate_windows')
})

t.test('the application role alone may run the function that admits keys', async t => {
  const [rights] = await query(
    `select bool_and(prosecdef and proconfig::text like '%search_path=public, pg_temp%') as is_pinned,
       bool_or(has_function_privilege('public', oid, 'execute')) as is_public,
       bool_and(has_function_privilege(current_database() || '_app', oid, 'execute')) as is_app
     from pg_proc where proname = 'admit_key'`,
  )
  t.strictSame(rights, { is_pinned: true, is_public: false, is_app: true })
})
