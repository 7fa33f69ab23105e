import t from 'tap'
import Joi from 'joi'
import type { AggregateMetric, CheckContext, CheckType, RowRule, TableRule } from '../../checks/check.ts'
import {
  describeTable,
  createTestDatabase,
  testBuiltIns,
  testCheck,
  type CheckCase,
} from '../../checks/conformance.ts'
import { edgeCases, edgeMatrix } from '../../checks/conformance/built-in-cases.ts'
import { EDGE_CLASSES, whyNotApplicable } from '../../checks/conformance/edges.ts'
import { openMemoryDatabase } from '../../checks/conformance/memory-database.ts'
import { metrics } from '../../checks/metrics/index.ts'
import { rules } from '../../checks/rules/index.ts'
import type { ColumnInfo, TableInfo, TableRef } from '../../connectors/catalog.ts'
import type { Capability, Connector } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { resolveHostModules } from '../../server/extensions.ts'
import { reasonsOf } from './test-databases.ts'

t.test('every built-in check conforms in the engine of the kit', async t => {
  const skipped = await testBuiltIns(t, { database: openMemoryDatabase() })
  t.same(reasonsOf(skipped), ['SQLite keeps NaN as NULL', 'SQLite pads no text'])
})

t.test('the engine of the kit has the SQL and the functions of the SQLite connector', async t => {
  resolveHostModules()
  // A name that is computed: the template is compiled against the public exports alone.
  const path = '../../plugin-template/connector.ts'
  const { sqlite } = (await import(path)) as { sqlite: Connector }
  const { engine } = openMemoryDatabase()
  t.strictSame(
    Object.entries(engine.capabilities).filter(([name]) => !sqlite.capabilities[name as Capability]),
    [],
  )
  const written = (dialect: Dialect) => {
    const [x, y] = [raw('x'), raw('y')]
    const column = { name: 'x', kind: 'decimal', type: 'decimal' } as ColumnInfo
    return {
      ...{ matches: dialect.matches(x, '^a'), parsesAsDate: dialect.parsesAsDate(x, '%Y') },
      ...{ percentile: dialect.percentile(x, 0.5, y), mean: dialect.mean(x) },
      ...{ isNotTrue: dialect.isNotTrue(x), countIf: dialect.countIf(x) },
      ...{ isNumber: dialect.isNumber(x, column), asNumber: dialect.asNumber(x) },
      ...{ standardDeviation: dialect.standardDeviation(x), asText: dialect.asText(x) },
      ...{ sum: dialect.sum(x), textLength: dialect.textLength(x), epochSeconds: dialect.epochSeconds(x) },
      sample: dialect.sample(x, { fraction: 0.5, kind: 'table', byRow: true }),
      isInstant: dialect.isInstant({ type: 'timestamptz' }),
      limits: dialect.limits,
    }
  }
  t.strictSame(written(engine.dialect), written(sqlite.dialect))
  // The kit reads no SQL of users, and compares no tables.
  const { lexicon: _, comparison: _comparison, ...theirs } = sqlite.dialect
  t.strictSame(Object.keys(engine.dialect).sort(), Object.keys(theirs).sort())
})

t.test('a check of spread, percentiles, dates and lengths measures in the kit', async t => {
  const metric = (name: string, measure: AggregateMetric['measure']): AggregateMetric => ({
    ...{ family: 'metric', name, description: 'One of the dialect.', column: 'required', measure },
    config: Joi.object({}),
  })
  const values = [2, 4, 4, 4, 5, 5, 7, 9]
  const cases: [AggregateMetric, CheckCase][] = [
    [
      metric('spread', ({ column, dialect }) => dialect.standardDeviation(column)),
      { name: 'of numbers', kind: 'integer', values, expect: { value: 2.138089935299395 } },
    ],
    [
      metric('median', ({ column, dialect, from }) => dialect.percentile(column, 0.5, from)),
      { name: 'of numbers', kind: 'integer', values, expect: { value: 4.5 } },
    ],
    [
      metric('dates', ({ column, dialect }) => dialect.countIf(dialect.parsesAsDate(column, '%Y-%m-%d'))),
      { name: 'real ones', values: ['2024-02-29', '2023-02-29', null], expect: { value: 1 } },
    ],
    [
      metric('characters', ({ column, dialect }) => sql`max(${dialect.textLength(column)})`),
      { name: 'the most', values: ['名前', 'a'], expect: { value: 2 } },
    ],
    [
      metric('last', ({ column, dialect }) => sql`max(${dialect.epochSeconds(column)})`),
      { name: 'moment', values: ['1970-01-01 00:01:00'], expect: { value: 60 } },
    ],
  ]
  for (const [check, item] of cases) t.strictSame(await failures(check, [item]), {}, check.name)
})

