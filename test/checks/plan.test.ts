import t from 'tap'
import Joi from 'joi'
import type { AggregateMetric, Check, CheckType } from '../../checks/check.ts'
import { describeTable } from '../../checks/conformance.ts'
import { metrics } from '../../checks/metrics/index.ts'
import { planChecks, type Engine } from '../../checks/plan.ts'
import { rules } from '../../checks/rules/index.ts'
import { explainScan } from '../../checks/scan.ts'
import { partitionChecks } from '../../checks/statement.ts'
import { defineDialect, type Dialect } from '../../connectors/dialect.ts'
import { raw, sql } from '../../connectors/sql.ts'

const ansi: Engine = {
  name: 'ansi',
  dialect: defineDialect({
    countIf: condition => sql`count(*) filter (where ${condition})`,
    matches: (value, pattern) => sql`${value} ~ ${pattern}`,
    percentile: (value, fraction) => sql`percentile_cont(${fraction}) within group (order by ${value})`,
  }),
  capabilities: { regex: true, percentile: true },
}

const table = describeTable({ catalog: 'shop', schema: 'public', name: 'orders' }, [
  { name: 'amount', kind: 'decimal' },
  { name: 'status', kind: 'text' },
  { name: 'made', kind: 'timestamp' },
  { name: 'paid', kind: 'boolean' },
])

const types = new Map([...rules, ...metrics].map(type => [type.name, type]))

let made = 0

function check(
  name: string,
  column?: string,
  config: Record<string, unknown> = {},
  rest: Partial<Check> = {},
): Check {
  const type = types.get(name)
  if (!type) throw new Error(name)
  return { id: `${name} ${(made += 1)}`, type, column, config, ...rest }
}

/** The SQL of the one statement for these checks. */
async function write(...checks: Check[]): Promise<{ text: string; values: unknown[] }> {
  const statements = await explainScan(ansi, table, checks)
  if (statements.length !== 1 || !statements[0]) throw new Error(`${statements.length} statements`)
  return { text: statements[0].text.replace('select count(*) as "m0", ', ''), values: statements[0].values }
}

const FROM = ' from "public"."orders"'
const present = (column: string) => `count("${column}")`
/** Invalid rows of a condition that is NULL for NULL only, and of any condition. */
const fails = (condition: string) => `count(*) filter (where not (${condition}))`
const failsGuarded = (condition: string, column?: string) => {
  const isInvalid = `case when ${condition} then 0 else 1 end = 1`
  return `count(*) filter (where ${column ? `("${column}" is not null and ${isInvalid})` : isInvalid})`
}
/** What UNIQUE alone is read from. */
const REPEATED = `select coalesce(sum(d.tidemark_n), 0) as repeated from (select count(*) as tidemark_n${FROM} where "status" is not null group by "status" having count(*) > 1) d`
/** What UNIQUE and the distinct values of a column are read from. */
const OCCURRENCES = `select count(*) as distinct_values, coalesce(sum(case when d.tidemark_n > 1 then d.tidemark_n else 0 end), 0) as repeated from (select count(*) as tidemark_n${FROM} where "status" is not null group by "status") d`

