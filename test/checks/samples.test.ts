import t from 'tap'
import type { Check } from '../../checks/check.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, ORDERS, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from './test-databases.ts'

const stands = [
  ['PostgreSQL', postgresqlStand, false],
  ['MariaDB', mariadbStand, mariadbAbsent],
  ['SQLite', sqliteStand, false],
] as const

for (const [engine, open, skip] of stands) {
  t.test(engine, { skip }, async t => {
    const on = await open(t)

    t.test('samples are invalid rows, by primary key', async t => {
      const { table } = await on.createTable(ORDERS, [
        [1, 'new', 'a'],
        [-1, 'odd', 'b'],
        [null, null, 'a'],
        [-2, "it's", 'x'.repeat(2000)],
      ])
      const sample = async (one: Check, sampleLimit = 100) => {
        const [outcome] = (await run(on, table, [one], { sampleLimit })).outcomes
        return outcome?.status === 'counted' ? outcome.samples : outcome
      }
      const min = { min: 0 }
      t.strictSame(await sample(check('RANGE', 'amount', min)), [
        { row_id: 2, value: -1 },
        { row_id: 3, value: null },
        { row_id: 4, value: -2 },
      ])
      t.strictSame(await sample(check('RANGE', 'amount', min, { nullIsValid: true })), [
        { row_id: 2, value: -1 },
        { row_id: 4, value: -2 },
      ])
      t.strictSame(await sample(check('RANGE', 'amount', min), 1), [{ row_id: 2, value: -1 }])
      t.strictSame(await sample(check('NOT_NULL', 'status')), [{ row_id: 3, value: null }])
      t.strictSame(await sample(check('UNIQUE', 'email')), [
        { row_id: 1, value: 'a' },
        { row_id: 3, value: 'a' },
      ])
      t.strictSame(await sample(check('ENUM', 'status', { allowed_values: ['new'] })), [
        { row_id: 2, value: 'odd' },
        { row_id: 3, value: null },
        { row_id: 4, value: "it's" },
      ])
      t.strictSame(await sample(check('REGEX', 'email', { pattern: '^.$' })), [
        { row_id: 4, value: `${'x'.repeat(999)}…` },
      ])
      t.strictSame(
        await sample(check('CUSTOM_SQL', undefined, { sql_expression: "amount > 0 and status = 'new'" })),
        [
          { row_id: 2, value: { amount: -1, status: 'odd' } },
          { row_id: 3, value: { amount: null, status: null } },
          { row_id: 4, value: { amount: -2, status: "it's" } },
        ],
      )
      t.strictSame(await sample(check('CUSTOM_SQL', 'amount', { sql_expression: 'id < 2' })), [
        { row_id: 2, value: -1 },
        { row_id: 3, value: null },
        { row_id: 4, value: -2 },
      ])
      const from = `${table.schema}.${table.name}`
      t.strictSame(
        await sample(
          check('CUSTOM_SQL', 'status', {
            sql_expression: `select id, status from ${from} where amount < -1`,
          }),
        ),
        [{ row_id: 4, value: "it's" }],
      )
      // The engine need not keep the order of a sub-query.
      const worst = await sample(
        check('CUSTOM_SQL', 'status', {
          sql_expression: `select amount as worst from ${from} where amount = -2`,
        }),
      )
      t.strictSame(worst, [{ row_id: 1, value: { worst: -2 } }])
      t.strictSame(await sample(check('RANGE', 'id', { min: 4 })), [
        { row_id: 1, value: 1 },
        { row_id: 2, value: 2 },
        { row_id: 3, value: 3 },
      ])
    })

    t.test('samples name composite keys as objects, and rows without a key by number', async t => {
      const name = on.engine.dialect.table(on.ref('pairs')).strings[0]
      const bare = on.engine.dialect.table(on.ref('bare')).strings[0]
      await on.execute(
        `create table ${name} (b integer not null, a varchar(9) not null, v integer, primary key (a, b))`,
      )
      await on.execute(`create table ${bare} (v integer)`)
      await on.execute(`insert into ${name} values (1, 'x', 5), (2, 'x', null)`)
      await on.execute(`insert into ${bare} values (null), (null), (1)`)
      const tables = await on.connection.introspect({ tables: [on.ref('bare'), on.ref('pairs')] })
      const [first, second] = await Promise.all(
        tables.map(async found => {
          const [outcome] = (await run(on, found, [check('NOT_NULL', 'v')], { sampleLimit: 9 })).outcomes
          return outcome?.status === 'counted' ? outcome.samples : outcome
        }),
      )
      t.strictSame(first, [
        { row_id: 1, value: null },
        { row_id: 2, value: null },
      ])
      t.strictSame(second, [{ row_id: { a: 'x', b: 2 }, value: null }])
    })

    t.test('rows whose key may not be read are numbered', { skip: engine === 'SQLite' }, async t => {
      const name = String(on.engine.dialect.table(on.ref('guarded')).strings[0])
      await on.execute(`create table ${name} (id integer primary key, v integer)`)
      await on.execute(`insert into ${name} values (11, null), (12, 5), (13, null)`)
      const [table] = await on.connection.introspect({ tables: [on.ref('guarded')] })
      const guarded = await on.reading!('guarded', ['v'])
      const { outcomes } = await run({ ...on, connection: guarded }, table!, [check('NOT_NULL', 'v')], {
        sampleLimit: 9,
      })
      t.match(outcomes, [{ status: 'counted', total: 3, invalid: 2 }])
      t.strictSame(outcomes[0]?.status === 'counted' && outcomes[0].samples, [
        { row_id: 1, value: null },
        { row_id: 2, value: null },
      ])
    })

    t.test('texts are cut by the engine, so that none comes whole', async t => {
      const { table } = await on.createTable(ORDERS, [[1, 'a', 'é'.repeat(5000)]])
      const long: number[] = []
      const connection = {
        ...on.connection,
        async query(...asked: Parameters<typeof on.connection.query>) {
          const rows = await on.connection.query(...asked)
          for (const row of rows)
            for (const value of Object.values(row)) if (typeof value === 'string') long.push(value.length)
          return rows
        },
      }
      const checks = [
        check('REGEX', 'email', { pattern: 'x' }),
        check('CUSTOM_SQL', undefined, { sql_expression: "email = 'x'" }),
      ]
      const { outcomes } = await run({ ...on, connection }, table, checks, { sampleLimit: 1 })
      const cut = `${'é'.repeat(999)}…`
      t.match(outcomes, [
        { samples: [{ row_id: 1, value: cut }] },
        { samples: [{ row_id: 1, value: { email: cut } }] },
      ])
      t.equal(Math.max(...long), 1001)
    })

    t.test('what is masked is neither selected nor shown, and NULL is shown as NULL', async t => {
      const { table } = await on.createTable(ORDERS, [
        [1, 'new', 'secret'],
        [null, 'odd', null],
      ])
      const { dialect } = on.engine
      const from = `${table.schema}.${table.name}`
      const [email, key] = ['email', 'id'].map(name => String(dialect.quote(name).strings[0]))
      const sample = async (one: Check, ...masked: string[]) => {
        const { outcomes, seen } = await run(on, table, [one], {
          sampleLimit: 9,
          maskedColumns: new Set(masked),
        })
        const [outcome] = outcomes
        return {
          samples: outcome?.status === 'counted' ? outcome.samples : outcome,
          // What is selected, without the flag that only says whether there is a value.
          outputs: (seen.at(-1) ?? '')
            .replace(/ where [^]*/, '')
            .replace(`case when ${email} is null then 0 else 1 end`, 'flag'),
        }
      }
      const expression = (text: string, column?: string) =>
        check('CUSTOM_SQL', column, { sql_expression: text })

      const regex = await sample(check('REGEX', 'email', { pattern: 'x' }), 'email')
      t.strictSame(regex.samples, [
        { row_id: 1, value: null, is_hidden: true },
        { row_id: 2, value: null },
      ])
      t.match(regex.outputs, 'flag')
      t.notMatch(regex.outputs, email)

      const absent = await sample(check('NOT_NULL', 'email'), 'email')
      t.strictSame(absent.samples, [{ row_id: 2, value: null }], 'nothing is hidden where nothing is')

      const composite = await sample(expression("amount > 1 and email = 'x'"), 'email')
      t.strictSame(composite.samples, [
        { row_id: 1, value: { amount: 1, email: null }, is_hidden: true },
        { row_id: 2, value: { amount: null, email: null } },
      ])
      t.notMatch(composite.outputs, email)

      const other = await sample(check('NOT_NULL', 'amount'), 'email', 'status')
      t.strictSame(other.samples, [{ row_id: 2, value: null }], 'other columns are shown')

      const numbered = await sample(check('RANGE', 'amount', { min: 2 }), 'id')
      t.strictSame(
        numbered.samples,
        [
          { row_id: 1, value: 1 },
          { row_id: 2, value: null },
        ],
        'rows by number',
      )
      t.notMatch(numbered.outputs, key)

      const text = `select id, email as status from ${from} where amount is null or amount > 0`
      for (const column of [undefined, 'status']) {
        const own = await sample(expression(text, column), 'email')
        t.strictSame(
          own.samples,
          [
            { row_id: 1, value: null, is_hidden: true },
            { row_id: 2, value: null, is_hidden: true },
          ],
          'an alias hides nothing',
        )
        t.match(own.outputs, /^select 1 as .s0. from \(/)
      }
      t.match((await sample(expression(text))).samples, [
        { row_id: 1, value: { id: 1, status: 'secret' } },
        { row_id: 2, value: { id: 2, status: null } },
      ])
    })

    t.test('nothing is sampled without a failure or without a limit', async t => {
      const { table } = await on.createTable(ORDERS, [[1, 'new', null]])
      const checks = [check('NOT_NULL', 'amount'), check('NOT_NULL', 'email')]
      const [passing, failing] = checks.map(({ id }) => id)
      t.equal((await run(on, table, checks)).statements, 1)
      t.equal((await run(on, table, checks, { sampleLimit: 0 })).statements, 1)
      t.equal((await run(on, table, checks, { sampleLimit: { [passing ?? '']: 9 } })).statements, 1)
      t.equal((await run(on, table, checks, { sampleLimit: { [failing ?? '']: 9 } })).statements, 2)
    })

    t.test('samples are at most a hundred rows and 64 KiB', async t => {
      const rows = Array.from({ length: 120 }, () => [null, null, null])
      const { table } = await on.createTable(ORDERS, rows)
      const [many] = (await run(on, table, [check('NOT_NULL', 'email')], { sampleLimit: 1000 })).outcomes
      t.equal(many?.status === 'counted' && many.samples.length, 100)
      const long = await on.createTable(
        ORDERS,
        Array.from({ length: 80 }, () => [1, 'a', '名'.repeat(999)]),
      )
      const [big] = (
        await run(on, long.table, [check('REGEX', 'email', { pattern: 'x' })], { sampleLimit: 100 })
      ).outcomes
      const samples = big?.status === 'counted' ? big.samples : []
      t.ok(samples.length > 10 && samples.length < 30)
      t.ok(Buffer.byteLength(JSON.stringify(samples)) < 65 * 1024)
    })
  })
}
