/**
 * What a check package and a connector package test themselves with.
 *
 * A check type, in an SQLite in memory or `on` any stand:
 *
 *     await testCheck(t, { check, cases: [{ name: 'odd', values: [1, 2], kind: 'integer', expect: { invalid: 1 } }] })
 *
 * A case may name a `trait` of its column that only some engines have, `further` columns to group by, and what it
 * comes to `byNature` where an engine's numbers differ.
 *
 * A connector: all built-in rules and metrics, which must give the same numbers on every engine.
 *
 *     const on = createTestDatabase({
 *       connector: acme,
 *       connection: () => acme.connect(config, options),
 *       execute: text => owner.query(text), // may create and write
 *       ref: name => ({ catalog: 'shop', schema: 'public', name }),
 *       types: { text: 'varchar(2000)', decimal: 'numeric(38, 2)', float: 'double', json: null }, // null: has none
 *       // Optional: what only some engines have, as a column type, true for the usual one, or why there is none;
 *       // and by what nature its numbers differ. Cases of a trait that is not told are skipped.
 *       traits: { NaN: true, zoned: 'timestamp with time zone', padded: { unsupported: 'ACME pads no text' } },
 *       natures: ['decimals are doubles'],
 *       literal: value => (typeof value === 'string' ? quoteAsAcmeDoes(value) : undefined), // undefined: as usual
 *     })
 *     await testBuiltIns(t, {
 *       on,
 *       more: { NOT_NULL: [{ name: 'NaN is not NULL', kind: 'float', values: ['NaN'], expect: { invalid: 0 } }] },
 *       skip: { 'RANGE: exponents': 'ACME has no numbers below 1e-6', percentile: 'as of ACME 9 only' },
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

/** The part of a test that `testCheck` uses; tap's and node:test's fit. */
export interface CheckTest {
  test(name: string, run: () => Promise<void>): unknown
}

/** What `testCheck` takes. */
export interface CheckTestOptions<Config> {
  check: CheckType<Config>
  cases: readonly CheckCase[]
  /** Where to measure; a SQLite in memory unless told. */
  database?: TestDatabase
}

/**
 * Holds a check type to what `CheckType` promises: its shape, each case's numbers, the same numbers when it
 * shares a statement, samples that are as many as the invalid rows, values that are bound, and an answer for
 * a table without rows. Runs as subtests of `t`.
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
      if (reason !== null) throw new Error(`${reason}: leave the case out, or measure on another stand.`)
      await runCase(type, item, on)
    })
  }
}
