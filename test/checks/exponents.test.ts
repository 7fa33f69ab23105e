import t from 'tap'
import { rules } from '../../checks/rules/index.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from './test-databases.ts'

const stands = [
  ['PostgreSQL', postgresqlStand, 'double precision', 'numeric(20, 10)', false],
  ['MariaDB', mariadbStand, 'double', 'decimal(20, 10)', mariadbAbsent],
  ['SQLite', sqliteStand, 'double', 'decimal(20, 10)', false],
] as const

for (const [engine, open, double, decimal, skip] of stands)
  t.test(`${engine}: a decimal text may have an exponent`, { skip }, async t => {
    const on = await open(t)
    await on.execute(`create table numbers (id integer primary key, d ${double}, n ${decimal})`)
    await on.execute('insert into numbers values (1, 1e308, 250000), (2, 2.5e-3, 0.0025), (3, -7, -7)')
    const [table] = await on.connection.introspect({ tables: [on.ref('numbers')] })
    if (!table) throw new Error('no table')
    const cases: [string, string, object, number][] = [
      ['ENUM', 'd', { allowed_values: ['1e308', '25E-4', '-0.7e+1'] }, 0],
      ['ENUM', 'd', { allowed_values: ['1e307'] }, 3],
      ['ENUM', 'n', { allowed_values: ['2.5e5', '25e-4', '-7e0'] }, 0],
      ['ENUM', 'n', { allowed_values: ['1e100', '2.5e4'] }, 3],
      ['RANGE', 'd', { min: '-1e1', max: '1e308' }, 0],
      ['RANGE', 'd', { max: '9e307' }, 1],
      ['RANGE', 'n', { min: '-7', max: '2.5e+5' }, 0],
      ['RANGE', 'n', { min: '2.4e-3', max: '2.6e-3' }, 2],
    ]
    const checks = cases.map(([name, column, config]) =>
      check(name, column, config as Record<string, unknown>),
    )
    const { outcomes } = await run(on, table, checks)
    for (const [index, [name, column, config, invalid]] of cases.entries())
      t.match(outcomes[index], { status: 'counted', invalid }, `${name} ${column} ${JSON.stringify(config)}`)
    const [refused] = (await run(on, table, [check('ENUM', 'd', { allowed_values: ['1e999'] })])).outcomes
    t.match(refused, { status: 'error', message: /"1e999", which is no number/ })
  })

t.test('a bound that no double holds, or out of order, is refused', async t => {
  const range = rules.find(({ name }) => name === 'RANGE')
  for (const config of [
    { min: '1e999' },
    { min: '1e-999' },
    { min: '1e3', max: '999' },
    { min: '1e3', max: '2024-01-01' },
  ])
    t.ok(range?.config.validate(config).error, JSON.stringify(config))
  t.notOk(range?.config.validate({ min: '999', max: '1E3' }).error)
})
