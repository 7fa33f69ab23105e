/**
 * What a check package and a connector package test themselves with.
 *
 * A check type, in an SQLite in memory or `on` any stand:
 *
 *     await testCheck(t, { check, cases: [{ name: 'odd', values: [1, 2], kind: 'integer', expect: { invalid: 1 } }] })
 *
 * A connector: all built-in rules and metrics, which must give the same numbers on every engine.
 *
 *     const on = engineStand({
 *       connector: acme,
 *       connection: () => acme.connect(config, options),
 *       execute: text => owner.query(text), // may create and write
 *       ref: name => ({ catalog: 'shop', schema: 'public', name }),
 *       types: { text: 'varchar(2000)', decimal: 'numeric(38, 2)', float: 'double', json: null }, // null: has none
 *       literal: value => (typeof value === 'string' ? quoteAsAcmeDoes(value) : undefined), // undefined: as usual
 *     })
 *     await testBuiltIns(t, {
 *       on,
 *       more: { NOT_NULL: [{ name: 'NaN is not NULL', kind: 'float', values: ['NaN'], expect: { invalid: 0 } }] },
 *       skip: { 'RANGE: exponents': 'ACME has no numbers below 1e-6', percentile: 'as of ACME 9 only' },
 *     })
 */
import { memoryStand } from './conformance-stand.ts'
import type { CheckType } from './check.ts'
import { assertShape, runCase, type CheckCase } from './conformance/case.ts'
import type { Stand } from './conformance/stand.ts'

export { testBuiltIns } from './conformance/built-ins.ts'
export type { BuiltInOptions, SkippedCases, SuiteTest } from './conformance/built-ins.ts'
export type { CheckCase, Expected } from './conformance/case.ts'
export { engineStand } from './conformance/engine-stand.ts'
export type { EngineStandOptions } from './conformance/engine-stand.ts'
export { describeTable } from './conformance/stand.ts'
export type { Stand, StandColumn, StandTable } from './conformance/stand.ts'

/** The part of a test that `testCheck` uses; tap's and node:test's fit. */
export interface CheckTest {
  test(name: string, run: () => Promise<void>): unknown
}

/** What `testCheck` takes. */
export interface CheckConformance<Config> {
  check: CheckType<Config>
  cases: readonly CheckCase[]
  /** Where to measure; a SQLite in memory unless told. */
  on?: Stand
}

/**
 * Holds a check type to what `CheckType` promises: its shape, each case's numbers, the same numbers when it
 * shares a statement, samples that are as many as the invalid rows, values that are bound, and an answer for
 * a table without rows. Runs as subtests of `t`.
 */
export async function testCheck<Config>(
  t: CheckTest,
  { check, cases, on = memoryStand() }: CheckConformance<Config>,
): Promise<void> {
  const type = check as CheckType
  await t.test(`${type.name}: shape`, async () => assertShape(type))
  for (const item of cases) {
    await t.test(`${type.name}: ${item.name}`, async () => runCase(type, item, on))
  }
}
