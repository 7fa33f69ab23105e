import Joi from 'joi'
import t from 'tap'
import type { Check, CheckType, CheckOutcome, TableRule } from '../../checks/check.ts'
import { explainScan, scan } from '../../checks/scan.ts'
import type { Row } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { check, ORDERS, run } from './scan-helpers.ts'
import { postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

/** What an outcome says, without how long it took. */
function numbers(outcome: CheckOutcome | undefined): Record<string, unknown> {
  return { ...outcome, durationMs: undefined }
}

const ENDLESS =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select i from n where i < 0'

function orders(on: EngineTestDatabase, count = 200) {
  const rows = Array.from({ length: count }, (_, index) => [
    index - 3,
    ['new', 'paid', 'sent', null][index % 4],
    index % 10 === 0 ? 'no address' : `user${index % 50}@example.com`,
  ])
  return on.createTable(ORDERS, rows)
}

const sixteen = () => [
  check('row_count'),
  check('NOT_NULL', 'amount'),
  check('NOT_NULL', 'status'),
  check('UNIQUE', 'amount'),
  check('UNIQUE', 'email'),
  check('RANGE', 'amount', { min: 0 }),
  check('RANGE', 'amount', { max: 10_000 }),
  check('ENUM', 'status', { allowed_values: ['new', 'paid', 'sent'] }, { nullIsValid: true }),
  check('REGEX', 'email', { pattern: '@' }),
  check('null_percent', 'status'),
  check('distinct_count', 'status'),
  check('duplicate_count', 'status'),
  check('min_value', 'amount'),
  check('max_value', 'amount'),
  check('mean', 'amount'),
  check('percentile', 'amount', { percentile_value: 50 }),
]

const stands = [
  ['PostgreSQL', postgresqlStand],
  ['SQLite', sqliteStand],
] as const

for (const [engine, open] of stands) {
  t.test(engine, async t => {
    const on = await open(t)
    const { table } = await orders(on)

    t.test('sixteen checks cost one statement, and one more for each failing rule', async t => {
      const checks = sixteen()
      const plain = await run(on, table, checks)
      t.equal(plain.statements, 1)
      t.equal(plain.seen.length, 1)
      const failing = plain.outcomes.filter(outcome => outcome.status === 'counted' && outcome.invalid > 0)
      t.strictSame(
        failing.map(({ id }) => id.split(' ')[0]),
        ['NOT_NULL', 'UNIQUE', 'RANGE', 'REGEX'],
      )

      const sampled = await run(on, table, checks, { sampleLimit: 5 })
      t.equal(sampled.statements, 1 + failing.length)
      t.equal(sampled.seen.length, sampled.statements)
      t.strictSame(
        sampled.outcomes.map(({ id }) => id),
        checks.map(({ id }) => id),
        'outcomes come in the order of the checks',
      )
      const only = await run(on, table, checks, { sampleLimit: { [failing[0]?.id ?? '']: 5 } })
      t.equal(only.statements, 2, 'or for the one rule that is to have samples')
    })

    t.test('the numbers are right', async t => {
      const { outcomes } = await run(on, table, sixteen())
      t.strictSame(
        outcomes.map(outcome =>
          outcome.status === 'counted'
            ? outcome.invalid
            : outcome.status === 'measured'
              ? outcome.value
              : outcome,
        ),
        [200, 0, 50, 0, 200, 3, 0, 0, 20, 25, 3, 147, -3, 196, 96.5, 96.5],
      )
    })

    t.test('a broken check errs alone, in few statements, and the others keep their numbers', async t => {
      const good = Array.from({ length: 59 }, (_, index) =>
        index % 3 === 0
          ? check('RANGE', 'amount', { min: index })
          : check('REGEX', 'email', { pattern: `${index}` }),
      )
      const healthy = new Map(
        (await run(on, table, good)).outcomes.map(outcome => [outcome.id, numbers(outcome)]),
      )
      for (const position of [0, 29, 58]) {
        const broken = check('REGEX', 'email', { pattern: '(' })
        const { outcomes, statements, seen } = await run(on, table, good.toSpliced(position, 0, broken))
        t.equal(statements, seen.length)
        t.ok(statements <= 1 + 2 * Math.ceil(Math.log2(60)), `${statements} statements`)
        t.match(outcomes[position], { id: broken.id, status: 'error', kind: 'invalid-query', message: /.+/ })
        for (const outcome of outcomes.toSpliced(position, 1)) {
          t.strictSame(numbers(outcome), healthy.get(outcome.id), outcome.id)
        }
      }
    })

    t.test('several broken checks err each with its own message', async t => {
      const bad = [check('REGEX', 'email', { pattern: '(' }), check('REGEX', 'email', { pattern: '[' })]
      const fine = [check('mean', 'amount'), check('RANGE', 'amount', { min: 0 }), check('row_count')]
      const [a, b] = bad as [Check, Check]
      const [c, d, e] = fine as [Check, Check, Check]
      const { outcomes } = await run(on, table, [c, a, d, b, e])
      t.strictSame(
        outcomes.map(({ status }) => status),
        ['measured', 'error', 'counted', 'error', 'measured'],
      )
      const messages = outcomes.map(outcome => (outcome.status === 'error' ? outcome.message : ''))
      t.not(messages[1], messages[3])
    })

    t.test('a table that is gone makes all its checks errors, without a search', async t => {
      const gone = { ...table, name: 'gone' }
      const { outcomes, statements } = await run(on, gone, sixteen())
      t.equal(statements, 2)
      for (const outcome of outcomes) {
        t.match(outcome, { status: 'error', kind: 'missing-object', message: /gone/ }, outcome.id)
      }
    })

    t.test('a column that is gone since the catalog was read errs alone', async t => {
      const { table } = await on.createTable(
        [...ORDERS, { name: 'extra', kind: 'text' }],
        [[1, 'a', 'b', 'c']],
      )
      await on.execute(`alter table ${on.engine.dialect.table(table).strings[0]} drop column extra`)
      const { outcomes } = await run(on, table, [
        check('row_count'),
        check('NOT_NULL', 'extra'),
        check('mean', 'amount'),
      ])
      t.match(outcomes[0], { status: 'measured', value: 1 })
      t.match(outcomes[1], { status: 'error', kind: 'missing-object', message: /extra/ })
      t.match(outcomes[2], { status: 'measured', value: 1 })
    })

    t.test('a missing column is reported without a statement', async t => {
      const { outcomes, statements } = await run(on, table, [
        check('mean', 'nothing'),
        check('NOT_NULL', 'none'),
      ])
      t.equal(statements, 0)
      t.match(outcomes[0], {
        status: 'error',
        kind: 'missing-object',
        message: /column nothing does not exist in/,
      })
      t.match(outcomes[1], {
        status: 'error',
        kind: 'missing-object',
        message: /column none does not exist in/,
      })
    })

    t.test('metrics by group share a statement and give a value for each group', async t => {
      const { table } = await on.createTable(ORDERS, [
        [1, 'new', 'a'],
        [3, 'new', 'b'],
        [5, null, 'a'],
      ])
      const byStatus = { groupBy: ['status'] }
      const { outcomes, statements } = await run(on, table, [
        check('mean', 'amount', {}, byStatus),
        check('row_count', undefined, {}, byStatus),
        check('percentile', 'amount', { percentile_value: 50 }, byStatus),
        check('null_percent', 'status', {}, { groupBy: ['status', 'email'] }),
        check('row_count'),
      ])
      t.equal(statements, 3)
      const groups = outcomes.map(outcome => {
        if (outcome.status !== 'grouped') return outcome
        return outcome.groups.toSorted((a, b) => (JSON.stringify(a.group) < JSON.stringify(b.group) ? -1 : 1))
      })
      const [fresh, none] = [{ status: 'new' }, { status: null }]
      t.strictSame(groups[0], [
        { group: fresh, value: 2, total: 2 },
        { group: none, value: 5, total: 1 },
      ])
      t.strictSame(groups[1], [
        { group: fresh, value: 2, total: 2 },
        { group: none, value: 1, total: 1 },
      ])
      t.strictSame(groups[2], groups[0])
      t.strictSame(groups[3], [
        { group: { status: 'new', email: 'a' }, value: 0, total: 1 },
        { group: { status: 'new', email: 'b' }, value: 0, total: 1 },
        { group: { status: null, email: 'a' }, value: 100, total: 1 },
      ])
      t.match(outcomes[4], { value: 3 })
      const { table: empty } = await on.createTable(ORDERS, [])
      t.match((await run(on, empty, [check('mean', 'amount', {}, byStatus)])).outcomes, [
        { status: 'grouped', groups: [] },
      ])
    })

    t.test('percentiles by ranks are those of the engine, by one statement for each group_by', async t => {
      const kinds = ['integer', 'decimal', 'float'] as const
      const columns = [...kinds.map(kind => ({ name: kind, kind })), ...ORDERS.slice(1)]
      // Not random, but as spread; some NULL, a group without values, NULL as a group, one of a single value.
      const rows = Array.from({ length: 400 }, (_, index) => {
        const number = ((index * 7919) % 1009) - 500
        const isNothing = index % 5 === 0 || index % 7 === 3
        const values = isNothing ? [null, null, null] : [number, number / 4, number * 1.1e-3]
        return [...values, index === 1 ? 'one' : ['new', 'paid', null][index % 3], `user${index % 7}`]
      })
      const { table } = await on.createTable(columns, rows)
      const fractions = [0, 10, 33.3, 50, 95, 99.9, 100]
      const checks = [['status'], ['status', 'email']].flatMap(groupBy =>
        kinds.flatMap(kind =>
          fractions.map(percentile_value => check('percentile', kind, { percentile_value }, { groupBy })),
        ),
      )
      const { groupedPercentile: _, ...rest } = on.engine.capabilities
      const without = { ...on, engine: { ...on.engine, capabilities: rest } }
      const own = await run(on, table, checks)
      const ranked = await run(without, table, checks)
      t.equal(ranked.statements, 2)
      t.ok(ranked.seen.every(text => text.match(/row_number\(\)/g)?.length === kinds.length))
      const groupsOf = (outcome: CheckOutcome | undefined) => {
        const groups = outcome?.status === 'grouped' ? outcome.groups : []
        return new Map(groups.map(({ group, ...measured }) => [JSON.stringify(group), measured]))
      }
      const apart: unknown[] = []
      for (const [index, { id }] of checks.entries()) {
        const [expected, found] = [own, ranked].map(({ outcomes }) => groupsOf(outcomes[index]))
        t.ok(expected && expected.size >= 4 && found?.size === expected.size, id)
        for (const [group, { value, total }] of expected ?? []) {
          const other = found?.get(group)
          const isNear =
            value === null ? other?.value === null : Math.abs((other?.value ?? NaN) - value) < 1e-9
          if (!isNear || other?.total !== total) apart.push({ id, group, value, total, other })
        }
      }
      t.strictSame(apart, [])
      const ofAll = checks
        .slice(0, kinds.length * fractions.length)
        .map(one => ({ ...one, id: `whole ${one.id}`, groupBy: [] }))
      const valuesOf = async (stand: EngineTestDatabase) => {
        const { outcomes, seen } = await run(stand, table, ofAll)
        return { seen, values: outcomes.map(one => (one.status === 'measured' ? (one.value ?? NaN) : NaN)) }
      }
      const [engine, ranks] = [await valuesOf(on), await valuesOf(without)]
      t.equal(ranks.seen.length, 1)
      t.equal(ranks.seen[0]?.match(/row_number\(\)/g)?.length, kinds.length, 'once for each column')
      const differences = engine.values.map((value, index) => Math.abs(value - (ranks.values[index] ?? NaN)))
      t.ok(
        differences.every(difference => difference < 1e-9),
        'of the whole table too',
      )

      const empty = await on.createTable(columns, [])
      t.match((await run(without, empty.table, [checks[0] as Check, ...ofAll])).outcomes, [
        { status: 'grouped', groups: [] },
        ...ofAll.map(() => ({ status: 'measured', value: null })),
      ])
    })

    t.test('what a column holds twice is found by grouping it once', async t => {
      const { outcomes, statements, seen } = await run(on, table, [
        check('UNIQUE', 'email'),
        check('distinct_count', 'email'),
        check('duplicate_count', 'email'),
        check('UNIQUE', 'status', {}, { nullIsValid: true }),
        check('distinct_count', 'amount'),
        check('distinct_count', 'status', {}, { groupBy: ['email'] }),
      ])
      t.equal(statements, 2)
      t.equal(seen[0]?.match(/ group by "email"/g)?.length, 1)
      t.notMatch(seen[0], /distinct "(email|status)"/)
      t.match(outcomes, [
        { invalid: 200, total: 200 },
        { value: 46 },
        { value: 154 },
        { invalid: 150, total: 200 },
        { value: 200 },
        { status: 'grouped' },
      ])
    })

    t.test('no more is joined than engines join', async t => {
      const columns = Array.from(
        { length: 70 },
        (_, index) => ({ name: `c${index}`, kind: 'integer' }) as const,
      )
      const { table } = await on.createTable(columns, [columns.map(() => 1), columns.map(() => 1)])
      const ofEach = columns.flatMap(({ name }) => [
        check('UNIQUE', name),
        check('distinct_count', name),
        ...[50, 90].map(percentile_value => check('percentile', name, { percentile_value })),
      ])
      const { groupedPercentile: _, ...rest } = on.engine.capabilities
      const ranking = { ...on, engine: { ...on.engine, capabilities: rest } }
      for (const [stand, expected] of [
        [on, 2],
        [ranking, 3],
      ] as const) {
        const { outcomes, statements } = await run(stand, table, ofEach)
        t.equal(statements, expected)
        t.match(
          outcomes,
          ofEach.map(({ type }) => (type.name === 'UNIQUE' ? { invalid: 2 } : { value: 1 })),
        )
      }
      const groupBy = ['c0']
      const byGroup = await run(
        on,
        table,
        columns.map(({ name }) => check('distinct_count', name, {}, { groupBy })),
      )
      t.equal(byGroup.statements, 1, 'groups join nothing')
    })

    t.test('what is too much together is no fault of any check', async t => {
      const { dialect } = on.engine
      const limits = { ...dialect.limits, columns: 10_000 }
      const boundless = { ...on, engine: { ...on.engine, dialect: { ...dialect, limits } } }
      const many = Array.from({ length: 2100 }, (_, index) => check('RANGE', 'amount', { min: index - 1000 }))
      const { outcomes, statements } = await run(boundless, table, many)
      t.ok(statements > 1)
      t.strictSame(
        outcomes.filter(({ status }) => status !== 'counted'),
        [],
      )
    })

    t.test('groups that cannot be kept apart are an error of their metric alone', async t => {
      const { table } = await on.createTable(ORDERS, [
        [1, `${'x'.repeat(1500)}a`, 'é'.repeat(999)],
        [2, `${'x'.repeat(1500)}b`, 'short'],
      ])
      const by = (...groupBy: string[]) => check('mean', 'amount', {}, { groupBy })
      const { outcomes } = await run(on, table, [
        by('status'),
        by('status', 'email'),
        by('email', 'amount'),
        by('id'),
      ])
      t.match(outcomes, [
        {
          status: 'error',
          kind: 'invalid-check',
          message: /^group_by makes groups that differ by less than/,
        },
        { status: 'error', kind: 'invalid-check', message: /^group_by .* more than 2,000 bytes/ },
        { status: 'error', kind: 'invalid-check', message: /^group_by .* more than 2,000 bytes/ },
        { status: 'grouped', groups: { length: 2 } },
      ])
    })

    t.test(
      'a check that stays alone is asked about before each scan, and is not sent where refused',
      async t => {
        const from = on.engine.dialect.table(table)
        const asked: TableRule = {
          family: 'rule',
          name: 'ASKED',
          description: 'It is asked about.',
          config: Joi.object({}),
          column: 'optional',
          userSql: true,
          engineValidations: ({ column, config }) => [
            { select: sql`select ${column} as found from ${from} where 1 = 0` },
            {
              select: sql`select 'asked' as found`,
              validateRows([row]) {
                if (config.throws) throw new Error('no such thing')
                return config.refuse ? `The engine says ${row?.found}.` : null
              },
            },
          ],
          measures: ({ column }) => ({ judged: sql`count(${column})` }),
          readMeasures: ({ judged }, total) => ({ total, invalid: total - (judged ?? 0) }),
          samples: ({ column }) => ({ where: sql`${column} is null` }),
        }
        const one = (id: string, config = {}, type: CheckType = asked) => ({
          id,
          type,
          column: 'status',
          config,
        })
        const fine = await run(on, table, [one('a'), check('row_count')])
        t.match(fine.outcomes, [
          { status: 'counted', invalid: 50, measured: { judged: 150 } },
          { value: 200 },
        ])
        t.equal(fine.statements, 4)
        t.match(fine.seen.slice(1), [/as found from/, /'asked'/, /count\("status"\)/], 'right before its own')

        const refused = await run(on, table, [one('a', { refuse: true }), one('b', { throws: true })])
        t.match(refused.outcomes, [
          { id: 'a', status: 'error', kind: 'invalid-check', message: 'The engine says asked.' },
          { id: 'b', status: 'error', kind: 'invalid-check', message: 'ASKED failed: no such thing' },
        ])
        t.equal(refused.statements, 2, 'only questions, of which equal ones are asked once')

        const broken = { ...asked, engineValidations: () => [{ select: sql`select none_such from ${from}` }] }
        const missing = await run(on, table, [one('a', {}, broken), check('row_count')])
        t.match(missing.outcomes, [
          { status: 'error', kind: 'missing-object', message: /none_such/ },
          { status: 'measured', value: 200 },
        ])
        t.equal(missing.statements, 2)

        const { userSql: _, ...shared } = asked
        const together = await run(on, table, [one('a', { refuse: true }, shared), check('row_count')])
        t.match(together.outcomes, [{ status: 'counted', invalid: 50 }, { value: 200 }])
        t.equal(together.statements, 1, 'one that shares a statement is asked about when it is made')

        const explained = await explainScan(on.engine, table, [one('a'), ...sixteen()])
        const sent = await run(on, table, [one('a'), ...sixteen()])
        t.strictSame(
          explained.map(({ text }) => text.replaceAll(/\$\d+/g, '?')),
          sent.seen.filter(text => !text.includes('as found')),
          'what is explained is what is sent, questions aside',
        )
      },
    )

    t.test("a failure of unknown kind is the check's while the connection answers", async t => {
      const odd = { kind: 'other', engine: 'x', code: 'XX000', message: 'cache lookup failed' } as const
      const failing = (fails: (text: string) => boolean, fields: object = {}) => ({
        ...on,
        connection: {
          ...on.connection,
          query: (...[statement, options]: Parameters<typeof on.connection.query>) =>
            fails(statement.render(() => '?').text)
              ? Promise.reject(new ConnectorError({ ...odd, ...fields }))
              : on.connection.query(statement, options),
        },
      })
      const checks = sixteen()
      const { outcomes } = await run(
        failing(text => text.includes('avg(')),
        table,
        checks,
      )
      const bad = outcomes.filter(({ status }) => status === 'error')
      t.match(bad, [{ kind: 'other', message: 'cache lookup failed' }])
      t.match(bad[0]?.id, /^mean/)
      const [alone] = (
        await run(
          failing(text => text.includes('avg(')),
          table,
          [check('mean', 'amount')],
        )
      ).outcomes
      t.match(alone, { status: 'error', kind: 'other' })

      await t.rejects(
        run(
          failing(() => true),
          table,
          checks,
        ),
        { code: 'XX000' },
        'it does not answer',
      )
      await t.rejects(
        run(
          failing(() => true),
          table,
          [check('mean', 'amount')],
        ),
        { code: 'XX000' },
      )
      await t.rejects(
        run(
          failing(text => text.includes('avg('), { code: 'ABORTED' }),
          table,
          checks,
        ),
        { code: 'ABORTED' },
        "a cancelled scan is no check's fault",
      )
    })

    t.test('a thousand groups are given, one more is an error', async t => {
      const { table } = await on.createTable([{ name: 'amount', kind: 'integer' }], [])
      const name = on.engine.dialect.table(table).strings[0]
      const fill = (from: number, to: number) =>
        on.execute(
          `insert into ${name} (amount) with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) select i from n`,
        )
      const grouped = check('row_count', undefined, {}, { groupBy: ['amount'] })
      await fill(1, 1000)
      const [thousand] = (await run(on, table, [grouped])).outcomes
      t.equal(thousand?.status === 'grouped' && thousand.groups.length, 1000)
      await fill(1001, 5000)
      const [more] = (await run(on, table, [grouped])).outcomes
      t.match(more, { status: 'error', kind: 'too-many-groups', message: /more than 1,000 groups/ })
    })

    t.test('one deadline holds for the whole scan, and a timeout is not searched for', async t => {
      const slow = check('CUSTOM_SQL', undefined, {
        sql_expression: ENDLESS,
      })
      const { outcomes, statements, seen } = await run(
        on,
        table,
        [
          ...sixteen(),
          slow,
          check('CUSTOM_SQL', undefined, { sql_expression: 'select 1 from orders where id < 0' }),
        ],
        { timeoutMs: 1000, sampleLimit: 5 },
      )
      t.match(outcomes.at(-2), { status: 'error', kind: 'timeout', message: /.+/ })
      t.match(outcomes.at(-1), {
        status: 'error',
        kind: 'timeout',
        message: /1 s allowed for the scan were used up/,
      })
      t.notOk(outcomes.slice(0, 16).some(({ status }) => status === 'error'))
      t.equal(statements, seen.length)
      t.notOk(
        seen.some(text => text.includes('"s0"')),
        'no sample either',
      )
      t.match(
        (await run(on, table, [check('row_count')])).outcomes,
        [{ value: 200 }],
        'the connection goes on',
      )
    })

    t.test('suspects have statements of their own, a few for many, after those of all others', async t => {
      const suspect = (name: string, config: object) =>
        check(name, undefined, config as Record<string, unknown>, { isSuspect: true })
      const sum = (n: number) => suspect('custom_sql', { sql_expression: `sum(amount) + ${n}` })
      const many = Array.from({ length: 20 }, (_, n) => sum(n))
      const others = [
        ...[check('row_count'), check('row_count', undefined, {}, { isSuspect: true })],
        ...[suspect('CUSTOM_SQL', { sql_expression: 'amount > 0' })],
        check('NOT_NULL', 'status', {}, { isSuspect: true, filter: 'amount > 1' }),
        check('NOT_NULL', 'status', {}, { isSuspect: true, filter: 'amount > 2' }),
      ]
      const { outcomes, seen } = await run(on, table, [...many, ...others])
      const together = await run(
        on,
        table,
        [...many, ...others].map(one => ({ ...one, isSuspect: false })),
      )
      const numbersOf = (all: typeof outcomes) => all.map(({ durationMs: _, ...rest }) => rest)
      t.same(numbersOf(outcomes), numbersOf(together.outcomes))
      t.equal(seen.length - together.seen.length, 8)
      t.notMatch(seen.filter(text => /m0/.test(text))[0], /sum/, 'the checks without SQL of users come first')
    })

    t.test('texts that call the same functions are asked about once', async t => {
      const calling = Array.from({ length: 10 }, (_, n) =>
        check('CUSTOM_SQL', undefined, { sql_expression: `abs(amount) + ${n} >= 0` }),
      )
      const { outcomes, statements } = await run(on, table, [...calling, check('row_count')])
      t.ok(outcomes.every(({ status }) => status !== 'error'))
      t.ok(statements <= 2, `${statements} statements`)
    })

    t.test('a suspect that takes long stays apart', async t => {
      let clock = 0
      const now = () => (clock += 60_000)
      const timed = (isSuspect: boolean) =>
        run(on, table, [check('custom_sql', undefined, { sql_expression: 'sum(amount)' }, { isSuspect })], {
          timeoutMs: 600_000,
          now,
        })
      t.match((await timed(true)).outcomes, [{ status: 'measured', isSlow: true }])
      t.notOk((await timed(false)).outcomes[0]?.isSlow, 'what is measured with others says nothing of one')
    })

    t.test(
      'a condition of a user that fails on a row errs alone',
      { skip: on.engine.name === 'sqlite' },
      async t => {
        const checks = [
          ...sixteen(),
          check('CUSTOM_SQL', undefined, { sql_expression: '100 / (amount - 1) > 0' }),
          check('CUSTOM_SQL', undefined, { sql_expression: 'amount > 0' }),
        ]
        const { outcomes, statements } = await run(on, table, checks)
        t.match(outcomes.at(-2), { status: 'error', kind: 'invalid-query', message: /divides by zero/ })
        t.match(outcomes.at(-1), { status: 'counted', total: 200 })
        t.notOk(outcomes.slice(0, 16).some(({ status }) => status === 'error'))
        t.ok(statements <= 2 + 2 * Math.log2(18) + 2, `${statements}`)
      },
    )

    t.test('calling it off rejects with the reason, before and while a statement runs', async t => {
      const reason = new Error('called off')
      await t.rejects(run(on, table, sixteen(), { signal: AbortSignal.abort(reason) }), reason)
      const controller = new AbortController()
      const endless = check('CUSTOM_SQL', undefined, { sql_expression: ENDLESS })
      const running = run(on, table, [endless], { signal: controller.signal })
      setTimeout(() => controller.abort(reason), 200)
      await t.rejects(running, reason)
      t.match(
        (await run(on, table, [check('row_count')])).outcomes,
        [{ value: 200 }],
        'the connection goes on',
      )
    })
  })
}

t.test('an answer without the measures is an error of every check, never a pass', async t => {
  const on = await sqliteStand(t)
  const { table } = await orders(on, 4)
  const upper = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value]))
  const strays: Record<string, (rows: Row[]) => Row[]> = { none: () => [], folded: rows => rows.map(upper) }
  for (const [name, stray] of Object.entries(strays)) {
    const connection = {
      query: async (...asked: Parameters<typeof on.connection.query>) =>
        stray(await on.connection.query(...asked)),
    }
    const custom = check('CUSTOM_SQL', undefined, { sql_expression: 'select 1' })
    const { outcomes } = await scan(connection, on.engine, table, [...sixteen(), custom], {
      timeoutMs: 20_000,
    })
    t.equal(outcomes.length, 17)
    for (const outcome of outcomes)
      t.match(outcome, { status: 'error', message: /gave no row/ }, `${name} ${outcome.id}`)
  }
})

t.test('what the connection is to blame for is thrown, with no outcome', async t => {
  const on = await sqliteStand(t)
  const { table } = await orders(on, 4)
  await on.connection.close()
  await t.rejects(run(on, table, sixteen()), ConnectorError)
})
