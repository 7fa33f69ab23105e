import t from 'tap'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { untilBlocked } from '../../helpers/lock-waits.ts'
import { startProxy } from '../../helpers/proxy.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const ORDERS = [
  `create table orders (id int primary key, email text, status text, total numeric(10,2), shipped text)`,
  `insert into orders values
     (1, 'a@x.org', 'new', 10, '2024-01-31'), (2, null, 'paid', -5, '2024-02-30'), (3, 'bad', 'paid', 20, null),
     (4, 'a@x.org', 'odd', 30, '2024-03-01')`,
]

/** A discovered world with a way to make rules. */
async function ordersWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, ORDERS)
  await discover(world)
  const base = `/api/v1/sdk/validity/${world.asset.id}`
  const make = (body: object) => world.tenant.ask('POST', base, { table_path: 'orders', ...body })
  return { ...world, base, make }
}

t.test('a rule of each kind counts its invalid rows and shows samples by primary key', async t => {
  const { tenant, base, make } = await ordersWorld(t)
  const kinds: [object, number, unknown[]][] = [
    [{ rule_type: 'NOT_NULL', column_name: 'email' }, 1, [{ row_id: 2, value: null }]],
    [
      { rule_type: 'UNIQUE', column_name: 'email', treat_null_as_valid: true },
      2,
      [{ row_id: 1 }, { row_id: 4 }],
    ],
    [
      { rule_type: 'REGEX', column_name: 'email', rule_config: { pattern: '@' }, treat_null_as_valid: true },
      1,
      [{ row_id: 3, value: 'bad' }],
    ],
    [
      { rule_type: 'RANGE', column_name: 'total', rule_config: { min: 0, max: 25 } },
      2,
      [{ row_id: 2 }, { row_id: 4 }],
    ],
    [
      { rule_type: 'ENUM', column_name: 'status', rule_config: { allowed_values: ['new', 'paid'] } },
      1,
      [{ row_id: 4 }],
    ],
    [
      { rule_type: 'DATE_FORMAT', column_name: 'shipped', rule_config: { format: '%Y-%m-%d' } },
      2,
      [
        { row_id: 2, value: '2024-02-30' },
        { row_id: 3, value: null },
      ],
    ],
    [{ rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'total > 0' } }, 1, [{ row_id: 2 }]],
    [
      { rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'select * from orders where total < 0' } },
      1,
      [{}],
    ],
  ]
  for (const [body, invalid, samples] of kinds) {
    const made = await make(body)
    t.equal(made.status, 201, JSON.stringify(made.body))
    const { body: checked } = await tenant.ask('POST', `${base}/${made.body.data.uuid}/check`, {
      sample_limit: 5,
    })
    const { data } = checked
    t.match(
      data,
      { status: 'fail', total_rows: 4, invalid_count: invalid, invalid_percent: invalid * 25 },
      JSON.stringify(body),
    )
    t.match(
      data.invalid_samples.samples.toSorted(
        (a: { row_id: number }, b: { row_id: number }) => a.row_id - b.row_id,
      ),
      samples,
    )
  }
  t.match((await tenant.ask('GET', `${base}/summary`)).body.data, {
    total_rules: 8,
    passing: 0,
    failing: 8,
    error: 0,
  })
})

t.test('a failing rule raises one alert, counts repeats on it, and a pass resolves it', async t => {
  const { tenant, base, make, app, source } = await ordersWorld(t)
  const made = await make({ rule_type: 'NOT_NULL', column_name: 'email', severity: 'critical' })
  const check = () => tenant.ask('POST', `${base}/${made.body.data.uuid}/check`)
  await check()
  await check()
  const alerts = () =>
    app.query(`select status, occurrences, severity from alerts where kind = 'validity_failure'`)
  t.match(await alerts(), [{ status: 'triggered', occurrences: 2, severity: 'critical' }])
  await source.query(`update orders set email = 'b@x.org' where email is null`)
  t.match((await check()).body.data, { status: 'pass', invalid_count: 0, invalid_samples: { samples: [] } })
  t.match(await alerts(), [{ status: 'resolved' }])
  const { body } = await tenant.ask('GET', `${base}/${made.body.data.uuid}/results?limit=2`)
  t.match(body.pagination, { total: 3, has_more: true })
  t.same(
    body.data.items.map((item: { status: string }) => item.status),
    ['pass', 'fail'],
  )
  t.notOk('invalid_samples' in body.data.items[0], 'samples are not kept')
})

