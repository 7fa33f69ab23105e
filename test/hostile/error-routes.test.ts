import t, { type Test } from 'tap'
import { profileJob } from '../../plugins/profiles/job.ts'
import { addCredential } from '../helpers/log-watch.ts'
import { ATTACKS, attackSelect, SECRET_PATTERN, SECRETS, SETUP } from '../helpers/error-attacks.ts'
import { mariadbAbsent, startShop } from '../helpers/mariadb.ts'
import type { Reply } from '../helpers/server.ts'
import { startSource } from '../helpers/source.ts'
import { discover, makeStage } from '../helpers/world.ts'

// The log of the server is searched for them at its end, in every form.
for (const secret of [SECRETS.long, SECRETS.low]) addCredential(secret, 'a value of a row')

const stage = await makeStage(t)

interface Attacked {
  source_type: 'postgresql' | 'mysql'
  connection_config: object
  /** The path of the table. */
  people: string
  view: string
}

const ROWS = Object.entries(SECRETS)
  .map(([kind, secret], index) => `(${index + 1}, '${kind}', '${secret}')`)
  .join(', ')

/** A table of secrets, and a view whose SELECT raises one. */
async function makePeople(query: (text: string) => Promise<unknown>, dialect: 'postgresql' | 'mysql') {
  await query('create table people (id int primary key, kind varchar(20), secret varchar(200))')
  await query(`insert into people values ${ROWS}`)
  for (const statement of SETUP[dialect] ?? []) await query(statement)
}

/** Goes every way by which SQL is asked about, run, recorded and shown, and looks for a value of a row in all of them. */
async function extract(t: Test, { people, view, ...source }: Attacked) {
  const { app, tenant } = stage
  const name = `shop-${source.source_type}`
  const replies: [what: string, reply: Reply][] = []
  const ask = async (method: string, path: string, payload?: unknown) => {
    await app.query('delete from rate_windows')
    const reply = await tenant.ask(method, `/api/v1/sdk${path}`, payload)
    replies.push([`${method} ${path} ${JSON.stringify(payload ?? null).slice(0, 300)}`, reply])
    return reply
  }
  const made = await ask('POST', '/assets', { name, ...source })
  t.equal(made.status, 201, JSON.stringify(made.body))
  const asset = made.body.data as { id: string }
  const found = await discover({ app, tenant, asset })
  t.equal(found.status, 'completed', JSON.stringify(found))
  const tag = { asset_id: asset.id, name: 'pii', object_path: `${people}.secret`, object_type: 'column' }
  t.equal((await ask('POST', '/tags', tag)).status, 201)

  // Each attack as it is asked about, made and run.
  const attacks = ATTACKS[source.source_type]
  const texts = attacks.flatMap((condition, index) => (index % 2 ? [condition] : [attackSelect(condition)]))
  const rules = `/validity/${asset.id}`
  const rule = (sql_expression: string) => ({
    ...{ table_path: people, rule_type: 'CUSTOM_SQL', rule_config: { sql_expression } },
  })
  for (const text of texts) {
    await ask('POST', '/validity/dry-run', { asset_id: asset.id, ...rule(text) })
    await ask('POST', rules, rule(text))
  }
  await ask('POST', `${rules}/bulk`, { rules: texts.slice(0, 20).map(text => rule(text)) })
  for (const metric of ['mean', 'max_value', 'percentile', 'distinct_count']) {
    const config = metric === 'percentile' ? { percentile: 50 } : {}
    const body = { table_path: view, metric_type: metric, column_name: 'n', ...config }
    await ask('POST', '/metrics/dry-run', { asset_id: asset.id, ...body })
    await ask('POST', `/metrics/${asset.id}`, body)
  }
  for (const rule_type of ['NOT_NULL', 'UNIQUE'])
    await ask('POST', rules, { table_path: view, rule_type, column_name: 'n', rule_config: {} })
  await ask('POST', rules, {
    ...{ table_path: people, rule_type: 'REGEX', column_name: 'kind', rule_config: { pattern: '(' } },
  })
  await ask('POST', '/referential', {
    ...{ asset_id: asset.id, child_table_path: view, child_column_name: 'n' },
    ...{ parent_table_path: people, parent_column_name: 'id' },
  })
  for (const [index, condition] of attacks.entries()) {
    const expression = `case when ${condition} then now() end`
    const schedule = {
      ...{ asset_id: asset.id, table_path: index % 2 ? people : view, freshness_expression: expression },
      ...{ monitoring_mode: 'explicit', sla_threshold: '24h' },
    }
    await ask('POST', '/freshness/schedules', schedule)
  }

  // The same from files.
  const quoted = (text: string) => JSON.stringify(text)
  const checks = texts
    .slice(0, 25)
    .map(
      (text, index) =>
        `        - {key: k${index}, rule_type: CUSTOM_SQL, rule_config: {sql_expression: ${quoted(text)}}}`,
    )
  const content = `version: 1\nsource: ${name}\ntables:\n  ${people}:\n    checks:\n      validity:\n${checks.join('\n')}\n`
  for (const what of ['plan', 'apply'])
    await ask('POST', `/monitors/${asset.id}/${what}`, { files: [{ name: 'shop.yaml', content }] })
  const quality = texts.slice(0, 40).map((text, index) => ({
    ...{ name: `q${index}`, type: 'sql', mustBe: 0 },
    query: text.startsWith('select') ? text : `select count(*) from people where ${text}`,
  }))
  const contract = {
    ...{ apiVersion: 'v3.1.0', kind: 'DataContract', id: name, name, version: '1.0.0', status: 'active' },
    schema: [{ name: 'people', physicalName: people, quality, properties: [{ name: 'id' }] }],
  }
  await ask('PUT', `/contracts/${name}`, { contract, source: name })
  await ask('POST', `/contracts/${name}/test`)
  await ask('GET', `/contracts/${name}`)

  // What runs by itself.
  const tables = await app.query('select id from tables where source_id = $1', [asset.id])
  for (const { id } of tables)
    await app.server.plugins.checks
      .runTable(tenant.companyId, String(id), 'active', {})
      .catch(() => undefined)
  await app.server.plugins.freshness
    .checkSource({ companyId: tenant.companyId, sourceId: asset.id })
    .catch(() => undefined)
  const views = await app.query('select id from tables where source_id = $1 and name = $2', [
    ...[asset.id, view.split('.').at(-1)],
  ])
  for (const id of [asset.id, ...views.map(each => String(each.id))]) {
    const asked = await ask('POST', `/assets/${id}/profile`)
    await app.server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
    const { body } = await ask('GET', `/jobs/${asked.body.data.job_id}`)
    const message = body.data.error?.message ?? body.data.result?.findings[0]?.message
    t.match(
      message,
      /^(A value cannot be converted|A function that the SQL calls raised an error)/,
      'the profile',
    )
  }
  for (const path of [
    rules,
    `/metrics/${asset.id}`,
    '/freshness/schedules',
    '/operations/dead-jobs',
    '/alerts',
  ]) {
    const { body } = await ask('GET', path)
    for (const { id, uuid = id } of (Array.isArray(body.data) ? body.data : []) as {
      id: string
      uuid?: string
    }[])
      if (path === rules || path.startsWith('/metrics')) await ask('GET', `${path}/${uuid}/results`)
  }

  t.ok(replies.length > 100, `${replies.length} replies`)
  for (const [what, { status, body }] of replies) {
    t.ok(status < 500, `${status} ${what}`)
    t.notMatch(JSON.stringify(body), SECRET_PATTERN, what)
  }
  await searchDatabase(t)
}

