import { randomUUID } from 'node:crypto'
import t from 'tap'
import { audit, type AuditEvent } from '../../../../server/http/audit.ts'
import { startServer, type Tenant } from '../../../helpers/server.ts'

const LOG = '/api/v1/audit-log'
const { ask, query, signUp, server } = await startServer(t)
const [tenant, stranger] = [await signUp(), await signUp('Other')]

t.beforeEach(() => query('delete from rate_windows'))

const add = ({ companyId }: Tenant, events: AuditEvent[], actor = 'system') =>
  server.db.company(companyId, async trx => {
    for (const event of events) await audit(trx, { companyId, actor }, event)
  })

/** A company with an empty log. */
async function silent(): Promise<string> {
  const id = randomUUID()
  await query(`insert into companies (company_id, name, plan) values ($1, $2, 'enterprise')`, [
    id,
    `Silent ${id}`,
  ])
  return id
}

/** A company of its own, so that its entries can be counted. */
async function quiet(): Promise<Tenant> {
  const companyId = await silent()
  const { key } = await server.plugins.auth.createKey({ companyId, name: 'reader', scope: 'admin' })
  const none = { email: '', password: '', token: '' }
  return { ...none, companyId, key, ask: (method, path, payload) => ask(method, path, payload, key) }
}

const verify = async (who: Tenant) => (await who.ask('GET', `${LOG}/verify`)).body.data

t.test('an admin reads who did what to which, newest first', async t => {
  const made = await ask('POST', '/api/v1/api-keys', { name: 'ci', scope: 'read-only' }, tenant.token)
  const { id, display_key: shown } = made.body.data
  const asKey = await tenant.ask('DELETE', `/api/v1/api-keys/${id}`)
  t.equal(asKey.status, 200)
  const { status, body } = await ask('GET', `${LOG}?limit=2`, undefined, tenant.token)
  t.equal(status, 200)
  const [newest, older] = body.data
  t.match(newest, {
    id: older.id + 1,
    at: /Z$/,
    actor: /^key:/,
    actor_name: 'tests',
    action: 'api_key.revoked',
    target: { type: 'api_key', id },
    details: { name: 'ci', scope: 'read-only', display_key: shown },
    request_id: asKey.headers['x-request-id'],
    address: '127.0.0.1',
    hash: /^[0-9a-f]{64}$/,
  })
  t.match(older, { action: 'api_key.created', actor: /^user:/, actor_name: tenant.email })
  t.match(body.pagination, { limit: 2, has_more: true, next_before: older.id })
})

t.test('an entry names its target as the log first did, where it has no name itself', async t => {
  const about = (type: string, id: string) => ({ type, id })
  await add(tenant, [
    { action: 'thing.created', target: about('thing', 'named'), details: { name: 'orders' } },
    { action: 'thing.tested', target: about('thing', 'named') },
    { action: 'watch.created', target: about('watch', 'named'), details: { name: { from: 1, to: 2 } } },
    { action: 'thing.tested', target: about('thing', 'nameless') },
  ])
  await add(stranger, [
    { action: 'thing.created', target: about('thing', 'nameless'), details: { name: 'theirs' } },
  ])
  const { data } = (await ask('GET', `${LOG}?limit=4`, undefined, tenant.token)).body
  t.strictSame(
    (data as { target: { name: string | null } }[]).map(({ target }) => target.name),
    [null, 'orders', 'orders', 'orders'],
  )
})

t.test('only admins read it, and only their own', async t => {
  for (const path of [LOG, `${LOG}/verify`]) {
    t.equal((await ask('GET', path)).status, 401)
    for (const scope of ['read-only', 'read-write'] as const) {
      const { key } = await server.plugins.auth.createKey({ companyId: tenant.companyId, name: scope, scope })
      t.match((await ask('GET', path, undefined, key)).body.error, { details: { required_scope: 'admin' } })
    }
  }
  await add(tenant, [{ action: 'thing.done', target: { type: 'thing', id: 'ours' } }])
  t.strictSame((await stranger.ask('GET', `${LOG}?target_id=ours`)).body.data, [])
  t.equal((await tenant.ask('GET', `${LOG}?target_id=ours`)).body.data.length, 1)
})

