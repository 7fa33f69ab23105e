import t from 'tap'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

const VALUES = ['ab', 'AB', 'Ab', 'é', 'É', 'xab', 'b1', 'ß']
const PATTERNS = ['^ab$', 'AB', '^[a-z]+$', '[[:upper:]]', 'é', '^É$', '(?i)^ab$', '[^a]b', 'B1', '^.$']

/** A column, and how its engine's own operator is written for it where that is not as usual. */
interface Column {
  type: string
  /** What the operator's left side is; `v` unless it does not take the column as it is. */
  operand?: string
}

/** Holds every pattern on every column to what the engine's own operator finds, asked for by the owner. */
async function holds(
  t: Pick<typeof import('tap').t, 'same' | 'equal'>,
  on: EngineTestDatabase,
  columns: readonly Column[],
  operator: (operand: string, pattern: string) => string,
): Promise<void> {
  for (const { type, operand = 'v' } of columns) {
    const { table } = await on.createTable(
      [{ name: 'v', kind: 'text', type }],
      VALUES.map(value => [value]),
    )
    const checks = PATTERNS.map(pattern => check('REGEX', 'v', { pattern }))
    const { outcomes, statements } = await run(on, table, checks)
    const name = on.engine.dialect.table(table).strings.join('')
    const counts = PATTERNS.map(
      (pattern, index) => `sum(case when ${operator(operand, pattern)} then 0 else 1 end) as c${index}`,
    )
    const [row] = (await on.execute(`select ${counts.join(', ')} from ${name}`)) as Record<string, unknown>[]
    t.same(
      outcomes.map(outcome => (outcome.status === 'counted' ? outcome.invalid : outcome)),
      PATTERNS.map((_, index) => Number(row?.[`c${index}`])),
      type,
    )
    t.equal(statements, 1)
  }
}

t.test('PostgreSQL', async t => {
  const on = await postgresqlStand(t)
  const [found] = (await on.execute(
    `select count(*)::int as count from pg_available_extensions where name = 'citext'`,
  )) as { count: number }[]
  const operator = (operand: string, pattern: string) => `${operand} ~ '${pattern}'`
  await holds(
    t,
    on,
    [
      { type: 'text' },
      { type: 'varchar(20) collate "C"' },
      { type: 'text collate "en-x-icu"' },
      { type: 'name' },
      // The padding of CHAR is not matched, here as elsewhere.
      { type: 'char(5)', operand: 'v::text' },
      { type: 'text collate without_case', operand: 'v collate "default"' },
    ],
    operator,
  )
  const { table } = await on.createTable(
    [{ name: 'v', kind: 'text', type: 'text collate without_case' }],
    [['ab']],
  )
  const older = {
    ...table,
    columns: table.columns.map(({ nondeterministicCollation: _, ...column }) => column),
  }
  const { outcomes } = await run(on, older, [check('REGEX', 'v', { pattern: '^ab$' })])
  t.match(
    outcomes,
    [{ status: 'error', kind: 'invalid-query', message: /run a discovery of the source/ }],
    'a collation that no discovery has found yet',
  )
  t.test('citext', { skip: found?.count === 0 && 'the cluster has no citext' }, async t => {
    await on.execute('create extension citext')
    await on.execute('create domain label as citext')
    await holds(t, on, [{ type: 'citext' }, { type: 'label' }, { type: 'citext collate "C"' }], operator)
  })
})

t.test('MariaDB', { skip: mariadbAbsent }, async t => {
  const on = await mariadbStand(t)
  const types = [
    'varchar(20) collate utf8mb4_general_ci',
    'varchar(20) collate utf8mb4_unicode_ci',
    'varchar(20) collate utf8mb4_bin',
    'varchar(20) collate utf8mb4_nopad_bin',
    'varchar(20) character set latin1 collate latin1_swedish_ci',
    'varchar(20) character set latin1 collate latin1_general_cs',
    'char(5) collate utf8mb4_general_ci',
    'text collate utf8mb4_general_ci',
    `enum('ab','AB','Ab','é','É','xab','b1','ß') collate utf8mb4_bin`,
  ]
  await holds(
    t,
    on,
    types.map(type => ({ type })),
    (operand, pattern) => `${operand} regexp '${pattern}'`,
  )
  const { table } = await on.createTable(
    [{ name: 'v', kind: 'text', type: 'varchar(20) character set latin1' }],
    [['ab'], ['é']],
  )
  const { outcomes } = await run(on, table, [check('REGEX', 'v', { pattern: 'ab|日' })])
  t.match(outcomes, [{ status: 'counted', invalid: 1 }], 'a pattern with letters that the column cannot hold')
})

t.test('SQLite, whose operator knows no collations', async t => {
  const on = await sqliteStand(t)
  for (const type of ['text', 'text collate nocase', 'varchar(20) collate rtrim']) {
    const { table } = await on.createTable(
      [{ name: 'v', kind: 'text', type }],
      VALUES.map(value => [value]),
    )
    const { outcomes } = await run(on, table, [check('REGEX', 'v', { pattern: '^ab$' })])
    t.match(outcomes, [{ status: 'counted', invalid: VALUES.length - 1 }], type)
  }
})