t.test('every check type writes the SQL that its meaning says', async t => {
  const cases: [Check, string, unknown[]?][] = [
    [check('NOT_NULL', 'status'), `${present('status')} as "m1"`],
    [
      check('REGEX', 'status', { pattern: '^a' }),
      `${present('status')} as "m1", ${failsGuarded('"status" ~ ?', 'status')} as "m2"`,
      ['^a'],
    ],
    [
      check('RANGE', 'amount', { min: 0, max: 9.5 }),
      `${present('amount')} as "m1", ${fails('"amount" >= 0 and "amount" <= 9.5')} as "m2"`,
    ],
    [
      check('RANGE', 'amount', { min: 0, max: 1 }, { nullIsValid: true }),
      `${fails('"amount" >= 0 and "amount" <= 1')} as "m1"`,
    ],
    [
      check('RANGE', 'amount', { min: 0 }),
      `${present('amount')} as "m1", ${failsGuarded('"amount" >= 0 and ("amount" <> -"amount" or "amount" = 0)', 'amount')} as "m2"`,
    ],
    [
      check('RANGE', 'made', { min: '2024-01-01', max: '2024-12-31' }),
      `${present('made')} as "m1", ${fails('"made" >= ? and "made" < ?')} as "m2"`,
      ['2024-01-01', '2025-01-01'],
    ],
    [
      check('ENUM', 'status', { allowed_values: ['a', 1] }),
      `${present('status')} as "m1", ${fails('"status" in (?, ?)')} as "m2"`,
      ['a', '1'],
    ],
    [
      check('ENUM', 'amount', { allowed_values: [1, '2.50'] }),
      `${present('amount')} as "m1", ${failsGuarded('"amount" in (1, 2.50)', 'amount')} as "m2"`,
    ],
    [
      check('ENUM', 'paid', { allowed_values: ['TRUE', false] }),
      `${present('paid')} as "m1", ${failsGuarded('case when "paid" then 1 else 0 end in (1, 0)', 'paid')} as "m2"`,
    ],
    [
      check('CUSTOM_SQL', undefined, { sql_expression: 'amount > 0 -- ) or (1=1' }),
      `${failsGuarded('\namount > 0\n')} as "m1"`,
    ],
    [
      check('CUSTOM_SQL', 'status', { sql_expression: 'amount > 0' }),
      `${present('status')} as "m1", ${failsGuarded('\namount > 0\n', 'status')} as "m2"`,
    ],
    [
      check('CUSTOM_SQL', undefined, { sql_expression: 'select 1;' }),
      '(select count(*) from (\nselect 1\n) q) as "m1"',
    ],
    [check('null_percent', 'status'), `${present('status')} as "m1"`],
    [check('distinct_count', 'status'), 'count(distinct "status") as "m1"'],
    [check('duplicate_count', 'status'), `${present('status')} as "m1", count(distinct "status") as "m2"`],
    [check('min_value', 'amount'), 'min("amount") as "m1"'],
    [check('max_value', 'amount'), 'max("amount") as "m1"'],
    [check('mean', 'amount'), 'avg("amount") as "m1"'],
    [
      check('percentile', 'amount', { percentile_value: 95 }),
      'percentile_cont(?) within group (order by "amount") as "m1"',
      [0.95],
    ],
  ]
  for (const [one, text, values = []] of cases) {
    t.strictSame(await write(one), { text: text + FROM, values }, one.type.name)
  }
  t.strictSame(await explainScan(ansi, table, [check('row_count', 'ignored')]), [
    { text: `select count(*) as "m0"${FROM}`, values: [], checks: [`row_count ${made}`] },
  ])
})

t.test('equal measures are computed once, whichever check needs them', async t => {
  const statement = await write(
    check('null_percent', 'status'),
    check('NOT_NULL', 'status'),
    check('row_count'),
    check('duplicate_count', 'status'),
    check('distinct_count', 'status'),
    check('REGEX', 'status', { pattern: 'a' }),
    check('REGEX', 'status', { pattern: 'a' }, { nullIsValid: true }),
    check('REGEX', 'status', { pattern: 'b' }),
  )
  const regex = failsGuarded('"status" ~ ?', 'status')
  t.strictSame(statement, {
    text: `count("status") as "m1", count(distinct "status") as "m2", ${regex} as "m3", ${regex} as "m4"${FROM}`,
    values: ['a', 'b'],
  })
})

t.test('the values of a column are grouped once for all that ask how often they occur', async t => {
  t.strictSame(
    (await explainScan(ansi, table, [check('UNIQUE', 'status')])).map(({ text }) => text),
    [
      `select a."m0", a."m1", d0.repeated as "m2" from (select count(*) as "m0", ${present('status')} as "m1"${FROM}) a cross join (${REPEATED}) d0`,
    ],
    'only those that occur more than once, where no check needs the others',
  )
  const checks = [
    check('distinct_count', 'status'),
    check('UNIQUE', 'status'),
    check('duplicate_count', 'status'),
    check('distinct_count', 'amount'),
    check('mean', 'amount'),
  ]
  const [statement, ...others] = await explainScan(ansi, table, checks)
  t.strictSame(others, [])
  t.equal(
    statement?.text,
    `select a."m0", a."m2", a."m4", a."m5", d0.distinct_values as "m1", d0.repeated as "m3" from (select count(*) as "m0", ${present('status')} as "m2", count(distinct "amount") as "m4", avg("amount") as "m5"${FROM}) a cross join (${OCCURRENCES}) d0`,
  )
  const sorting: Engine = { ...ansi, dialect: { ...ansi.dialect, countDistinctSorts: true } }
  const distinct = [check('distinct_count', 'status'), check('row_count')]
  t.strictSame(
    (await explainScan(sorting, table, distinct)).map(({ text }) => text),
    [
      `select a."m0", d0.distinct_values as "m1" from (select count(*) as "m0"${FROM}) a cross join (${OCCURRENCES}) d0`,
    ],
    'by groups too, where the aggregate sorts',
  )
  const grouped = [check('distinct_count', 'status', {}, { groupBy: ['paid'] })]
  t.match(
    (await explainScan(sorting, table, grouped))[0]?.text,
    /, count\(distinct "status"\) as "m1" from "public"/,
  )
})