t.test('every check has a case of every class of edge cases, or a reason why it has none', async t => {
  const checks = [...rules, ...metrics]
  t.strictSame(Object.keys(edgeMatrix).sort(), checks.map(({ name }) => name).sort())
  let cells = 0
  for (const check of checks) {
    for (const edge of EDGE_CLASSES) {
      const cases = edgeMatrix[check.name]?.[edge] ?? []
      const reason = whyNotApplicable(check, edge)
      if (reason === undefined) t.ok(cases.length > 0, `${check.name} has a case of ${edge}`)
      else t.equal(cases.length, 0, `${check.name} has no case of ${edge}: ${reason}`)
      cells += 1
    }
    const names = (edgeCases[check.name] ?? []).map(({ name }) => name)
    t.strictSame(names, [...new Set(names)], `each case of ${check.name} has a name of its own`)
  }
  t.equal(cells, 21 * EDGE_CLASSES.length)
})

t.test('a trait that a database does not list skips its cases, in the report alone', async t => {
  const { traits, engine, ...rest } = openMemoryDatabase()
  const on = { ...rest, engine: { ...engine, capabilities: { regex: true, percentile: true } as const } }
  t.ok(traits?.NaN)
  const reasons = new Map<string, string | undefined>()
  const report = { test: (name: string, { skip }: { skip?: string }) => reasons.set(name, skip) }
  const skipped = await testBuiltIns(report, { database: on })
  t.same(skipped, [{ name: 'DATE_FORMAT', reason: 'memory claims no dateParsing' }])
  const name = 'UNIQUE: NaN and infinity: NaN equals NaN'
  t.equal(reasons.get(name), 'the test database lists no column for the trait NaN')
})

const even: RowRule = {
  family: 'rule',
  name: 'EVEN',
  description: 'Values are even.',
  config: Joi.object({}),
  column: 'required',
  valid: ({ column }) => sql`${column} % 2 = 0`,
}

const longest: AggregateMetric<{ prefix: string }> = {
  family: 'metric',
  name: 'longest',
  description: 'The length of the longest text with a prefix.',
  config: Joi.object({ prefix: Joi.string().required() }),
  column: 'required',
  measure: ({ column, config }) =>
    sql`max(case when substr(${column}, 1, length(${config.prefix})) = ${config.prefix} then length(${column}) end)`,
}

/** The names of the subtests that fail, with their messages. */
async function failures<Config>(
  check: CheckType<Config>,
  cases: CheckCase[],
): Promise<Record<string, string>> {
  const failed: Record<string, string> = {}
  const recorder = {
    async test(name: string, run: () => Promise<void>) {
      try {
        await run()
      } catch (error) {
        failed[name] = (error as Error).message
      }
    },
  }
  await testCheck(recorder, { check, cases })
  return failed
}

t.test('a check that keeps its promises passes', async t => {
  const evens: CheckCase[] = [
    { name: 'odd ones', kind: 'integer', values: [1, 2, 3, null], expect: { invalid: 3 } },
    { name: 'NULLs skipped', kind: 'integer', values: [1, null], nullIsValid: true, expect: { invalid: 1 } },
  ]
  t.strictSame(await failures(even, evens), {})
  const prefixes: CheckCase[] = [
    {
      name: 'the longest',
      values: ["it's", 'itself', 'others'],
      config: { prefix: 'it' },
      expect: { value: 6 },
    },
    { name: 'a quote', values: ["it's"], config: { prefix: "it'" }, expect: { value: 4 } },
    { name: 'none', values: ['a'], config: { prefix: 'it' }, expect: { value: null } },
    { name: 'no prefix', values: [], expect: { refused: /prefix/ } },
  ]
  t.strictSame(await failures(longest, prefixes), {})
})

