import t from 'tap'
import { monitorsOf, startMonitors } from './stages.ts'

const { server, signUp, query, discover, shop } = await startMonitors(t)
const tenant = await signUp()
const other = await signUp('Other')

/** Makes a check of each kind by hand, and gives the ids. */
async function makeChecks(source: string): Promise<Record<string, string>> {
  const make = async (path: string, body: object) => {
    const made = await tenant.ask('POST', `/api/v1/sdk/${path}`, body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return (made.body.data.uuid ?? made.body.data.id) as string
  }
  return {
    rule: await make(`validity/${source}`, {
      rule_type: 'ENUM',
      table_path: 'public.orders',
      column_name: 'status',
      rule_config: { allowed_values: ['new', 'paid'] },
      severity: 'critical',
    }),
    sql: await make(`validity/${source}`, {
      rule_type: 'CUSTOM_SQL',
      table_path: 'orders',
      rule_config: { sql_expression: 'total >= 0' },
      name: 'Totals are positive',
    }),
    metric: await make(`metrics/${source}`, {
      metric_type: 'percentile',
      table_path: 'public.orders',
      column_name: 'total',
      percentile_value: 95,
      group_by_columns: ['status'],
      sensitivity: 3,
    }),
    reference: await make(`referential/${source}`, {
      child_table_path: 'public.orders',
      child_column_name: 'customer_id',
      parent_table_path: 'public.customers',
      parent_column_name: 'id',
      max_orphan_percent: 0.5,
    }),
    schedule: await make('freshness/schedules', {
      asset_id: source,
      table_path: 'public.orders',
      sla_threshold: '24h',
    }),
  }
}

const countChecks = async (source: string) => {
  const [found] = await query('select count(*) as n from checks where source_id = $1', [source])
  return Number(found?.n)
}

t.test('an export has all checks, without defaults, and applying it here only records keys', async t => {
  const { ids, name, database } = await shop(t, [tenant, other])
  const [mine = '', theirs = ''] = ids
  await makeChecks(mine)
  const own = monitorsOf(tenant, mine)
  const document = await own.export()
  const path = `${database.name}.public.orders`
  t.strictSame(document, {
    version: 1,
    source: name,
    tables: {
      [path]: {
        checks: {
          validity: [
            {
              key: 'orders.custom_sql',
              rule_type: 'CUSTOM_SQL',
              rule_config: { sql_expression: 'total >= 0' },
              name: 'Totals are positive',
            },
            {
              key: 'orders.status.enum',
              rule_type: 'ENUM',
              column_name: 'status',
              rule_config: { allowed_values: ['new', 'paid'] },
              severity: 'critical',
            },
          ],
          metric: [
            {
              key: 'orders.total.percentile.status',
              metric_type: 'percentile',
              column_name: 'total',
              percentile_value: 95,
              group_by_columns: ['status'],
              sensitivity: 3,
            },
          ],
          referential: [
            {
              key: 'orders.customer_id.references',
              child_column_name: 'customer_id',
              parent_table_path: `${database.name}.public.customers`,
              parent_column_name: 'id',
              max_orphan_percent: 0.5,
            },
          ],
          freshness: [{ key: 'orders.freshness', sla_threshold: '24h', freshness_column: 'updated_at' }],
        },
      },
    },
  })
  const planned = await own.plan(document)
  t.match(planned.body.data, { create: 0, change: 0, replace: 0, delete: 0, adopt: 5, unchanged: 0 })
  t.equal((await own.apply(document, { prune: true })).status, 200)
  t.match((await own.plan(document)).body.data, { adopt: 0, unchanged: 5, changes: [], drift: [], left: [] })
  t.equal(await countChecks(mine), 5, 'nothing was created')

  const stranger = monitorsOf(other, theirs)
  t.match((await stranger.apply(document)).body.data, { create: 5 })
  t.strictSame(await stranger.export(), document, 'what is applied elsewhere is exported as it was')
  t.match(
    (await stranger.apply(document)).body.data,
    { create: 0, unchanged: 5, changes: [] },
    'twice is once',
  )
  t.equal((await monitorsOf(other, mine).plan(document)).status, 404, 'another company is refused')
  await query('delete from rate_windows')
})

t.test('a file is YAML, and its export too', async t => {
  const { ids } = await shop(t, [tenant])
  const [id = ''] = ids
  await makeChecks(id)
  const text = await server.inject({
    url: `/api/v1/sdk/monitors/${id}`,
    headers: { authorization: `Bearer ${tenant.key}`, accept: 'application/yaml' },
  })
  t.match(text.headers['content-type'], 'application/yaml')
  t.match(
    text.payload,
    /^# yaml-language-server: \$schema=http.*\/api\/public\/schemas\/monitors\.json\nversion: 1\n/,
  )
  t.match((await monitorsOf(tenant, id).apply(text.payload)).body.data, { adopt: 5 })
  const schema = await server.inject({ url: '/api/public/schemas/monitors.json' })
  t.match(JSON.parse(schema.payload), { title: 'Tidemark monitors' })
})

t.test('a plan says field by field what changes, and an apply does it', async t => {
  const { ids, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const own = monitorsOf(tenant, id)
  const file = (severity: string, values: string, more = '') => `version: 1
source: ${name}
tables:
  public.orders:
    checks:
      validity:
        - key: status
          rule_type: ENUM
          column_name: status
          severity: ${severity}
          rule_config: {allowed_values: [${values}]}
${more}`
  const extra = `        - key: not-null
          rule_type: NOT_NULL
          column_name: total
          is_active: false
`
  t.match((await own.apply(file('info', 'a', extra))).body.data, { create: 2 })
  const before = await query('select id, uuid, is_active from checks where source_id = $1 order by id', [id])
  t.strictSame(
    before.map(rule => rule.is_active),
    [true, false],
  )

  const changed = (await own.plan(file('critical', 'a'))).body.data
  t.match(changed, {
    change: 1,
    replace: 0,
    changes: [
      {
        action: 'change',
        key: 'status',
        line: 7,
        fields: [{ field: 'severity', old: 'info', new: 'critical' }],
      },
    ],
    left: [{ key: 'not-null', file: 'monitors/shop.yaml' }],
  })
  await own.apply(file('critical', 'a'))
  t.equal(await countChecks(id), 2, 'what a file leaves out stays without prune')
  const pruned = (await own.apply(file('critical', 'a'), { prune: true })).body.data
  t.match(pruned, { delete: 1, unchanged: 1, changes: [{ action: 'delete', key: 'not-null' }] })
  t.equal(await countChecks(id), 1)

  const replaced = (await own.apply(file('critical', 'a, b'))).body.data
  t.match(replaced, { replace: 1, changes: [{ action: 'replace', fields: [{ field: 'rule_config' }] }] })
  const after = await query('select uuid, severity from checks where source_id = $1', [id])
  t.match(after, [{ severity: 'critical' }])
  t.not(after[0]?.uuid, before[0]?.uuid)

  const log = await query(
    `select action, details from audit_log where company_id = $1 and (target_id = $2 or action like 'rule.%')
     order by sequence desc limit 3`,
    [tenant.companyId, id],
  )
  t.match(log, [
    { action: 'monitors.applied', details: { replaced: 1 } },
    { action: 'rule.created', details: { rule_type: 'ENUM' } },
    { action: 'rule.removed' },
  ])
})

t.test('what is changed on the server shows as drift, and the check names its file', async t => {
  const { ids } = await shop(t, [tenant])
  const [id = ''] = ids
  const made = await makeChecks(id)
  const own = monitorsOf(tenant, id)
  const document = await own.export()
  await own.apply(document)
  const paths = [
    [`validity/${id}/${made.rule}`, 'orders.status.enum', { severity: 'info' }],
    [`metrics/${id}/${made.metric}`, 'orders.total.percentile.status', { sensitivity: 4 }],
    [`referential/${id}/${made.reference}`, 'orders.customer_id.references', { severity: 'info' }],
    [`freshness/schedules/${made.schedule}`, 'orders.freshness', { sla_threshold: '48h' }],
  ] as const
  for (const [path, key, patch] of paths) {
    const { body } = await tenant.ask('PATCH', `/api/v1/sdk/${path}`, patch)
    t.match(body.data, { managed_by: { file: 'monitors/shop.yaml', key } }, path)
    t.match(body.data.warnings, [/monitors\/shop\.yaml manages this check/], path)
    if (path.startsWith('freshness')) continue
    const shown = await tenant.ask('GET', `/api/v1/sdk/${path}`)
    t.match(shown.body.data, { managed_by: { key } })
  }
  const listed = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${id}`)
  t.match(listed.body.data.data, [{ managed_by: { key: 'orders.freshness' } }])
  const removed = await tenant.ask('DELETE', `/api/v1/sdk/validity/${id}/${made.sql}`)
  t.match(removed.body.data, { managed_by: { key: 'orders.custom_sql' }, warnings: [/creates it again/] })

  const { drift, change, create } = (await own.plan(document)).body.data
  t.match({ change, create }, { change: 4, create: 1 })
  t.strictSame(
    (drift as { key: string; is_removed: boolean; fields: unknown[] }[]).map(each => [
      each.key,
      each.is_removed || each.fields,
    ]),
    [
      ['orders.custom_sql', true],
      ['orders.customer_id.references', [{ field: 'severity', old: 'warning', new: 'info' }]],
      ['orders.freshness', [{ field: 'sla_threshold', old: '24h', new: '48h' }]],
      ['orders.status.enum', [{ field: 'severity', old: 'critical', new: 'info' }]],
      ['orders.total.percentile.status', [{ field: 'sensitivity', old: 3, new: 4 }]],
    ],
  )
  await own.apply(document)
  t.match((await own.plan(document)).body.data, { unchanged: 5, drift: [] })
  t.strictSame(await own.export(), document)
})

t.test('a file may be changed between export and first apply, and keys may be renamed', async t => {
  const { ids } = await shop(t, [tenant])
  const [id = ''] = ids
  await makeChecks(id)
  const own = monitorsOf(tenant, id)
  const text = JSON.stringify(await own.export()).replace('critical', 'info')
  t.match((await own.apply(text)).body.data, { create: 0, change: 1, adopt: 4 })
  const renamed = text.replace('orders.status.enum', 'known-status')
  t.match((await own.apply(renamed, { prune: true })).body.data, {
    create: 0,
    adopt: 1,
    delete: 0,
    unchanged: 4,
  })
  t.equal(await countChecks(id), 5)
})

t.test('faulty files are refused as a whole, with the place of each fault', async t => {
  const { ids, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const own = monitorsOf(tenant, id)
  const refused = await own.apply(`version: 1
source: ${name}
tables:
  public.order:
    checks: {validity: [{key: a, rule_type: NOT_NULL, column_name: id}]}
  public.orders:
    checks:
      validity:
        - key: good
          rule_type: NOT_NULL
          column_name: id
        - key: b
          rule_type: NOT_NUL
          column_name: id
        - key: c
          rule_type: ENUM
          column_name: stats
          rule_config: {allowed_values: []}
        - key: d
          rule_type: CUSTOM_SQL
          severity: high
          rule_config: {sql_expression: total > 0}
`)
  t.equal(refused.status, 400)
  const errors = refused.body.error.details.errors as { field: string; error: string }[]
  const said = errors.map(({ error }) => error)
  t.match(said, [
    /^monitors\/shop\.yaml:4:3: there is no table `public\.order` .*did you mean/,
    /^monitors\/shop\.yaml:13:11: .*NOT_NUL.*did you mean `NOT_NULL`/,
    /^monitors\/shop\.yaml:17:11: .*stats/,
    /^monitors\/shop\.yaml:21:11: severity must be/,
  ])
  t.equal(await countChecks(id), 0, 'nothing is applied')
  const sql = await own.plan(`version: 1
source: ${name}
tables:
  orders:
    checks:
      validity:
        - key: d
          rule_type: CUSTOM_SQL
          rule_config: {sql_expression: totl > 0}
      freshness:
        - key: f
          freshness_expression: nothing + 1
          sla_threshold: 24h
`)
  t.match(
    (sql.body.error.details.errors as { error: string }[]).map(({ error }) => error),
    [/^monitors\/shop\.yaml:9:\d+: .*totl/, /^monitors\/shop\.yaml:12:11: .*nothing/],
    'the engine is asked about what is new',
  )
  const wrong = await own.plan('version: 1\nsource: elsewhere\ntables: {}\n')
  t.match(wrong.body.error.message, 'monitors/shop.yaml:2:1: the file is for the source elsewhere')
  t.match((await own.plan('version: 1\nsource: [')).body.error.message, /monitors\/shop\.yaml:2:\d+: /)
})

t.test('a table that is gone stops no other check', async t => {
  const { ids, database, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const own = monitorsOf(tenant, id)
  const check = (key: string) => ({ checks: { metric: [{ key, metric_type: 'row_count' }] } })
  const document = { version: 1, source: name, tables: { orders: check('one'), events: check('two') } }
  await own.apply(document)
  await database.query('drop table events')
  await discover(tenant, id)
  const planned = await own.plan({ ...document, tables: { ...document.tables, customers: check('three') } })
  t.match(planned.body.data, { create: 1, unchanged: 2 })
})