t.test('aggregates that sort are apart where parallel workers would be lost', async t => {
  const sorts: AggregateMetric = {
    ...{ family: 'metric', name: 'sorts', description: 'x', config: Joi.object({}), column: 'required' },
    measure: ({ column }) => sql`mode() within group (order by ${column})`,
    sorts: true,
  }
  const sorted = (column: string) => ({ ...check('mean', column), type: sorts as CheckType })
  const checks = [check('mean', 'amount'), sorted('amount'), sorted('status'), sorted('amount')]
  const text = async (engine: Engine) => (await explainScan(engine, table, checks)).map(({ text }) => text)
  const mode = (column: string) => `mode() within group (order by "${column}")`
  t.strictSame(await text(ansi), [
    `select count(*) as "m0", avg("amount") as "m1", ${mode('amount')} as "m2", ${mode('status')} as "m3"${FROM}`,
  ])
  t.strictSame(await text({ ...ansi, dialect: { ...ansi.dialect, sortingIsSerial: true } }), [
    `select a."m0", a."m1", d0."m2" as "m2", d0."m3" as "m3" from (select count(*) as "m0", avg("amount") as "m1"${FROM}) a cross join (select ${mode('amount')} as "m2", ${mode('status')} as "m3"${FROM}) d0`,
  ])
})

t.test('percentiles of one value that sort share the sort where the engine can', async t => {
  const quantile = (column: string, fraction: number) => ({
    ...check('mean', column),
    type: {
      ...{ family: 'metric', name: 'quantile', description: 'x', config: Joi.object({}), column: 'required' },
      measure: ({ dialect, column: value, from }) => dialect.percentile(value, fraction, from),
      percentileOf: ({ column: value }) => ({ value, fraction }),
      sorts: true,
    } satisfies AggregateMetric as CheckType,
  })
  const percentiles: Dialect['percentiles'] = {
    select: (value, fractions) => sql`several(${value}, ${raw(fractions.join(', '))})`,
    subscript: index => raw(`[${index}]`),
  }
  const engine = {
    ...ansi,
    capabilities: { ...ansi.capabilities, groupedPercentile: true as const },
    dialect: { ...ansi.dialect, sortingIsSerial: true, percentiles },
  }
  const checks = [quantile('amount', 0.5), quantile('amount', 0.95), quantile('id', 0.5)]
  const [statement] = await explainScan(engine, table, checks)
  t.equal(
    statement?.text,
    `select a."m0", d0."p0"[0] as "m1", d0."p0"[1] as "m2", d0."m3" as "m3" from (select count(*) as "m0"${FROM}) a cross join (select several("amount", 0.5, 0.95) as "p0", percentile_cont(?) within group (order by "id") as "m3"${FROM}) d0`,
  )
})

