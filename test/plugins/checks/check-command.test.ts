import t from 'tap'
import { CommandError, EXIT } from '../../../server/cli/command.ts'
import type { ServiceClient } from '../../../server/cli/client.ts'
import { waitForJob } from '../../../server/cli/client-job.ts'
import { judgeChecks, type PrintedChecks, type CheckFinding } from '../../../plugins/checks/check-command.ts'
import { checkJob } from '../../../plugins/checks/check-job.ts'
import { command as tidemark } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { logPostgresql } from '../../helpers/statement-log.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  `create table customers (id int primary key, email text)`,
  `create table orders (id int primary key, customer_id int, total int)`,
  `create table calm (id int primary key)`,
  `create table bare (id int primary key)`,
  `insert into customers values (1, 'ann@x.org'), (2, null), (3, 'eve@x.org')`,
  `insert into orders values (1, 1, 10), (2, 9, 20), (3, 2, -5)`,
  `insert into calm values (1)`,
])
await discover(world)
const { app, tenant, asset, source } = world
const sdk = '/api/v1/sdk'

async function make(path: string, body: object): Promise<string> {
  const made = await tenant.ask('POST', `${sdk}/${path}/${asset.id}`, body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.uuid ?? made.body.data.id
}
const rule = (table: string, column: string, more: object = {}) =>
  make('validity', { rule_type: 'NOT_NULL', table_path: table, column_name: column, ...more })

const emails = await rule('customers', 'email', { name: 'Emails', severity: 'warning' })
await rule('customers', 'id', { name: 'Ids' })
await rule('calm', 'id', { name: 'Calm ids' })
await make('metrics', { metric_type: 'row_count', table_path: 'orders', sensitivity: 3 })
const parents = await make('referential', {
  name: 'Parents',
  severity: 'critical',
  ...{ child_table_path: 'orders', child_column_name: 'customer_id' },
  ...{ parent_table_path: 'customers', parent_column_name: 'id' },
})
const paused = await rule('calm', 'id', { name: 'Paused' })
await tenant.ask('PATCH', `${sdk}/validity/${asset.id}/${paused}`, { is_active: false })

const named = (table: string) => `shop.${source.name}.public.${table}`
const afar = { TIDEMARK_URL: app.server.info.uri, TIDEMARK_API_KEY: tenant.key }
const near = { DATABASE_URL: String(app.server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }

const ways = [
  ['from afar', (...words: string[]) => tidemark(['check', ...words], afar)],
  [
    'on the database of the settings',
    (...words: string[]) => tidemark(['check', ...words, '--company', tenant.companyId], near),
  ],
] as const

for (const [where, check] of ways) {
  t.test(
    `${where}, all active checks of a source run, the worst first, and the exit code judges`,
    async t => {
      const { code, out, err } = await check('shop')
      t.match({ code, err }, { code: 1, err: '' })
      const lines = out.trimEnd().split('\n')
      t.match(lines[0], /^fail +critical +shop\.\S+\.public\.orders +Parents: 1 of 3 rows without a match$/)
      t.match(lines[1], /^fail +warning +\S+customers +Emails: 1 row without a value \(33 %\)$/)
      t.equal(lines.at(-1), 'fail: of 5 checks of shop 2 failed, 3 passed')
      t.match(out, /pass +shop\.\S+orders +row_count: 3 rows; still learning\n/)
      t.notMatch(out, /Paused/)
    },
  )

  t.test(`${where}, failures below --fail-on are printed and do not count`, async t => {
    t.match(await check('shop', '--fail-on', 'critical'), { code: 1 })
    const { code, out } = await check('shop', '--table', 'customers', '--fail-on', 'critical')
    t.equal(code, 0)
    t.match(
      out,
      `pass: of 2 checks of ${named('customers')} 1 failed, 1 passed; no failure is of severity critical`,
    )
    t.match(await check('shop', '--table', 'customers', '--fail-on', 'warning'), { code: 1 })
  })

  t.test(`${where}, a table is asked for by its own name, or by its path in the source`, async t => {
    const byName = await check(named('calm'))
    t.match(byName, { code: 0, out: `pass: of 1 checks of ${named('calm')} 1 passed`, err: '' })
    t.strictSame(await check(asset.id, '--table', 'public.calm'), byName)
  })

  t.test(`${where}, JSON holds the verdict with its findings`, async t => {
    const { code, out } = await check('shop', '--table', 'orders', '--json')
    t.equal(code, 1)
    t.match(JSON.parse(out), {
      status: 'fail',
      asset: named('orders'),
      ...{ tables: 1, checks: 2, passed: 1, failed: 1, errors: 0 },
      findings: [
        { id: parents, feature: 'referential', asset: named('orders'), status: 'fail', severity: 'critical' },
        { id: /^m_/, feature: 'metrics', status: 'pass' },
      ],
    })
  })

  t.test(`${where}, a check that cannot be requested has another exit code than one that fails`, async t => {
    t.match(await check('no.such.table.here'), { code: 3, out: '', err: /no such asset/ })
    t.match(await check('shpo'), { code: 3, out: '', err: /is not yours; did you mean `shop`\?\n$/ })
    t.match(await check('shop', '--table', 'nowhere'), {
      code: 2,
      out: '',
      err: /there is no table `nowhere`/,
    })
    t.match(await check(named('bare')), { code: 2, out: '', err: /no active checks: make a rule/ })
    t.match(await check('shop', '--fail-on', 'never'), { code: 2, out: '', err: /Allowed choices are info/ })
    await tenant.ask('PATCH', `${sdk}/assets/${asset.id}`, { is_active: false })
    t.match(await check('shop'), { code: 2, out: '', err: /switched off|paused/ })
    await tenant.ask('PATCH', `${sdk}/assets/${asset.id}`, { is_active: true })
  })

  t.test(`${where}, a check that cannot run is never a pass`, async t => {
    t.teardown(() => source.query('alter table gone rename to calm'))
    await source.query('alter table calm rename to gone')
    const { code, out } = await check(named('calm'))
    t.equal(code, 5)
    t.match(out, /^error +shop\.\S+calm +Calm ids: .*\nerror: of 1 checks of \S+calm 1 could not run\n$/s)
  })
}

t.test('all checks of a table are one scan, whatever their feature', async t => {
  const log = await logPostgresql(source)
  await tidemark(['check', named('orders')], afar)
  const { statements, sessions } = await log.take()
  t.equal(sessions.length, 1)
  // One for the checks that share a pass over the table, one for its parents.
  t.ok(statements.filter(({ text }) => /\borders\b/.test(text)).length <= 2, 'one pass and the join')
})

t.test('results are kept as those of any check', async t => {
  const { body } = await tenant.ask('GET', `${sdk}/validity/${asset.id}/${emails}/results?limit=1`)
  t.match(body.data.items, [{ status: 'fail', invalid_count: 1 }])
})

t.test('a wrong password is tried once, not for every table', async t => {
  t.teardown(async () => {
    await source.query(`alter role ${source.config.username} password '${source.config.password}'`)
    await tenant.ask('POST', `${sdk}/assets/${asset.id}/test-connection`)
  })
  await source.query(`alter role ${source.config.username} password 'another'`)
  const { code, out } = await tidemark(['check', 'shop', '--json'], afar)
  t.equal(code, 5)
  t.match(JSON.parse(out), { status: 'error', checks: 5, errors: 5 })
  t.match((await tenant.ask('GET', `${sdk}/assets/${asset.id}`)).body.data, { consecutive_failures: 1 })
})

t.test('a service that is away for a moment does not end the waiting for its job', async t => {
  const away = new CommandError('cannot be reached', EXIT.error, { isTransient: true })
  const answers = [away, { status: 'running' }, away, { status: 'completed', result: 1 }]
  const client = {
    request: async () => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return { body: { data: answer }, serverTime: new Date() }
    },
  } as ServiceClient
  const { signal } = new AbortController()
  t.match(await waitForJob(client, 'job', { what: 'The check', note: () => undefined }, signal), {
    result: 1,
  })
  answers.push(new CommandError('The key is not valid', EXIT.usage))
  await t.rejects(
    waitForJob(client, 'job', { what: 'The check', note: () => undefined }, signal),
    /not valid/,
  )
})

t.test('who waits for a job that no worker takes up learns why, once', async t => {
  const answers = ['pending', 'pending', 'pending', 'running', 'completed']
  const client = {
    request: async () => ({ body: { data: { status: answers.shift() } }, serverTime: new Date() }),
  } as unknown as ServiceClient
  const notes: string[] = []
  const progress = {
    what: 'The check of shop',
    note: (line: string) => void notes.push(line),
    noteAfterMs: 0,
  }
  await waitForJob(client, 'job', progress, new AbortController().signal)
  t.equal(notes.length, 1)
  t.match(notes[0], /The check of shop waits for a worker: .*ROLE all or worker.* --timeout/)
})

t.test('a read-only key is refused with the scope it needs', async t => {
  const made = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const settings = { ...afar, TIDEMARK_API_KEY: made.body.data.key as string }
  t.match(await tidemark(['check', 'shop'], settings), { code: 2, out: '', err: /scope read-write/ })
})

t.test('a job that was cancelled before its turn asks nothing of the source', async t => {
  const { server } = app
  const { run } = await server.db.company(tenant.companyId, async trx => {
    const run = await server.plugins.catalog.startRun(trx, {
      workflowName: 'asset_check',
      sourceId: asset.id,
      assetId: asset.id,
    })
    await trx.raw(`update runs set status = 'cancelled' where id = ?`, [run.id])
    const data = { company_id: tenant.companyId, source_id: asset.id, run_id: run.id }
    await server.jobs.send(checkJob, data, { trx, group: asset.id })
    return { run }
  })
  t.equal(await server.jobs.settled(checkJob, data => data.run_id === run.id), 'completed')
  t.match((await tenant.ask('GET', `${sdk}/jobs/${run.id}`)).body.data, { status: 'cancelled', result: null })
})

t.test('a source that is switched off before the turn of its check is said to be', async t => {
  const { server } = app
  const asked = await server.db.company(tenant.companyId, async trx => {
    const run = await server.plugins.catalog.startRun(trx, {
      workflowName: 'asset_check',
      sourceId: asset.id,
      assetId: asset.id,
    })
    const data = { company_id: tenant.companyId, source_id: asset.id, run_id: run.id }
    await trx.raw('update sources set is_active = false where id = ?', [asset.id])
    await server.jobs.send(checkJob, data, { trx, group: asset.id })
    return run.id
  })
  await server.jobs.settled(checkJob, data => data.run_id === asked)
  t.match((await tenant.ask('GET', `${sdk}/jobs/${asked}`)).body.data, {
    status: 'failed',
    error: { code: 'other', message: /shop is switched off: set its is_active to true/ },
  })
  await app.query('update sources set is_active = true where id = $1', [asset.id])
})

t.test('a failure is worth more than a check that could not run, and both more than a pass', t => {
  const finding = (status: CheckFinding['status'], severity: CheckFinding['severity']): CheckFinding => ({
    ...{ asset: 'a.b.c.d', name: 'n', message: 'm' },
    status,
    severity,
  })
  const found = (...findings: CheckFinding[]): PrintedChecks => ({
    asset: 'a',
    checks: findings.length,
    passed: findings.filter(({ status }) => status === 'pass').length,
    failed: findings.filter(({ status }) => status === 'fail').length,
    errors: findings.filter(({ status }) => status === 'error').length,
    findings,
  })
  const pass = finding('pass', 'critical')
  const error = finding('error', 'info')
  const minor = finding('fail', 'info')
  const status = (failOn: CheckFinding['severity'], ...findings: CheckFinding[]) =>
    judgeChecks(found(...findings), failOn).status
  t.equal(status('info', pass), 'pass')
  t.equal(status('info', pass, finding('warning', 'critical')), 'pass')
  t.equal(status('info', pass, error), 'error')
  t.equal(status('info', error, minor), 'fail')
  t.equal(status('warning', error, minor), 'error')
  t.equal(status('warning', minor), 'pass')
  t.equal(status('info'), 'error', 'what was switched off since it was asked for is no pass')
  t.end()
})
