import t, { type Test } from 'tap'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contractsOf } from './world.ts'

const stage = await makeStage(t)

type Rule = Record<string, unknown>
type Case = [name: string, rule: Rule, status: string, reason?: RegExp]

/** Ten rows; v is null twice and empty once, w holds 1 three times, 2 twice and five others. */
const TABLES = [
  'create table facts (id int, v text, w int)',
  `insert into facts select n, case when n <= 2 then null when n = 3 then '' else 'v' || n end,
     case when n <= 3 then 1 when n <= 5 then 2 else n end from generate_series(1, 10) n`,
  'create table empty (id int)',
]

async function judge(t: Test, apiVersion: string, cases: Record<string, Case[]>) {
  const { put, clauses, rediscover, runChecks } = contractsOf(await makeWorldOn(t, stage, TABLES))
  await rediscover()
  const named = (some: Case[]) => some.map(([name, rule]) => ({ ...rule, name }))
  const properties = ['v', 'w'].map(name => ({ name, quality: named(cases[name] ?? []) }))
  const made = await put('facts', {
    apiVersion,
    schema: [
      { name: 'facts', properties, quality: named(cases.facts ?? []) },
      { name: 'empty', quality: named(cases.empty ?? []) },
    ],
  })
  t.equal(made.status, 201, JSON.stringify(made.body))
  await runChecks()
  const found = await clauses('facts')
  for (const [part, some] of Object.entries(cases))
    for (const [name, , status, reason] of some) {
      const key = `${['v', 'w'].includes(part) ? `facts/${part}` : part}/quality/${name}`
      const clause = found.get(key)
      t.equal(clause?.status, status, `${key}: ${clause?.reason ?? ''}`)
      if (reason) t.match(clause?.reason, reason, name)
    }
}

t.test('the rules of the library of 3.1', async t => {
  await judge(t, 'v3.1.0', {
    v: [
      ['no nulls', { metric: 'nullValues', mustBe: 0 }, 'failing', /^2 rows without a value/],
      ['few nulls', { metric: 'nullValues', mustBeLessOrEqualTo: 20, unit: 'percent' }, 'passing'],
      [
        'fewer nulls',
        { metric: 'nullValues', mustBeLessThan: 20, unit: 'percent' },
        'failing',
        /^20 %, expected less than 20 %$/,
      ],
      ['2 nulls', { metric: 'nullValues', mustBeLessOrEqualTo: 2, unit: 'rows' }, 'passing'],
      ['1 null', { metric: 'nullValues', mustBeLessThan: 2 }, 'failing', /^2 rows, expected at most 1 /],
      ['exactly 2', { metric: 'nullValues', mustBe: 2 }, 'passing'],
      ['some', { metric: 'nullValues', mustBeGreaterThan: 2 }, 'failing'],
      [
        'missing',
        { metric: 'missingValues', arguments: { missingValues: [null, ''] }, mustBe: 3 },
        'passing',
      ],
      [
        'none missing',
        { metric: 'missingValues', arguments: { missingValues: [null, ''] }, mustBe: 0 },
        'failing',
      ],
      [
        'no empty',
        { metric: 'missingValues', arguments: { missingValues: [''] }, mustBe: 0 },
        'failing',
        /^1 row breaks /,
      ],
      ['pattern', { metric: 'invalidValues', arguments: { pattern: '^v?[0-9]*$' }, mustBe: 0 }, 'passing'],
      ['pattern fails', { metric: 'invalidValues', arguments: { pattern: '^v' }, mustBe: 0 }, 'failing'],
      [
        'pattern rows',
        { metric: 'invalidValues', arguments: { pattern: '^v' }, mustBeLessThan: 5 },
        'not_enforced',
        /of a pattern/,
      ],
    ],
    w: [
      ['known', { metric: 'invalidValues', arguments: { validValues: [1, 2] }, mustBe: 5 }, 'passing'],
      ['all known', { metric: 'invalidValues', arguments: { validValues: [1, 2] }, mustBe: 0 }, 'failing'],
      [
        'half',
        {
          metric: 'invalidValues',
          arguments: { validValues: [1, 2] },
          mustBeLessOrEqualTo: 50,
          unit: 'percent',
        },
        'passing',
      ],
      ['unique', { metric: 'duplicateValues', mustBe: 0 }, 'failing'],
      ['two repeat', { metric: 'duplicateValues', mustBeLessThan: 3 }, 'passing'],
      [
        'one repeats',
        { metric: 'duplicateValues', mustBeLessThan: 2 },
        'failing',
        /^2 duplicates, expected less than 2 duplicates$/,
      ],
      [
        'percent',
        { metric: 'duplicateValues', mustBeLessThan: 2, unit: 'percent' },
        'not_enforced',
        /percentage/,
      ],
      ['no argument', { metric: 'invalidValues', mustBe: 0 }, 'not_enforced', /validValues or pattern/],
      [
        'unknown argument',
        { metric: 'invalidValues', arguments: { minLength: 2 }, mustBe: 0 },
        'not_enforced',
        /minLength/,
      ],
      ['not a number', { metric: 'nullValues', mustBe: 'none' }, 'not_enforced', /must be a number/],
    ],
    facts: [
      ['rows', { metric: 'rowCount', mustBeBetween: [5, 15] }, 'passing'],
      [
        'many rows',
        { metric: 'rowCount', mustBeGreaterThan: 10 },
        'failing',
        /^10 rows, expected at least 11 /,
      ],
      ['not 10', { metric: 'rowCount', mustNotBeBetween: [9, 11] }, 'failing'],
      ['row percent', { metric: 'rowCount', mustBe: 10, unit: 'percent' }, 'not_enforced'],
      ['pairs', { metric: 'duplicateValues', arguments: { properties: ['v', 'w'] }, mustBe: 0 }, 'passing'],
      [
        'no such pair',
        { metric: 'duplicateValues', arguments: { properties: ['x'] }, mustBe: 0 },
        'not_enforced',
        /no column x/,
      ],
      ['text', { type: 'text', description: 'look at it' }, 'not_enforced', /text for people/],
      ['custom', { type: 'custom', engine: 'soda', implementation: 'checks: []' }, 'not_enforced', /soda/],
      [
        'sql',
        { type: 'sql', query: 'select count(*) from ${table} where w > 5 -- five', mustBe: 5 },
        'passing',
      ],
      [
        'sql count',
        { type: 'sql', query: 'select count(*) from facts', mustBe: 9 },
        'failing',
        /^10, expected 9$/,
      ],
      [
        'sql table',
        { type: 'sql', query: 'SELECT max(w) FROM facts', mustBeLessThan: 10 },
        'failing',
        // A value of a row.
        /^not as expected: less than 10$/,
      ],
      [
        'sql null',
        { type: 'sql', query: 'select max(w) from facts where w > 99', mustBeLessThan: 10 },
        'failing',
      ],
      [
        'sql column',
        { type: 'sql', query: 'select count(${column}) from ${table}', mustBe: 5 },
        'not_enforced',
        /\$\{column\}/,
      ],
      ['sql writes', { type: 'sql', query: 'delete from facts', mustBe: 0 }, 'not_enforced', /no SELECT/],
      ['sql denied', { type: 'sql', query: 'select pg_sleep(9)', mustBe: 0 }, 'not_enforced', /refused/],
      [
        'sql broken',
        { type: 'sql', query: 'select nothing from facts', mustBe: 0 },
        'not_enforced',
        /refused/,
      ],
      ['sql escapes', { type: 'sql', query: 'select 1) = 1 or (1', mustBe: 0 }, 'not_enforced', /refused/],
    ],
    empty: [
      ['has rows', { metric: 'rowCount', mustBeGreaterThan: 0 }, 'failing', /^0 rows, expected at least 1 /],
      ['is empty', { metric: 'rowCount', mustBe: 0 }, 'passing'],
    ],
  })
})