t.test('percentiles by group are ranked apart where they are no aggregate', async t => {
  const groupBy = ['paid']
  const percentile = (column: string, percentile_value: number) =>
    check('percentile', column, { percentile_value }, { groupBy })
  const checks = [
    percentile('amount', 50),
    check('mean', 'amount', {}, { groupBy }),
    percentile('amount', 95),
    percentile('id', 50),
    percentile('amount', 50),
    check('percentile', 'amount', { percentile_value: 50 }),
  ]
  const ids = (...indexes: number[]) => indexes.map(index => checks[index]?.id)
  const statements = await explainScan(ansi, table, checks)
  t.strictSame(
    statements.map(statement => statement.checks),
    [ids(0, 2, 3, 4), ids(1), ids(5)],
  )
  const window = (column: string, index: number) =>
    `"${column}" as x${index}, row_number() over (partition by "paid" order by case when "${column}" is null then 1 else 0 end, "${column}") - 1 as i${index}, count("${column}") over (partition by "paid") as n${index}`
  const weighed = (index: number, fraction: number) => {
    const far = `abs(i${index} - (n${index} - 1) * ${fraction})`
    return `sum(case when ${far} < 1 then x${index} * (1 - ${far}) end)`
  }
  t.equal(
    statements[0]?.text,
    `select "g0", count(*) as "m0", ${weighed(0, 0.5)} as "m1", ${weighed(0, 0.95)} as "m2", ${weighed(1, 0.5)} as "m3" from (select "paid" as "g0", ${window('amount', 0)}, ${window('id', 1)}${FROM}) r group by "g0" limit 1001`,
  )
  const whole: Engine = { ...ansi, capabilities: { ...ansi.capabilities, groupedPercentile: true } }
  t.strictSame(
    (await explainScan(whole, table, checks)).map(statement => statement.checks),
    [ids(0, 1, 2, 3, 4), ids(5)],
    'and shared where they are',
  )

  const ofAll = [50, 95].map(percentile_value => check('percentile', 'amount', { percentile_value }))
  const [several] = await explainScan(ansi, table, [...ofAll, check('mean', 'amount')])
  t.equal(
    several?.text,
    `select a."m0", a."m3", d0."m1" as "m1", d0."m2" as "m2" from (select count(*) as "m0", avg("amount") as "m3"${FROM}) a cross join (select ${weighed(0, 0.5)} as "m1", ${weighed(0, 0.95)} as "m2" from (select ${window('amount', 0).replaceAll('partition by "paid"', '')}${FROM}) r) d0`,
    'several of one column are ranked once',
  )
  const [own] = await explainScan(whole, table, ofAll)
  t.match(own?.text, /percentile_cont.*percentile_cont/)
})

t.test('what cannot share is apart: group_by and the SELECTs of users', async t => {
  const own = (text: string) => check('CUSTOM_SQL', undefined, { sql_expression: text })
  const byPaid = { groupBy: ['paid'] }
  const checks = [
    check('mean', 'amount'),
    own('select id from orders where amount > 1'),
    check('mean', 'amount', {}, byPaid),
    check('row_count', undefined, {}, { groupBy: ['paid', 'status'] }),
    own('amount > 1'),
    check('row_count', undefined, {}, byPaid),
    check('max_value', 'amount'),
    own('select id from orders'),
  ]
  const statements = await explainScan(ansi, table, checks)
  const ids = (...indexes: number[]) => indexes.map(index => checks[index]?.id)
  t.strictSame(
    statements.map(statement => statement.checks),
    [ids(0, 4, 6), ids(2, 5), ids(3), ids(1), ids(7)],
    'conditions of users join the others, and their SELECTs come last',
  )
  t.equal(
    statements[1]?.text,
    `select "paid" as "g0", count(*) as "m0", avg("amount") as "m1"${FROM} group by "paid" limit 1001`,
  )
  t.equal(
    statements[2]?.text,
    `select "paid" as "g0", "status" as "g1", count(*) as "m0"${FROM} group by "paid", "status" limit 1001`,
  )
})

