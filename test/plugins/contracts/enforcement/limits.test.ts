import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { qualityRule } from '../../../../plugins/contracts/enforcement/quality.ts'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contract } from './contracts.ts'
import { contractsOf } from './world.ts'

const stage = await makeStage(t)

const TABLES = [
  'create table facts (id int, v text, w int)',
  `insert into facts select n, case when n <= 40 then null else 'v' || n end, n % 5 from generate_series(1, 100) n`,
]

/** Twenty clauses about numbers, by column; those of the table are under an empty name. */
const NUMBERS: Record<string, object[]> = {
  '': [
    { metric: 'rowCount', mustBeGreaterThan: 0 },
    { metric: 'rowCount', mustBeBetween: [50, 200] },
    { metric: 'rowCount', mustBe: 100 },
    { metric: 'rowCount', mustBeLessThan: 1_000 },
    { type: 'sql', query: 'select count(*) from ${table}', mustBeGreaterOrEqualTo: 1 },
    { type: 'sql', query: 'SELECT COUNT(*) AS n FROM {table} WHERE w > 3;', mustBeLessOrEqualTo: 20 },
    { type: 'sql', query: 'select count(*) from ${table} where w = 1 or v is null -- ones', mustBe: 52 },
    { type: 'sql', query: "select count(*) from ${table} where v = 'gone'", mustBe: 0 },
  ],
  v: [
    { metric: 'nullValues', mustBeLessOrEqualTo: 10 },
    { metric: 'nullValues', mustBeGreaterThan: 10 },
    { metric: 'nullValues', mustBeBetween: [10, 50], unit: 'percent' },
    { metric: 'nullValues', mustBeGreaterOrEqualTo: 50, unit: 'percent' },
    { metric: 'missingValues', arguments: { missingValues: [null, 'v41'] }, mustBe: 41 },
    { metric: 'missingValues', arguments: { missingValues: ['v41'] }, mustBeLessThan: 2 },
    { metric: 'invalidValues', arguments: { validValues: ['v41', 'v42'] }, mustBe: 58 },
    { type: 'sql', query: "select count(*) from ${table} where ${column} like 'v4%'", mustBe: 9 },
  ],
  w: [
    { metric: 'invalidValues', arguments: { validValues: [0, 1] }, mustBeLessOrEqualTo: 60 },
    { metric: 'invalidValues', arguments: { validValues: [0, 1] }, mustBeGreaterThan: 60 },
    { metric: 'missingValues', arguments: { missingValues: [-1] }, mustBeLessOrEqualTo: 5 },
    { metric: 'nullValues', mustBeLessThan: 3, unit: 'rows' },
  ],
}

const named = (column: string) => (NUMBERS[column] ?? []).map((rule, n) => ({ ...rule, name: `${n}` }))
const SCHEMA = [
  {
    name: 'facts',
    quality: named(''),
    properties: ['v', 'w'].map(name => ({ name, quality: named(name) })),
  },
]
/** The clauses that do not hold of the rows. */
const FAILING = ['facts/v/quality/0', 'facts/v/quality/3', 'facts/w/quality/1']

async function factsWorld(t: Test) {
  const world = await makeWorldOn(t, stage, TABLES)
  await contractsOf(world).rediscover()
  const { checks, catalog } = world.app.server.plugins
  const [found] = await world.app.query('select id from tables where source_id = $1', [world.asset.id])
  const tableId = String(found?.id)
  return {
    ...world,
    ...contractsOf(world),
    /** Runs what the table has, and counts statements. */
    run: async () => (await checks.runTable(world.tenant.companyId, tableId, 'active', {})).statements,
    /** The rules of SQL that said the same as the clauses, each with the number of its rule. */
    sqlRules: () =>
      world.app.server.db.company(world.tenant.companyId, async trx => {
        const loaded = (await catalog.loadTable(trx, tableId))!
        const { dialect } = catalog.connectorOf(loaded.source)
        const info = catalog.tableInfo(loaded.table)
        return Object.keys(NUMBERS).flatMap(column =>
          named(column).map(rule => {
            const target = { info, dialect, engine: 'postgresql', column: column === '' ? null : column }
            const wanted = qualityRule(rule, target)
            if (!('metric_type' in wanted)) throw new Error(`no metric: ${JSON.stringify(rule)}`)
            const { query: _, ...body } = wanted.otherwise
            return { ...body, table_path: 'facts' }
          }),
        )
      }),
  }
}

t.test('twenty clauses about numbers are measured by one statement', async t => {
  const { put, ask, clauses, run, sqlRules, asset } = await factsWorld(t)
  const path = `/api/v1/sdk/validity/${asset.id}`
  const ids: string[] = []
  for (const rule of await sqlRules()) {
    const made = await ask('POST', path, rule)
    t.equal(made.status, 201, JSON.stringify(made.body.error))
    ids.push(made.body.data.uuid as string)
  }
  const before = await run()
  t.comment(`${before} statements with a SELECT for each of ${ids.length}`)
  t.ok(before >= ids.length)
  for (const id of ids) await ask('DELETE', `${path}/${id}`)

  await put('facts', { schema: SCHEMA })
  await run()
  const found = await clauses('facts')
  const judged = [...found.values()].filter(({ kind }) => kind === 'quality')
  t.equal(judged.length, 20)
  t.strictSame(new Set(judged.map(({ check_kind: kind }) => kind)), new Set(['metric']))
  t.strictSame(
    judged.filter(({ status }) => status !== 'passing').map(({ key }) => key),
    FAILING,
  )
  t.strictSame(
    FAILING.map(key => found.get(key)?.reason),
    [
      '40 rows, expected at most 10 (+300 %)',
      '40 % null, expected at least 50 %',
      '60 rows, expected at least 61 (−1.6 %)',
    ],
  )
  const statements = await run()
  t.comment(`${statements} statements with metrics`)
  t.equal(statements, 1)
})