t.test('the rules before 3.1, which may lack an operator or have several', async t => {
  await judge(t, 'v3.0.2', {
    v: [
      ['nullCheck', { type: 'library', rule: 'nullCheck' }, 'failing'],
      ['validValues', { type: 'library', rule: 'validValues', validValues: ['v4', ''] }, 'failing'],
      ['two', { type: 'library', rule: 'nullCheck', mustBeGreaterThan: 1, mustBeLessThan: 3 }, 'passing'],
      [
        'two fail',
        { type: 'library', rule: 'nullCheck', mustBeGreaterThan: 2, mustBeLessThan: 5 },
        'failing',
      ],
    ],
    w: [
      [
        'duplicateCount',
        { type: 'library', rule: 'duplicateCount', mustBeLessThan: 3, unit: 'rows' },
        'passing',
      ],
    ],
    facts: [
      ['rowCount', { type: 'library', rule: 'rowCount', mustBe: 10 }, 'passing'],
      ['no operator', { type: 'library', rule: 'rowCount' }, 'not_enforced', /no operator/],
      [
        'unknown',
        { type: 'library', rule: 'frequencyCheck', mustBe: 1 },
        'not_enforced',
        /no metric of the library/,
      ],
    ],
  })
})

t.test('service levels become freshness schedules', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table loads (id int, loaded_at timestamptz, made_at timestamptz)',
    `insert into loads values (1, now() - interval '2 hours', now() - interval '30 hours')`,
    'create table plain (id int)',
  ])
  const { put, ask, clauses, rediscover, runChecks, alerts } = contractsOf(world)
  await rediscover()
  const schema = [
    { name: 'loads', properties: [{ name: 'loaded_at' }, { name: 'made_at' }] },
    { name: 'plain', properties: [{ name: 'id' }] },
  ]
  const sla = (value: number, element: string, property = 'latency') => ({
    property,
    value,
    unit: 'h',
    element,
  })
  await put('loads', { schema, slaProperties: [sla(24, 'loads.made_at'), sla(48, 'loads', 'frequency')] })
  await runChecks()
  const found = await clauses('loads')
  t.match(
    [...found.values()].filter(({ kind }) => kind === 'sla'),
    [
      {
        status: 'failing',
        reason: '30 h old, expected every 24 h',
        check_kind: 'freshness',
      },
      { status: 'not_enforced', reason: /another clause is stricter: latency of loads\.made_at/ },
    ],
  )
  t.match(await alerts(), [
    { status: 'triggered', details: { contracts: [{ clause: 'latency of loads.made_at is 24 h' }] } },
  ])

  await put('loads', { schema, slaProperties: [sla(72, 'loads.made_at')] })
  await runChecks()
  t.match(
    [...(await clauses('loads')).values()].filter(({ kind }) => kind === 'sla'),
    [{ status: 'passing' }],
  )
  t.match(await alerts(), [{ status: 'resolved' }])
  t.match((await ask('GET', '/api/v1/sdk/freshness/schedules')).body.data.data, [{ sla_threshold: '72h' }])

  await ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: 'shop',
    table_path: 'plain',
    sla_threshold: '1h',
  })
  await put('loads', { schema, slaProperties: [sla(12, 'plain')] })
  t.match(
    [...(await clauses('loads')).values()].filter(({ kind }) => kind === 'sla'),
    [{ status: 'not_enforced', reason: /a freshness schedule with other terms/ }],
  )
  t.match(
    (await ask('GET', '/api/v1/sdk/freshness/schedules')).body.data.data,
    [{ sla_threshold: '1h' }],
    'the schedule of the contract is gone, the other stays',
  )
})