t.test('it is filtered and read page by page', async t => {
  const who = await quiet()
  const target = (type: string, id: string) => ({ target: { type, id } })
  await add(who, [
    { action: 'source.created', ...target('source', 'a') },
    { action: 'source.updated', ...target('source', 'a') },
    { action: 'source.updated', ...target('source', 'b') },
  ])
  await query('select pg_sleep(0.01)')
  const between = new Date().toISOString()
  await add(who, [{ action: 'rule.created', ...target('rule', 'a') }], 'cli')
  const actions = async (filter: string) =>
    (await who.ask('GET', `${LOG}?${filter}`)).body.data.map(({ action }: { action: string }) => action)

  t.strictSame(await actions('action=source.updated'), ['source.updated', 'source.updated'])
  t.strictSame(await actions('target_type=source&target_id=b'), ['source.updated'])
  t.strictSame(await actions('target_type=rule'), ['rule.created'])
  t.strictSame(await actions('target_id=a'), ['rule.created', 'source.updated', 'source.created'])
  t.strictSame(await actions('actor=system&action=source.created'), ['source.created'])
  t.strictSame(await actions(`from=${between}`), ['rule.created'])
  t.strictSame(await actions(`to=${between}&target_type=source`), [
    'source.updated',
    'source.updated',
    'source.created',
  ])
  t.strictSame(await actions('from=2100-01-01T00:00:00Z'), [])
  t.strictSame(await actions('to=2001-01-01T00:00:00Z'), [])

  const seen: number[] = []
  let page = (await who.ask('GET', `${LOG}?limit=2`)).body
  for (;;) {
    seen.push(...page.data.map(({ id }: { id: number }) => id))
    if (!page.pagination.has_more) break
    // What comes meanwhile does not move the pages.
    await add(who, [{ action: 'thing.done' }])
    page = (await who.ask('GET', `${LOG}?limit=2&before=${page.pagination.next_before}`)).body
  }
  t.strictSame(seen, [5, 4, 3, 2, 1])
  for (const bad of ['limit=0', 'limit=501', 'before=x', 'from=soon', 'offset=1'])
    t.equal((await who.ask('GET', `${LOG}?${bad}`)).status, 422, bad)
})