t.test('a contract test says the same, in one scan', async t => {
  const { app, tenant } = await factsWorld(t)
  const tested = (await app.server.plugins.contracts.test(
    tenant.companyId,
    { source: 'shop', text: JSON.stringify(contract({ schema: SCHEMA })), extraColumns: 'allow' },
    new AbortController().signal,
  )) as { clauses: { key: string; status: string; reason: string | null }[] }
  const broken = tested.clauses.filter(({ status }) => status !== 'passing')
  t.equal(broken.length, FAILING.length)
  t.match(
    broken,
    FAILING.map(key => ({ key, status: 'failing', reason: /^[46]0 .*, expected at / })),
  )
})

t.test(
  'a contract from before is converted when it is enforced again, and leaves nothing behind',
  async t => {
    const { put, ask, clauses, app, asset, run, sqlRules, rediscover, alerts } = await factsWorld(t)
    await put('facts', { schema: SCHEMA })
    const rules = await sqlRules()
    const keys = Object.keys(NUMBERS).flatMap(column =>
      named(column).map(({ name }) => `facts/${column === '' ? '' : `${column}/`}quality/${name}`),
    )
    // As an earlier version stored it.
    for (const [place, rule] of rules.entries()) {
      const made = await ask('POST', `/api/v1/sdk/validity/${asset.id}`, rule)
      const id = made.body.data.uuid as string
      await app.query(`update contract_clauses set check_kind = 'validity', check_id = $1 where key = $2`, [
        id,
        keys[place],
      ])
    }
    await app.query(`delete from checks where kind = 'metric' and source_id = $1`, [asset.id])
    await app.query(`update data_contracts set catalog_state = 'former' where source_id = $1`, [asset.id])
    await run()
    const failing = async () =>
      [...(await clauses('facts')).values()]
        .filter(({ status }) => status === 'failing')
        .map(({ key }) => key)
    t.strictSame((await failing()).toSorted(), FAILING)
    t.equal((await alerts()).filter(({ status }) => status === 'triggered').length, FAILING.length)

    await rediscover()
    const kinds = await app.query(
      'select kind, count(*)::int as n from checks where source_id = $1 group by kind',
      [asset.id],
    )
    t.strictSame(kinds, [{ kind: 'metric', n: 20 }], 'each clause has one check')
    await run()
    t.strictSame((await failing()).toSorted(), FAILING)
    const open = await app.query(
      `select kind, count(*)::int as n from alerts where source_id = $1 and status = 'triggered' group by kind order by kind`,
      [asset.id],
    )
    t.strictSame(open, [{ kind: 'metric_anomaly', n: 3 }])
  },
)

t.test('with another limit a clause waits for its new check, and does not go by the old one', async t => {
  const { put, clauses, run } = await factsWorld(t)
  const of = (rule: object) => ({
    schema: [
      {
        name: 'facts',
        properties: [{ name: 'v', quality: [{ name: 'few', metric: 'nullValues', ...rule }] }],
      },
    ],
  })
  const clause = async () => (await clauses('facts')).get('facts/v/quality/few')
  for (const [wide, narrow] of [
    [{ mustBeLessThan: 50 }, { mustBeLessThan: 40 }],
    [
      { mustBeLessOrEqualTo: 50, unit: 'percent' },
      { mustBeLessOrEqualTo: 30, unit: 'percent' },
    ],
  ]) {
    await put('facts', of(wide!))
    await run()
    t.match(await clause(), { status: 'passing' })
    await put('facts', of(narrow!))
    t.match(await clause(), { status: 'pending', reason: 'its check has not run yet' })
    await run()
    t.match(await clause(), { status: 'failing' })
  }
})

t.test(
  'a draft of a table has the limits of its metrics, and no rule about some rows as one about all',
  async t => {
    const { ask, asset } = await factsWorld(t)
    const make = async (kind: string, body: object) =>
      t.equal(
        (await ask('POST', `/api/v1/sdk/${kind}/${asset.id}`, { table_path: 'facts', ...body })).status,
        201,
      )
    await make('metrics', { metric_type: 'row_count', min: 5, max: 200, name: 'rows', severity: 'critical' })
    await make('metrics', { metric_type: 'row_count', max: 60, filter: 'w > 1' })
    await make('metrics', { metric_type: 'null_percent', column_name: 'v', min: 5 })
    await make('metrics', { metric_type: 'mean', column_name: 'w', max: 3 })
    await make('metrics', { metric_type: 'row_count', sensitivity: 3 })
    await make('validity', { rule_type: 'NOT_NULL', column_name: 'v', filter: 'w > 9' })
    const { body } = await ask('GET', `/api/v1/sdk/assets/${asset.id}/contract-draft?mode=odcs-pure`)
    const { schema } = parse(body.data.contract) as {
      schema: { quality: object[]; properties: { name: string; quality?: object[] }[] }[]
    }
    t.strictSame(schema[0]?.quality, [
      { name: 'rows', type: 'library', metric: 'rowCount', mustBeBetween: [5, 200], severity: 'critical' },
      { type: 'sql', query: 'select count(*) from ${table} where w > 1', mustBeLessOrEqualTo: 60 },
    ])
    t.strictSame(schema[0]?.properties.find(({ name }) => name === 'v')?.quality, [
      { type: 'library', metric: 'nullValues', unit: 'percent', mustBeGreaterOrEqualTo: 5 },
    ])
  },
)