/** Looks into every row of every table of the product's own database, jobs and dead letters among them. */
async function searchDatabase(t: Test): Promise<void> {
  const tables = await stage.app.query(
    `select format('%I.%I', table_schema, table_name) as path from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  t.ok(
    tables.some(({ path }) => path === 'pgboss.job_common' || path === 'pgboss.job'),
    'jobs are searched',
  )
  for (const { path } of tables) {
    const rows = await stage.app.query(
      `select cast(t as text) as row from ${String(path)} t where cast(t as text) ~* $1 limit 3`,
      [SECRET_PATTERN.source],
    )
    t.strictSame(rows, [], `${String(path)} holds no value of a row`)
  }
}

t.test('PostgreSQL: no way to ask or to measure shows a value', async t => {
  const source = await startSource(t)
  await makePeople(text => source.query(text), 'postgresql')
  await source.query('create view broken as select id, id as n from people where cast(secret as integer) > 0')
  await source.query(`create view raising as select id from people where spill(secret, 'P0001') > 0`)
  await extract(t, {
    ...{ source_type: 'postgresql', connection_config: source.config },
    ...{ people: 'public.people', view: 'public.broken' },
  })
})

t.test('MariaDB: no way to ask or to measure shows a value', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await makePeople(text => shop.query(text), 'mysql')
  for (const name of ['spill', 'spill_column', 'spill_syntax', 'peek'])
    await shop.query(`grant execute on function ${shop.name}.${name} to ${shop.config.username}`)
  await shop.query('create view broken as select id, id as n from people where spill(secret) > 0')
  await extract(t, {
    ...{ source_type: 'mysql', connection_config: shop.config },
    ...{ people: 'people', view: 'broken' },
  })
})