t.test('a page of a long log is read by an index, whatever is asked for', async t => {
  const who = await quiet()
  await server.db.company(who.companyId, trx =>
    trx.raw(
      `select audit_append(?, 'user:' || gen_random_uuid(), 'source.updated', 'source', (n % 100)::text, '{}', null, null)
       from generate_series(1, 3000) n`,
      [who.companyId],
    ),
  )
  await query('analyze audit_log')
  const all = `company_id = '${who.companyId}'`
  for (const condition of [
    'sequence < 1500',
    `action = 'source.updated'`,
    `actor = 'cli'`,
    `target_type = 'rule'`,
    `target_id = '7'`,
    `sequence <= (select sequence from audit_log where ${all} and at <= now() order by at desc, sequence desc limit 1)`,
  ]) {
    const plan = await query(
      `explain select * from audit_log where ${all} and ${condition} order by sequence desc limit 50`,
    )
    t.notMatch(JSON.stringify(plan), /Seq Scan|"Sort /, condition)
  }
})

t.test('a whole log is called whole', async t => {
  const who = await quiet()
  await add(who, [{ action: 'thing.done', details: { ä: ['ü', 1.5, null] } }, { action: 'thing.done' }])
  const [{ hash }] = (await who.ask('GET', LOG)).body.data
  t.match(await verify(who), {
    is_whole: true,
    entries: 3,
    broken_at: null,
    problem: null,
    head_hash: hash,
    head_id: 3,
  })
  t.match(await server.plugins.auth.verifyAudit(who.companyId), { is_whole: true })
  const id = await silent()
  t.match(await server.plugins.auth.verifyAudit(id), { is_whole: true, entries: 0 })
})

const TAMPERINGS: [string, string, number, RegExp][] = [
  [
    'changing an entry',
    `update audit_log set action = 'thing.undone' where company_id = $1 and sequence = 3`,
    3,
    /changed/,
  ],
  [
    'changing details',
    `update audit_log set details = '{"x":1}' where company_id = $1 and sequence = 2`,
    2,
    /changed/,
  ],
  [
    'moving it in time',
    `update audit_log set at = at - interval '1 hour' where company_id = $1 and sequence = 4`,
    4,
    /changed/,
  ],
  ['leaving one out', 'delete from audit_log where company_id = $1 and sequence = 3', 3, /missing/],
  ['cutting off the end', 'delete from audit_log where company_id = $1 and sequence > 3', 4, /missing/],
  ['leaving out the beginning', 'delete from audit_log where company_id = $1 and sequence < 3', 1, /missing/],
  [
    'changing an entry and its own hash',
    `with made as (select l.sequence, audit_hash((l.company_id, l.sequence, l.at, l.actor, 'thing.undone', l.target_type,
       l.target_id, l.details, l.request_id, l.address, l.previous_hash, l.hash)::audit_log) as hash
       from audit_log l where company_id = $1 and sequence = 3)
     update audit_log l set action = 'thing.undone', hash = made.hash from made
     where company_id = $1 and l.sequence = made.sequence`,
    4,
    /follow/,
  ],
  [
    'cutting off the end and the head with it',
    `with cut as (delete from audit_log where company_id = $1 and sequence = 5)
     update audit_heads set sequence = 4 where company_id = $1`,
    5,
    /ends/,
  ],
  [
    'adding one past the end',
    `insert into audit_log select company_id, 9, at, actor, action, target_type, target_id, details, request_id, address,
       previous_hash, hash from audit_log where company_id = $1 and sequence = 5`,
    6,
    /ends/,
  ],
  ['forgetting the end', 'delete from audit_heads where company_id = $1', 1, /ends/],
]

for (const [name, statement, at, problem] of TAMPERINGS) {
  t.test(`${name}, past the database's own guard, is found`, async t => {
    const who = await quiet()
    await add(who, Array(4).fill({ action: 'thing.done', target: { type: 'thing', id: '1' } }))
    t.match(await verify(who), { is_whole: true, entries: 5 })
    await query('set session_replication_role = replica')
    try {
      await query(statement, [who.companyId])
    } finally {
      await query('set session_replication_role = origin')
    }
    t.match(await verify(who), { is_whole: false, broken_at: at, problem })
  })
}

t.test('the owner of the database is held to it as well', async t => {
  for (const statement of [
    'update audit_log set actor = actor',
    'delete from audit_log',
    'truncate audit_log',
  ])
    await t.rejects(server.db.statement(statement), /is append-only/, statement)
  t.match(await verify(tenant), { is_whole: true })
})

t.test('changes by the command line are audited as those of the operator', async t => {
  const who = await quiet()
  const { auth } = server.plugins
  await auth.setPlan(who.companyId, 'growth')
  const { record } = await auth.createKey({ companyId: who.companyId, name: 'x', scope: 'read-only' })
  await auth.revokeKey(who.companyId, record.id)
  await auth.revokeKey(who.companyId, record.id)
  const { data } = (await who.ask('GET', `${LOG}?limit=3`)).body
  t.match(data, [
    { action: 'api_key.revoked', actor: 'cli', actor_name: null, address: null },
    { action: 'api_key.created' },
    { action: 'company.plan_changed', details: { from: 'enterprise', to: 'growth' } },
  ])
})