t.test('a threshold is the invalid percentage above which a rule fails', async t => {
  const { tenant, base, make } = await ordersWorld(t)
  const at = await make({ rule_type: 'NOT_NULL', column_name: 'email', alert_threshold_percent: 25 })
  t.equal((await tenant.ask('POST', `${base}/${at.body.data.uuid}/check`)).body.data.status, 'pass')
  await tenant.ask('PATCH', `${base}/${at.body.data.uuid}`, { alert_threshold_percent: 24.9 })
  t.equal((await tenant.ask('POST', `${base}/${at.body.data.uuid}/check`)).body.data.status, 'fail')
})

t.test('the reply to a new rule holds all that was set', async t => {
  const { tenant, base, make } = await ordersWorld(t)
  const given = {
    rule_type: 'RANGE',
    column_name: 'total',
    rule_config: { min: 0 },
    name: 'Totals',
    description: 'Why',
    error_message: 'Below zero',
    severity: 'critical',
    alert_threshold_percent: 5,
    treat_null_as_valid: true,
    check_interval: 'hourly',
  }
  const made = await make(given)
  t.match(made, { status: 201, body: { data: given } })
  t.same((await tenant.ask('GET', `${base}/${made.body.data.uuid}`)).body, made.body)
})

t.test('a measure that fails is an error with a sentence, never a pass', async t => {
  const { tenant, base, make, source, asset } = await ordersWorld(t)
  const made = await make({ rule_type: 'NOT_NULL', column_name: 'email' })
  const plan = { asset_id: asset.id, table_path: 'orders', rule_type: 'NOT_NULL', column_name: 'email' }
  await source.query('alter table orders drop column email')
  const { body } = await tenant.ask('POST', `${base}/${made.body.data.uuid}/check`)
  const failed = { status: 'error', total_rows: 0, invalid_count: 0, invalid_percent: 0 }
  t.match(body.data, failed)
  const results = await tenant.ask('GET', `${base}/${made.body.data.uuid}/results`)
  t.match(results.body.data.items, [failed], 'in lists as well')
  const tried = await tenant.ask('POST', '/api/v1/sdk/validity/dry-run', plan)
  t.match(tried.body.data, { ...failed, error_message: /email/ }, 'in a dry run as well')
  t.match(body.data.error_message, /email/)
  t.match((await tenant.ask('GET', `${base}/summary`)).body.data, { error: 1, passing: 0 })
  const { body: record } = await tenant.ask('GET', `/api/v1/assets/${asset.id}`)
  t.match(record, { data_quality_status: 'error', data_quality_message: /1 could not run/ })
})

t.test(
  'auto mode records without alerting until it has seven results, and then judges by the band',
  async t => {
    const { app, base, make, source, tenant, asset } = await ordersWorld(t)
    await source.query(
      `insert into orders select n, 'c@x.org', 'new', 1, null from generate_series(5, 1000) n`,
    )
    const made = await make({
      rule_type: 'NOT_NULL',
      column_name: 'email',
      detection_mode: 'auto',
      sensitivity: 3,
    })
    const [rule] = await app.query('select table_id from checks')
    for (let day = 1; day <= 10; day++) {
      const at = new Date(Date.UTC(2024, 5, day, 6))
      if (day === 10) await source.query(`update orders set email = null where id % 3 = 0`)
      await app.server.plugins.checks.runTable(tenant.companyId, String(rule?.table_id), 'active', { at })
    }
    const { body } = await tenant.ask('GET', `${base}/${made.body.data.uuid}/results`)
    const results = body.data.items.toReversed()
    t.match(results[0], { status: 'pass', invalid_count: 1, expected_value: null, learning: true })
    t.match(results[8], { status: 'pass', learning: false })
    t.match(results[9], { status: 'fail', learning: false })
    t.ok(results[9].invalid_percent > results[9].expected_range_high)
    t.ok(results[8].expected_range_low <= results[8].expected_value)
    t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).status, 200)
  },
)