t.test('a clause whose check is paused or removed no longer passes', async t => {
  const { ask, put, clauses, rediscover, runChecks } = contractsOf(
    await makeWorldOn(t, stage, [
      'create table sales (a int, b int, at timestamptz)',
      'insert into sales values (1, null, now())',
    ]),
  )
  await rediscover()
  const properties = ['a', 'b'].map(name => ({ name, required: true }))
  const parts = {
    schema: [{ name: 'sales', properties: [...properties, { name: 'at' }] }],
    slaProperties: [{ property: 'latency', value: 1, unit: 'h', element: 'sales.at' }],
  }
  await put('sales', parts)
  await runChecks()
  const read = async () => {
    const found = await clauses('sales')
    return ['sales/a/required', 'sales/b/required', 'sales/at/sla/latency'].map(key => found.get(key)!)
  }
  const statuses = async () => (await read()).map(({ status }) => status)
  t.strictSame(await statuses(), ['passing', 'failing', 'passing'])
  const [a, b, at] = (await read()).map(({ check_id: id }) => id)
  const [schedule, rule] = [`/api/v1/sdk/freshness/schedules/${at}`, `/api/v1/sdk/validity/shop/${a}`]
  for (const url of [schedule, rule]) t.equal((await ask('PATCH', url, { is_active: false })).status, 200)
  t.match(await read(), [
    { status: 'pending', reason: /could not run: it is paused/ },
    { status: 'failing' },
    { status: 'pending', reason: /paused/ },
  ])
  for (const url of [schedule, rule]) await ask('PATCH', url, { is_active: true })
  await runChecks()
  t.strictSame(await statuses(), ['passing', 'failing', 'passing'])
  for (const url of [schedule, rule, `/api/v1/sdk/validity/shop/${b}`])
    t.equal((await ask('DELETE', url)).status, 200)
  t.match(await read(), [
    { status: 'pending', reason: /could not run: it was removed/ },
    { status: 'failing' },
    { status: 'pending', reason: /removed/ },
  ])
  await put('sales', parts)
  await runChecks()
  t.strictSame(await statuses(), ['passing', 'failing', 'passing'], 'replacing the contract makes them again')
})

t.test('a rule that counts says the number, in its clause and in the alert', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table gaps (v text)',
    `insert into gaps select case when n <= 40 then '' else 'v' end from generate_series(1, 100) n`,
  ])
  const { put, clauses, rediscover, runChecks, alerts } = contractsOf(world)
  await rediscover()
  const missing = { metric: 'missingValues', arguments: { missingValues: [''] }, name: 'gaps' }
  const quality = [{ ...missing, unit: 'percent', mustBeLessThan: 10 }]
  await put('gaps', { schema: [{ name: 'gaps', properties: [{ name: 'v', quality }] }] })
  await runChecks()
  const said = '40 %, expected less than 10 %'
  t.equal((await clauses('gaps')).get('gaps/v/quality/gaps')?.reason, said)
  const [own, ...more] = await alerts()
  t.strictSame(more, [])
  t.match(own?.details, { finding: said, contracts: [{ contract: 'gaps' }] })
})
