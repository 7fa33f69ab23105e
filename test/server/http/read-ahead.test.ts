/** A caller is admitted and read for in one round trip, and what was read is shown to no caller that was not admitted. */
import { createHash } from 'node:crypto'
import { Socket } from 'node:net'
import t from 'tap'
import { startServer, type Tenant } from '../../helpers/server.ts'
import { ADMIT_KEY } from '../../../server/http/limits.ts'

const app = await startServer(t)
const { server, ask, query } = app
const { db } = server
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

/** Counts the packets that go to the database while something runs, and the transactions in them. */
async function countPackets(
  work: () => Promise<unknown>,
): Promise<{ packets: number; transactions: number }> {
  const counted = { packets: 0, transactions: 0 }
  const prototype = Socket.prototype as unknown as {
    _writeGeneric(isMany: boolean, data: unknown, ...rest: unknown[]): unknown
  }
  const write = prototype._writeGeneric
  prototype._writeGeneric = function (isMany, data, ...rest) {
    const chunks = isMany ? (data as { chunk: Buffer }[]).map(({ chunk }) => chunk) : [data]
    const syncs = chunks.filter(chunk => Buffer.isBuffer(chunk) && chunk.equals(SYNC)).length
    counted.transactions += syncs
    if (syncs > 0) counted.packets += 1
    return write.call(this, isMany, data, ...rest)
  }
  try {
    await work()
  } finally {
    prototype._writeGeneric = write
  }
  return counted
}

/** The job engine asks too at times: the least of three tries is what the work itself sends. */
async function countFewest(work: () => Promise<unknown>) {
  const tries = [await countPackets(work), await countPackets(work), await countPackets(work)]
  return tries.toSorted((a, b) => a.packets - b.packets)[0]!
}

t.test('a hot GET waits once for the database, in two transactions', async t => {
  for (const path of HOT) {
    t.equal((await ours.ask('GET', path)).status, 200)
    const counted = await countFewest(async () => t.equal((await ours.ask('GET', path)).status, 200))
    t.strictSame(counted, { packets: 1, transactions: 2 }, path)
  }
})

t.test('it answers the same, and counts the same, as a request that waits twice', async t => {
  const { body } = await ask('POST', '/api/v1/api-keys', { name: 'new', scope: 'read-only' }, ours.token)
  const { key, id } = body.data as { key: string; id: string }
  for (const path of HOT) {
    const [one, other] = [await ask('GET', path, undefined, key), await ask('GET', path, undefined, key)]
    t.strictSame(one.body, other.body)
    const left = (reply: typeof one) => Number(reply.headers['x-ratelimit-remaining'])
    t.ok(left(other) === left(one) - 1 || left(other) === 99, 'unless a second has begun')
  }
  t.match(await query('select used from rate_windows where name = $1', [`key:${id}`]), [{ used: 6 }])
})

t.test('bad input is refused as ever, after the caller', async t => {
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
      t.equal(counted.packets, 1)
    }
  }
})

t.test('past its limit a key is refused, and nothing is read for it', async t => {
  await query(`update rate_windows set used = 5000, ends_at = now() + interval '1 minute'`)
  const found = await readAs(ours.key, ours.companyId)
  t.equal(found.result, null)
  t.match(await ours.ask('GET', HOT[0]!), { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  await query('delete from rate_windows')
})

const SEEN = {
  name: 'all rules',
  text: 'select company_id, (select count(*)::int from checks) as seen from (values (1)) one left join checks on true',
  bindings: {},
}

/** Reads all rules that row-level security shows. */
function readAs(key: string, companyId: string) {
  const hash = createHash('sha256').update(key).digest()
  const admission = { name: 'key', text: ADMIT_KEY, bindings: { hash, is_counted: true } }
  return db.admitAndRead<{ companyId: string | null; isAllowed: boolean | null }, [object]>(
    admission,
    companyId,
    [SEEN],
  )
}

t.test('a key shows its own company, and with the company of another key nothing', async t => {
  const own = await readAs(ours.key, ours.companyId)
  t.match(own.result, { status: 'fulfilled', value: [[{ companyId: ours.companyId, seen: 1 }]] })
  t.match(await readAs(ours.key, theirs.companyId), {
    admitted: { companyId: ours.companyId },
    result: null,
  })
  t.match(await readAs('aa_live_unknown', ours.companyId), { admitted: { companyId: null }, result: null })
})

t.test('row-level security itself shows no row to what follows a key that is not admitted', async t => {
  // Whether the statement saw a row is known outside, whatever becomes of its result.
  const mark = { name: 'mark', text: 'select pg_advisory_lock(4711) from checks', bindings: {} }
  const unmark = { name: 'unmark', text: 'select pg_advisory_unlock_all()', bindings: {} }
  const admit = (key: string) => ({
    name: 'key',
    text: ADMIT_KEY,
    bindings: { hash: createHash('sha256').update(key).digest(), is_counted: true },
  })
  const marks = () => query(`select from pg_locks where locktype = 'advisory' and objid = 4711`)
  const { body } = await ask('POST', '/api/v1/api-keys', { name: 'doomed', scope: 'read-only' }, ours.token)
  const { key, id } = body.data as { key: string; id: string }
  await query('update api_keys set revoked_at = now() where id = $1', [id])
  await query(
    `insert into rate_windows select 'key:' || id, 5000, now() + interval '1 minute', 0, now(), true from api_keys
     where company_id = $1 and revoked_at is null`,
    [theirs.companyId],
  )
  for (const refused of [key, 'aa_live_unknown', theirs.key]) {
    await db.admitAndRead(admit(refused), ours.companyId, [mark])
    t.equal((await marks()).length, 0)
  }
  await db.admitAndRead(admit(ours.key), ours.companyId, [mark])
  t.equal((await marks()).length, 1, 'it can be seen')
  await Promise.all(Array.from({ length: 20 }, () => db.read(ours.companyId, [unmark])))
  t.equal((await marks()).length, 0)
  await query('delete from rate_windows')
})

t.test('an admission is over with its request, also when what it reads fails', async t => {
  const failing = {
    name: 'failing',
    text: `select cast('seen ' || count(*) as int) as seen from checks`,
    bindings: {},
  }
  const hash = createHash('sha256').update(ours.key).digest()
  const admission = { name: 'key', text: ADMIT_KEY, bindings: { hash, is_counted: true } }
  const { result } = await db.admitAndRead(admission, ours.companyId, [failing])
  t.match(result, { status: 'rejected', reason: { message: /seen 1/ } })
  const left = {
    name: 'left',
    text: `select nullif(current_setting('app.admitted', true), '') as admitted`,
    bindings: {},
  }
  const found = await Promise.all(
    Array.from({ length: 20 }, () => db.read<[{ admitted: string | null }]>(theirs.companyId, [left])),
  )
  t.ok(found.every(([[row]]) => row?.admitted === null))
})

t.test('an error of the admission is the error, and the connection goes with it', async t => {
  const broken = {
    name: 'broken',
    text: 'select cast(null as uuid) as company_id, 1 / 0 = 1 as is_allowed',
    bindings: {},
  }
  await t.rejects(db.admitAndRead(broken, ours.companyId, [SEEN]), { message: /division by zero/ })
  t.match((await readAs(ours.key, ours.companyId)).result, { value: [[{ seen: 1 }]] })
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