t.test('checks of one table that fall due together are one statement, claimed once', async t => {
  const world = await ordersWorld(t)
  const { app, make, base, tenant } = world
  for (const column of ['email', 'status', 'total', 'shipped']) {
    await make({ rule_type: 'NOT_NULL', column_name: column })
    await make({
      rule_type: 'UNIQUE',
      column_name: column,
      treat_null_as_valid: true,
      check_interval: 'hourly',
    })
  }
  await tenant.ask('POST', `/api/v1/sdk/metrics/${world.asset.id}`, {
    metric_type: 'row_count',
    table_path: 'orders',
  })
  const { checks } = app.server.plugins
  t.same(
    await Promise.all([checks.dispatch(), checks.dispatch()]).then(both =>
      both.map(({ tables }) => tables).reduce((a, b) => a + b),
    ),
    1,
    'two sweeps at once claim a slot once',
  )
  const [{ table_id: tableId } = {}] = await app.query('select table_id from checks')
  t.equal(await app.server.jobs.settled(scanJob, ({ table_id }) => table_id === tableId), 'completed')
  const [job] = await app.query(
    `select output from pgboss.job where name = 'scans.run' and data ->> 'table_id' = $1`,
    [tableId],
  )
  t.match(job?.output, { checks: 9, statements: 1 })
  const results = await app.query('select check_id, scheduled_for from check_results')
  t.equal(results.length, 9)
  t.ok(results.every(result => result.scheduled_for !== null))
  const [next] = await app.query(
    `select bool_and(next_run_at > now() and running_slot is null) as ahead from checks`,
  )
  t.equal(next?.ahead, true)
  t.match((await tenant.ask('GET', `${base}?is_active=true&limit=3&offset=6`)).body.pagination, {
    total: 8,
    has_more: false,
  })
})

t.test('sixteen checks of a table cost its database one statement on the wire', async t => {
  const { app, make, tenant, asset, source } = await ordersWorld(t)
  const proxy = await startProxy(t, source.config)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { port: proxy.port, password: source.config.password },
  })
  for (const column of ['email', 'status', 'total', 'shipped']) {
    await make({ rule_type: 'NOT_NULL', column_name: column })
    await make({ rule_type: 'UNIQUE', column_name: column })
    for (const type of ['null_percent', 'distinct_count']) {
      const metric = { metric_type: type, table_path: 'orders', column_name: column }
      t.equal((await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, metric)).status, 201)
    }
  }
  const [rule] = await app.query('select table_id from checks limit 1')
  const ran = await app.server.plugins.checks.runTable(tenant.companyId, String(rule?.table_id), 'active')
  t.same(ran, { checks: 16, statements: 1 })
  t.equal(proxy.statements.length, 1, proxy.statements.join('\n'))
})

t.test('what a user gets wrong is named with its field', async t => {
  const { tenant, base, make } = await ordersWorld(t)
  const refusals: [object, string][] = [
    [{ rule_type: 'MAYBE', column_name: 'email' }, 'rule_type'],
    [{ rule_type: 'NOT_NULL' }, 'column_name'],
    [{ rule_type: 'NOT_NULL', column_name: 'nope' }, 'column_name'],
    [{ rule_type: 'NOT_NULL', column_name: 'email', table_path: 'nope' }, 'table_path'],
    [{ rule_type: 'REGEX', column_name: 'email', rule_config: { pattern: '(' } }, 'rule_config.pattern'],
    [{ rule_type: 'REGEX', column_name: 'email', rule_config: { pattern: '' } }, 'rule_config.pattern'],
    [
      { rule_type: 'ENUM', column_name: 'email', rule_config: { allowed_values: [] } },
      'rule_config.allowed_values',
    ],
    [{ rule_type: 'RANGE', column_name: 'total', rule_config: { min: 2, max: 1 } }, 'rule_config'],
    [{ rule_type: 'RANGE', column_name: 'email', rule_config: { min: 2 } }, 'column_name'],
    [
      { rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'delete from orders' } },
      'rule_config.sql_expression',
    ],
    [
      { rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'pg_sleep(10) is null' } },
      'rule_config.sql_expression',
    ],
    [{ rule_type: 'NOT_NULL', column_name: 'email', severity: 'huge' }, 'severity'],
    [{ rule_type: 'NOT_NULL', column_name: 'email', sensitivity: 5 }, 'sensitivity'],
    [{ rule_type: 'NOT_NULL', column_name: 'email', colour: 'red' }, 'colour'],
  ]
  for (const [body, field] of refusals) {
    const refused = await make(body)
    t.match(
      refused,
      { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } },
      JSON.stringify([body, refused.body]),
    )
    t.match(refused.body.error.details.field, field, JSON.stringify(refused.body.error))
  }
  t.match(await tenant.ask('GET', `${base}/v_11111111-1111-4111-8111-111111111111`), {
    status: 404,
    body: { error: { code: 'RULE_NOT_FOUND' } },
  })
  t.match(await tenant.ask('GET', `${base}/v_nonsense`), { status: 404 })
  t.match(await tenant.ask('GET', `${base}?rule_type=nope`), { status: 400 })
})

