/** Random orders, and checks of all kinds with what they say of a part of them. */
import type { Check, CheckOutcome } from '../../../checks/check.ts'
import { randomOf } from '../../bench/detector-random.ts'
import { mariadbAbsent } from '../../helpers/mariadb.ts'
import { check, run } from '../scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from '../test-databases.ts'
import type { TestColumn } from '../../../checks/conformance.ts'

export const ENGINES = [
  { name: 'PostgreSQL', absent: false, start: postgresqlStand },
  { name: 'MariaDB', absent: mariadbAbsent, start: mariadbStand },
  { name: 'SQLite', absent: false, start: sqliteStand },
] as const

/** Checks of every kind that a scan can share. */
export const CHECKS = (): Check[] => [
  check('row_count'),
  check('NOT_NULL', 'status'),
  check('UNIQUE', 'email'),
  check('UNIQUE', 'amount', {}, { nullIsValid: true }),
  check('RANGE', 'amount', { min: 10, max: 60 }),
  check('RANGE', 'amount', { min: 10 }, { nullIsValid: true }),
  check('ENUM', 'status', { allowed_values: ['paid', 'sent'] }),
  check('REGEX', 'email', { pattern: '1' }),
  check('null_percent', 'amount'),
  check('distinct_count', 'email'),
  check('duplicate_count', 'status'),
  check('min_value', 'amount'),
  check('max_value', 'amount'),
  check('mean', 'amount'),
  check('sum', 'amount'),
  check('standard_deviation', 'amount'),
  check('max_length', 'email'),
  check('percentile', 'amount', { percentile_value: 30 }),
  check('percentile', 'amount', { percentile_value: 95 }),
  check('mean', 'amount', {}, { groupBy: ['status'] }),
  check('percentile', 'amount', { percentile_value: 50 }, { groupBy: ['status'] }),
  check('custom_sql', undefined, { sql_expression: 'sum(amount) / nullif(count(status), 0)' }),
  check('CUSTOM_SQL', undefined, { sql_expression: 'amount <> 7' }),
]

export function randomRows(seed: string): unknown[][] {
  const random = randomOf(seed).uniform
  const oneOf = (values: readonly unknown[]) => values[Math.floor(random() * values.length)]
  return Array.from({ length: 240 }, () => [
    random() < 0.1 ? null : Math.floor(random() * 90),
    oneOf(['new', 'paid', 'sent', null]),
    random() < 0.1 ? null : `user${Math.floor(random() * 200)}`,
  ])
}

/** What was measured, without what differs from run to run. */
export function numbersOf(outcome: CheckOutcome): unknown {
  const { id: _id, durationMs: _durationMs, ...rest } = outcome
  if (rest.status === 'counted') return { ...rest, samples: undefined }
  // Doubles are added in the order in which rows are read.
  if (rest.status === 'measured' && rest.value !== null)
    return { ...rest, value: Number(rest.value.toPrecision(12)) }
  if (rest.status !== 'grouped') return rest
  const key = ({ group }: { group: unknown }) => JSON.stringify(group)
  return { ...rest, groups: rest.groups.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)) }
}

/** What the same checks say of a table that has only the rows of a condition. */
export async function expectedOf(
  on: EngineTestDatabase,
  { name, columns }: { name: string; columns: readonly TestColumn[] },
  filter: string,
  checks: readonly Check[],
): Promise<unknown[]> {
  const { table } = await on.createTable(columns, [])
  const [to, from] = [table.name, name].map(each => on.engine.dialect.table(on.ref(each)).strings[0])
  await on.execute(`insert into ${to} select * from ${from} where ${filter}`)
  const { outcomes } = await run(on, table, [...checks])
  return outcomes.map(numbersOf)
}