t.test('statements are cut at the limits of the engine', async t => {
  const narrow = (columns: number, values: number): Engine => ({
    ...ansi,
    dialect: { ...ansi.dialect, limits: { columns, values } },
  })
  const regexes = Array.from({ length: 10 }, (_, index) => check('REGEX', 'status', { pattern: `${index}` }))
  const sizes = async (engine: Engine) => {
    const { planned } = await planChecks(engine, table, regexes)
    return partitionChecks(planned, engine).map(part => part.checks.length)
  }
  t.strictSame(await sizes(narrow(500, 1000)), [10])
  t.strictSame(
    await sizes(narrow(5, 1000)),
    [3, 3, 3, 1],
    'all rows, values that are present, and three counts',
  )
  t.strictSame(await sizes(narrow(500, 4)), [4, 4, 2])
  t.strictSame(await sizes(narrow(1, 1)), Array(10).fill(1), 'one check is never cut')
  for (const { text } of await explainScan(narrow(5, 1000), table, regexes)) {
    t.ok((text.match(/ as "m/g)?.length ?? 0) <= 5)
  }
})

t.test('what the catalog rules out is refused without any SQL', async t => {
  const throwing: AggregateMetric = {
    family: 'metric',
    name: 'broken',
    description: 'It throws.',
    config: Joi.object({}),
    column: 'ignored',
    measure() {
      throw new TypeError('no such thing')
    },
  }
  const { measure: _, ...wide } = throwing
  const texts: CheckType[] = [
    { ...throwing, name: 'text', measure: () => 'count(*)' as never },
    { ...wide, name: 'texts', measures: () => ({ n: null as never }), readMeasures: () => 0 },
    {
      ...wide,
      name: 'texts of a tally',
      measures: () => ({ n: { select: sql`select 1 as n`, column: 'n', aggregate: 'count(*)' as never } }),
      readMeasures: () => 0,
    },
  ]
  const apart: CheckType = {
    ...wide,
    name: 'apart',
    measures: () => ({ n: { select: sql`select 1 as n`, column: 'n' } }),
    readMeasures: () => 0,
  }
  const refused: [Check, string, RegExp][] = [
    [check('mean', 'gone'), 'missing-object', /^The column gone does not exist in shop\.public\.orders\.$/],
    [check('mean', 'amount', {}, { groupBy: ['gone'] }), 'missing-object', /column gone/],
    [check('CUSTOM_SQL', 'gone', { sql_expression: '1 = 1' }), 'missing-object', /column gone/],
    [check('mean'), 'invalid-check', /^mean needs a column\.$/],
    [check('mean', 'status'), 'invalid-check', /^mean works on .* columns; status is text\.$/],
    [check('mean', 'paid'), 'invalid-check', /works on/],
    [check('min_value', 'made'), 'invalid-check', /works on/],
    [check('RANGE', 'status', { min: 0 }), 'invalid-check', /works on/],
    [check('RANGE', 'made', { min: 0 }), 'invalid-check', /needs ISO dates/],
    [
      check('CUSTOM_SQL', undefined, { sql_expression: 'drop table t' }),
      'invalid-check',
      /another statement/,
    ],
    [
      check('DATE_FORMAT', 'status', { format: '%Y' }),
      'unsupported',
      /^DATE_FORMAT needs date parsing, which ansi does not offer\.$/,
    ],
    [check('UNIQUE', 'status', {}, { groupBy: ['paid'] }), 'invalid-check', /Only metrics/],
    [
      check('row_count', undefined, {}, { groupBy: ['id', 'amount', 'status', 'made'] }),
      'invalid-check',
      /At most 3/,
    ],
    [{ id: 'broken', type: throwing, config: {} }, 'invalid-check', /^broken failed: no such thing$/],
    [
      { id: 'apart', type: apart, config: {}, groupBy: ['paid'] },
      'invalid-check',
      /^apart cannot be grouped\.$/,
    ],
    ...texts.map((type): [Check, string, RegExp] => [
      { id: type.name, type, config: {} },
      'invalid-check',
      /^texts?( of a tally)? failed: measures?(\.n(\.aggregate)?)? must give SQL that was written with sql`…`, not (string|object)$/,
    ]),
  ]
  const good = check('mean', 'amount')
  const { planned, refusals } = await planChecks(ansi, table, [...refused.map(([one]) => one), good])
  t.strictSame(
    planned.map(item => item.check),
    [good],
  )
  for (const [index, [one, kind, message]] of refused.entries()) {
    t.match(refusals[index], { id: one.id, kind, message }, one.id)
  }
})

t.test('an engine is called by the name that people know', async t => {
  const one = check('DATE_FORMAT', 'status', { format: '%Y' })
  const { refusals } = await planChecks({ ...ansi, label: 'ANSI SQL' }, table, [one])
  t.match(refusals, [{ message: /, which ANSI SQL does not offer\.$/ }])
})

t.test('two checks with one id are a mistake of the caller', async t => {
  const one = check('row_count')
  await t.rejects(planChecks(ansi, table, [one, one]), TypeError)
})