t.test('the rules of a table or a source are listed by its UUID, in any case, and by its name', async t => {
  const { tenant, asset, make } = await ordersWorld(t)
  const { uuid } = (await make({ rule_type: 'NOT_NULL', column_name: 'email' })).body.data
  const { body } = await tenant.ask('GET', '/api/v1/assets?search=orders&asset_type=table')
  const [{ id, qualified_name: name }] = body.data
  for (const given of [id, id.toUpperCase(), name, asset.id, asset.id.toUpperCase(), asset.name]) {
    const rules = (filter: string) =>
      tenant.ask('GET', `/api/v1/sdk/validity/${encodeURIComponent(given)}?${filter}`)
    for (const filter of ['', 'rule_type=NOT_NULL', 'is_active=true', 'is_active=true&rule_type=NOT_NULL'])
      t.match((await rules(filter)).body, { data: { items: [{ uuid }] }, pagination: { total: 1 } }, given)
    t.match((await rules('rule_type=UNIQUE')).body, {
      data: { items: { length: 0 } },
      pagination: { total: 0 },
    })
    t.match((await rules('offset=1')).body, { data: { items: { length: 0 } }, pagination: { total: 1 } })
  }
  for (const unknown of ['11111111-1111-4111-8111-111111111111', 'no.such.asset'])
    t.match(await tenant.ask('GET', `/api/v1/sdk/validity/${unknown}`), {
      status: 404,
      body: { error: { code: 'ASSET_NOT_FOUND' } },
    })
})