t.test('a case may be of groups, of the name of its column, of an engine with a deviation', async t => {
  const groups = {
    name: 'longest by day',
    values: ['it', 'its', 'itself', null],
    config: { prefix: 'it' },
    extraColumns: [{ name: 'day', kind: 'date', values: ['2024-01-01', '2024-01-01', null, ''] }],
    groupBy: ['day'],
    expect: {
      groups: [
        [null, 6],
        ['', null],
        ['2024-01-01', 3],
      ],
    },
  } as const
  const long = { name: 'named', values: ['a "value"s'], expect: { value: 10 } }
  const named = { ...long, config: (column: string) => ({ prefix: column }) }
  const texts = {
    ...{ name: 'nature', values: ['it'], config: { prefix: 'it' }, expect: { value: 0 } },
    expectIf: { 'moments are texts': { value: 2 } },
  }
  t.strictSame(await failures(longest, [groups, named, texts]), {})
  const wrong = { ...groups, expect: { groups: [[null, 6]] } }
  const padded = { ...named, name: 'padded', trait: 'padded' } as const
  t.match(await failures(longest, [wrong, padded]), {
    'longest: longest by day': /deep-equal/,
    'longest: padded': /SQLite pads no text: leave the case out/,
  })
})

const inColumn: TableRule<{ table: string; column: string }> = {
  family: 'rule',
  name: 'IN_COLUMN',
  description: 'Every value occurs in a column of another table.',
  config: Joi.object({ table: Joi.string().required(), column: Joi.string().required() }),
  column: 'required',
  ownStatement: true,
  measures: context => ({ unknown: context.dialect.countIf(isUnknown(context)) }),
  readMeasures: ({ unknown }, total) => ({ total, invalid: unknown ?? 0 }),
  samples: context => ({ where: isUnknown(context) }),
  engineValidations: context => [{ select: sql`select k from (${keysOf(context)}) t where 1 = 0` }],
}

type InColumn = CheckContext<{ table: string; column: string }>
const keysOf = ({ table, config, dialect }: InColumn) =>
  sql`select ${dialect.quote(config.column)} as k from ${dialect.table({ ...table, name: config.table })}`
const isUnknown = (context: InColumn) => {
  const { column } = context
  return sql`${column} is not null and ${column} not in (select k from (${keysOf(context)}) t where k is not null)`
}

t.test('a check that compares with a second table is tested, also that the table is missing', async t => {
  const [code, name] = [
    { name: 'code', kind: 'text', values: ['NL', 'DE', null] },
    { name: 'full name', kind: 'text', values: ['Nederland'] },
  ] as const
  const config = (_: string, other?: TableInfo) => ({ table: other!.name, column: 'code' })
  const item = { values: ['NL', 'XX', null], otherTable: [code, name], config }
  const known: CheckCase[] = [
    { ...item, name: 'an unknown code', expect: { invalid: 1 } },
    { ...item, name: 'no codes', otherTable: [{ ...code, values: [] }], expect: { invalid: 2 } },
    {
      ...{ ...item, name: 'a column that is missing', expect: { refused: /no such column/ } },
      config: (_, other) => ({ table: other!.name, column: 'cod' }),
    },
  ]
  t.strictSame(await failures(inColumn, known), {})
  t.match(await failures({ ...inColumn, engineValidations: () => [] }, known.slice(0, 1)), {
    'IN_COLUMN: an unknown code': /does not exist is refused at creation: give the type engineValidations/,
  })
  const forgetful = { ...inColumn, readMeasures: (_: unknown, total: number) => ({ total, invalid: 0 }) }
  t.match(Object.values(await failures(forgetful, known.slice(0, 1))), [/deep-equal/])
})

t.test('a check that breaks them fails by name', async t => {
  const integers = { name: 'x', kind: 'integer', values: [1, 2], expect: { invalid: 1 } } as const
  const says = async (check: CheckType, item: CheckCase, message: RegExp) => {
    t.match(Object.values(await failures(check, [item])), [message], String(message))
  }
  await says(
    { ...even, valid: ({ column }) => sql`${column} % 2 = 1 or true` },
    integers,
    /strictly deep-equal|deepEqual|equal/i,
  )
  await says({ ...even, description: 'even' }, integers, /a sentence/)
  await says({ ...even, name: 'not a name' }, integers, /a word/)
  await says({ ...even, measure: () => sql`1` } as CheckType, integers, /one of valid, measure and measures/)
  await says({ ...even, valid: () => raw('no sql at all') }, integers, /syntax error/)
  await says({ ...even, config: Joi.object({ a: Joi.any().required() }) }, integers, /the config is accepted/)
  await says(even, { ...integers, expect: { refused: /x/ } }, /accepted/)
  const spliced: AggregateMetric<{ prefix: string }> = {
    ...longest,
    measure: ({ column, config }) => sql`max(case when ${column} = ${raw(`'${config.prefix}'`)} then 1 end)`,
  }
  t.match(
    Object.values(
      await failures(spliced, [
        { name: 'x', values: ['abc'], config: { prefix: 'abc' }, expect: { value: 1 } },
      ]),
    ),
    [/abc is bound/],
  )
})

