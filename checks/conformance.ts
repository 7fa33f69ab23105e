/**
 * The conformance kit for check packages and connector packages.
 *
 * A check type, in SQLite in memory or in any test `database`:
 *
 *     await testCheck(t, { check, cases: [{ name: 'odd', values: [1, 2], kind: 'integer', expect: { invalid: 1 } }] })
 *
 * A check that reads a second table names it by its config: `otherTable` has its columns, and `config` gets its name.
 *
 *     const known = { name: 'unknown code', values: ['NL', 'XX'], expect: { invalid: 1 } }
 *     const countries = [{ name: 'code', kind: 'text', values: ['NL', 'DE'] }]
 *     const config = (column, other) => ({ table: other.name, column: 'code' })
 *     await testCheck(t, { check: inColumn, cases: [{ ...known, otherTable: countries, config }] })
 *
 * The kit then also tests that a table that does not exist is refused when the check is created (`engineValidations`).
 *
 * A case may name a `trait` of its column that only some engines have, `extraColumns` to group by, and in `expectIf`
 * another expectation for engines with a known deviation.
 *
 * A connector, by all built-in rules and metrics, which must give the same numbers on every engine:
 *
 *     const database = createTestDatabase({
 *       connector: acme,
 *       connection: () => acme.connect(config, options),
 *       execute: text => owner.query(text), // may create and write
 *       tableRef: name => ({ catalog: 'shop', schema: 'public', name }),
 *       columnTypes: { text: 'varchar(2000)', decimal: 'numeric(38, 2)', float: 'double', json: null }, // null: has none
 *       // Optional. A trait is a column type, true for the usual type, or the reason why no column has it.
 *       // Cases of a trait that is not listed are skipped.
 *       traits: { NaN: true, zoned: 'timestamp with time zone', padded: { unsupported: 'ACME pads no text' } },
 *       deviations: ['decimals are doubles'],
 *       literal: value => (typeof value === 'string' ? quoteAsAcmeDoes(value) : undefined), // undefined: as usual
 *     })
 *     await testBuiltIns(t, {
 *       database,
 *       extraCases: { NOT_NULL: [{ name: 'NaN is not NULL', kind: 'float', values: ['NaN'], expect: { invalid: 0 } }] },
 *       skip: { 'RANGE: exponents': 'ACME has no numbers below 1e-6', percentile: 'since ACME 9 only' },
 *     })
 */
import { openMemoryDatabase } from './conformance/memory-database.ts'
import type { CheckType } from './check.ts'
import { whyUnsupported, type CheckCase } from './conformance/case.ts'
import { assertShape, runCase } from './conformance/run-case.ts'
import type { TestDatabase } from './conformance/test-database.ts'

export { testBuiltIns } from './conformance/built-ins.ts'
export type { BuiltInTestOptions, SkippedCases, BuiltInTest } from './conformance/built-ins.ts'
export type { CheckCase, ExpectedOutcome, ExtraColumn } from './conformance/case.ts'
export { createTestDatabase } from './conformance/engine-database.ts'
export type { TestDatabaseOptions } from './conformance/engine-database.ts'
export { describeTable, COLUMN_TRAITS } from './conformance/test-database.ts'
export type {
  Deviation,
  TestDatabase,
  TestColumn,
  TestTable,
  ColumnTrait,
  TraitSupport,
  ColumnTraits,
} from './conformance/test-database.ts'

/** The part of a test that `testCheck` uses; fits tap and node:test. */
export interface CheckTest {
  test(name: string, run: () => Promise<void>): unknown
}

export interface CheckTestOptions<Config> {
  check: CheckType<Config>
  cases: readonly CheckCase[]
  /** Defaults to SQLite in memory. */
  database?: TestDatabase
}

/**
 * Tests a check type against the contract of `CheckType`, in subtests of `t`: its shape, the numbers of each case, equal
 * numbers in a shared statement, one sample per invalid row, bound values, and a result for an empty table.
 */
export async function testCheck<Config>(
  t: CheckTest,
  { check, cases, database: on = openMemoryDatabase() }: CheckTestOptions<Config>,
): Promise<void> {
  const type = check as CheckType
  await t.test(`${type.name}: shape`, async () => assertShape(type))
  for (const item of cases) {
    await t.test(`${type.name}: ${item.name}`, async () => {
      const reason = whyUnsupported(item, on)
      if (reason !== null) throw new Error(`${reason}: leave the case out, or use another database.`)
      await runCase(type, item, on)
    })
  }
}