t.test('a read-only key reads rules and may not change or check them', async t => {
  const { app, tenant, base, make } = await ordersWorld(t)
  const made = await make({ rule_type: 'NOT_NULL', column_name: 'email' })
  const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const reader = body.data.key as string
  t.equal((await app.ask('GET', base, undefined, reader)).status, 200)
  for (const [method, path] of [
    ['POST', base],
    ['PATCH', `${base}/${made.body.data.uuid}`],
    ['DELETE', `${base}/${made.body.data.uuid}`],
    ['POST', `${base}/${made.body.data.uuid}/check`],
  ] as const) {
    const refused = await app.ask(method, path, {}, reader)
    t.match(refused, {
      status: 403,
      body: {
        error: { code: 'FORBIDDEN', details: { current_scope: 'read-only', required_scope: 'read-write' } },
      },
    })
  }
  t.match(await app.ask('GET', base), { status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
  const other = await app.signUp('Other')
  t.match(await other.ask('GET', base), { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  t.equal((await tenant.ask('DELETE', `${base}/${made.body.data.uuid}`)).body.data.success, true)
})

t.test('a change of a rule leaves alone what another change of it does meanwhile', async t => {
  const { app, tenant, base, make } = await ordersWorld(t)
  const path = `${base}/${(await make({ rule_type: 'NOT_NULL', column_name: 'email' })).body.data.uuid}`
  const changed = await app.server.db.company(tenant.companyId, async trx => {
    await trx.raw(
      `update checks set severity = 'critical', settings = settings || '{"operatingPeriodMode": "auto"}'`,
    )
    const asked = tenant.ask('PATCH', path, { name: 'meanwhile' })
    await untilBlocked(app)
    return { asked }
  })
  t.match((await changed.asked).body.data, {
    name: 'meanwhile',
    operating_period_mode: 'auto',
    severity: 'critical',
  })
})

t.test('an integer that JSON cannot carry exactly is refused, and taken as a text', async t => {
  const { tenant, base, make, source, app, asset } = await ordersWorld(t)
  await source.query('create table big (id bigint primary key, amount numeric, ratio double precision)')
  await source.query(
    `insert into big values (9007199254740992, 9007199254740992, 1e300), (9007199254740993, 9007199254740993, 1)`,
  )
  await discover({ app, tenant, asset })
  // As text, because JavaScript would change it before it is sent.
  const body = (column: string, type: string, config: string) =>
    `{"table_path": "big", "rule_type": "${type}", "column_name": "${column}", "rule_config": ${config}}`
  const refusal = (field: string) => ({
    status: 400,
    body: {
      error: {
        code: 'VALIDATION_ERROR',
        details: { field, error: /2\^53.*as text/, errors: [{ field, error: /2\^53.*as text/ }] },
      },
    },
  })
  const dryRun = (text: string) =>
    tenant.ask('POST', '/api/v1/sdk/validity/dry-run', text.replace('{', `{"asset_id": "${asset.id}", `))
  const refused: [column: string, type: string, config: string, field: string][] = [
    ['id', 'RANGE', '{"min": 9007199254740993}', 'rule_config.min'],
    ['id', 'RANGE', '{"max": -9007199254740993}', 'rule_config.max'],
    ['id', 'ENUM', '{"allowed_values": [1, 9007199254740993]}', 'rule_config.allowed_values.1'],
    ['amount', 'RANGE', '{"min": 1e300}', 'rule_config.min'],
    ['amount', 'RANGE', '{"min": 9007199254740993.5}', 'rule_config.min'],
  ]
  for (const [column, type, config, field] of refused) {
    const text = body(column, type, config)
    t.match(await tenant.ask('POST', base, text), refusal(field), config)
    t.match(await dryRun(text), refusal(field), `${config} of a dry run`)
  }
  const taken: [column: string, type: string, config: string, invalid: number][] = [
    ['id', 'RANGE', '{"min": "9007199254740993"}', 1],
    ['id', 'ENUM', '{"allowed_values": ["9007199254740993"]}', 1],
    ['amount', 'RANGE', '{"min": "9007199254740993"}', 1],
    ['id', 'RANGE', '{"min": 9007199254740991}', 0],
    ['ratio', 'RANGE', '{"max": 1e299}', 1],
  ]
  for (const [column, type, config, invalid] of taken) {
    const made = await tenant.ask('POST', base, body(column, type, config))
    t.equal(made.status, 201, `${column} ${config}: ${JSON.stringify(made.body)}`)
    const checked = await tenant.ask('POST', `${base}/${made.body.data.uuid}/check`)
    t.match(checked.body.data, { total_rows: 2, invalid_count: invalid }, `${column} ${config}`)
  }
  const old = await make({
    table_path: 'big',
    rule_type: 'RANGE',
    column_name: 'id',
    rule_config: { min: 1 },
  })
  await app.query(`update checks set config = '{"min": 9007199254740992}' where uuid = $1`, [
    old.body.data.uuid.slice(2),
  ])
  const checked = await tenant.ask('POST', `${base}/${old.body.data.uuid}/check`)
  t.match(checked.body.data, { status: 'pass' }, 'a rule that was made before is measured as ever')
})

t.test('a pattern on a nondeterministic collation is matched by another, and replies say so', async t => {
  const { tenant, base, source, app, asset } = await ordersWorld(t)
  await source.query(
    `create collation without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
  )
  await source.query(`create table labels (id int primary key, plain text, folded text collate without_case)`)
  await source.query(`insert into labels values (1, 'ab', 'ab'), (2, 'AB', 'AB')`)
  await discover({ app, tenant, asset })
  const body = (column: string) => ({
    table_path: 'labels',
    rule_type: 'REGEX',
    column_name: column,
    rule_config: { pattern: '^ab$' },
  })
  for (const column of ['plain', 'folded']) {
    const tried = await tenant.ask('POST', '/api/v1/sdk/validity/dry-run', {
      ...body(column),
      asset_id: asset.id,
    })
    const made = await tenant.ask('POST', base, body(column))
    const checked = await tenant.ask('POST', `${base}/${made.body.data.uuid}/check`)
    t.same([made.status, tried.status, checked.status], [201, 200, 200])
    const replies = [made, tried, checked].map(reply => reply.body.data)
    for (const { invalid_count: invalid } of replies.slice(1)) t.equal(invalid, 1, column)
    if (column === 'plain') t.ok(replies.every(reply => !('warnings' in reply)))
    else
      for (const reply of replies)
        t.match(reply, { warnings: [/without_case of folded is nondeterministic/] })
  }
})