t.test('what is left out needs a reason and must exist', async t => {
  const on = openMemoryDatabase()
  const nothing = { test: () => undefined }
  const refuses = (options: object, message: RegExp) =>
    t.rejects(testBuiltIns(nothing, { database: on, ...options }), message, String(message))
  await refuses({ skip: { REGEX: ' ' } }, /Skipping "REGEX" needs a reason/)
  await refuses({ skip: { NO_CHECK: 'because' } }, /No case "NO_CHECK"; there are "NOT_NULL"/)
  await refuses({ skip: { 'REGEX: no case': 'because' } }, /there are "REGEX: empty table"/)
  await refuses({ extraCases: { regex: [] } }, /No check "regex"/)

  const reported: [string, string | undefined][] = []
  const skipped = await testBuiltIns(
    { test: (name, { skip }) => reported.push([name, skip]) },
    {
      database: { ...on, whyUnsupported: ({ kind }) => (kind === 'date' ? 'no dates' : null) },
      skip: { REGEX: 'slow', 'UNIQUE: booleans': 'has none' },
    },
  )
  for (const left of [
    { name: 'UNIQUE: dates', reason: 'no dates' },
    { name: 'UNIQUE: booleans', reason: 'has none' },
    { name: 'REGEX', reason: 'slow' },
    { name: 'mean: groups: by label', reason: 'no dates' },
  ]) {
    t.match(
      skipped.filter(({ name }) => name === left.name),
      [left],
    )
  }
  t.strictSame(
    reported.filter(([, reason]) => reason !== undefined),
    skipped.map(({ name, reason }) => [name, reason]),
  )
  t.ok(reported.some(([name, reason]) => name === 'mean: of huge numbers' && reason === undefined))
})

t.test(
  'a stand on an engine costs three statements a table, two where one had such columns before',
  async t => {
    const memory = openMemoryDatabase()
    const sent: string[] = []
    const stand = createTestDatabase({
      connector: { ...memory.engine, label: 'Memory' },
      connection: async () => ({
        query: () => Promise.reject(new Error('not asked')),
        introspect: async scope => {
          sent.push(`introspect ${scope?.tables?.map(({ name }) => name).join(', ')}`)
          return [describeTable(scope?.tables?.[0] as TableRef, [])]
        },
      }),
      execute: async text => sent.push(text),
      tableRef: name => ({ catalog: 'c', schema: 's', name }),
      columnTypes: { json: null, text: 'string' },
      literal: value => (value === 'x' ? 'X()' : undefined),
    })
    const columns = [
      { name: 'a"b', kind: 'text' },
      { name: 'c', kind: 'float' },
    ] as const
    await stand.createTable(columns, [
      ["it's", 1e20],
      ['x', '5'],
      ['5', null],
      [true, new Uint8Array([1, 255])],
    ])
    t.strictSame(sent, [
      'create table "s"."t1" (id integer not null primary key, "a""b" string, "c" double precision)',
      'insert into "s"."t1" (id, "a""b", "c") values ' +
        "(1, 'it''s', 1e+20), (2, X(), 5), (3, '5', null), (4, true, x'01ff')",
      'introspect t1',
    ])
    const { table } = await stand.createTable(columns, [])
    t.match(table, { catalog: 'c', schema: 's', name: 't2', columns: [{ name: 'id' }] })
    t.match(
      sent.slice(3),
      [/^create table "s"."t2"/],
      'what introspect returned for the first holds for the second',
    )
    t.equal(sent.length, 4)
    t.equal(stand.whyUnsupported?.({ name: 'a', kind: 'json' }), 'Memory has no columns of kind json')
    t.equal(stand.whyUnsupported?.({ name: 'a', kind: 'json', type: 'variant' }), null)
    await t.rejects(stand.createTable(columns, [[{}, 1]]), /literal of its own/)
  },
)
