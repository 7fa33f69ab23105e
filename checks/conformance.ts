import assert from 'node:assert/strict'
import Joi from 'joi'
import type { ColumnKind } from '../connectors/catalog.ts'
import { memoryStand, type Stand, type StandColumn } from './conformance-stand.ts'
import type { Check, CheckType, Outcome } from './check.ts'
import { DECIMAL } from './measures.ts'
import { explain, scan, type Scanned } from './scan.ts'
import { rowCountMetric } from './metrics/row-count.ts'

export { describeTable } from './conformance-stand.ts'
export type { Stand, StandColumn, StandTable } from './conformance-stand.ts'

/** The part of a test that the kit uses; tap's and node:test's fit. */
export interface CheckTest {
  test(name: string, run: () => Promise<void>): unknown
}

/** What a case must come to. */
export type Expected =
  | { invalid: number }
  /** Compared to within 1e-9 of its size. */
  | { value: number | null }
  /** The config is refused when the check is made, by its schema or by `refuses`. */
  | { refused: RegExp }
  /** The measure is an error, with this message. */
  | { error: RegExp }

/** One column of values and what the check must say of it. */
export interface CheckCase {
  name: string
  /** The values, a row each, bound as they are. */
  values: readonly unknown[]
  /** The column's kind; text unless told. */
  kind?: ColumnKind
  /** The column's type in the engine's words. */
  type?: string
  config?: Record<string, unknown>
  /** `treat_null_as_valid`. */
  nullIsValid?: boolean
  expect: Expected
}

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

function assertShape(type: CheckType): void {
  assert.match(type.name, /^[A-Za-z][A-Za-z0-9_]*$/, 'the name is a word')
  assert.match(type.description, /\.$/, 'the description is a sentence')
  assert.ok(Joi.isSchema(type.config), 'config is a Joi schema')
  assert.ok(['required', 'optional', 'ignored'].includes(type.column), 'column says whether there is one')
  const doors = ['valid', 'measure', 'measures'].filter(door => door in type)
  assert.equal(doors.length, 1, 'it has one of valid, measure and measures')
  if (doors[0] === 'measures') assert.ok('read' in type, 'measures need read')
  if (doors[0] === 'measures' && type.family === 'rule')
    assert.ok('samples' in type, 'a table rule has samples')
}

async function runCase(type: CheckType, item: CheckCase, on: Stand): Promise<void> {
  const column: StandColumn = { name: 'a "value"', kind: item.kind ?? 'text', type: item.type }
  const { table, connection } = await on.make(
    [column],
    item.values.map(value => [value]),
  )
  const validated = type.config.validate(item.config ?? {})
  const config = (validated.value ?? {}) as Record<string, unknown>
  const info = table.columns.find(({ name }) => name === column.name)
  const refusal = validated.error?.message ?? (await type.refuses?.(config, info)) ?? null
  if ('refused' in item.expect) {
    assert.match(refusal ?? 'accepted', item.expect.refused)
    return
  }
  assert.equal(refusal, null, 'the config is accepted')
  const check = (id: string): Check => ({
    id,
    type,
    column: column.name,
    config,
    nullIsValid: item.nullIsValid,
  })
  const measure = (...checks: Check[]) =>
    scan(connection, on.engine, table, checks, { timeoutMs: 30_000, sampleLimit: 100 })

  const alone = await measure(check('alone'))
  const [outcome] = alone.outcomes
  assert.ok(outcome)
  assertExpected(outcome, item)
  await assertBound(type, config, () => explain(on.engine, table, [check('alone')]))
  assertShared(outcome, await measure(check('first'), count, check('second')))

  if ('error' in item.expect) return
  const empty = await on.make([column], [])
  const nothing = await scan(empty.connection, on.engine, empty.table, [check('empty')], {
    timeoutMs: 30_000,
  })
  assertEmpty(nothing)
}

const count: Check = { id: 'rows', type: rowCountMetric, config: {} }

function assertExpected(outcome: Outcome, { expect, values }: CheckCase): void {
  if ('error' in expect) {
    assert.equal(outcome.status, 'error')
    assert.match(outcome.status === 'error' ? outcome.message : '', expect.error)
    return
  }
  assert.notEqual(outcome.status, 'error', outcome.status === 'error' ? outcome.message : '')
  if ('invalid' in expect) {
    assert.ok(outcome.status === 'counted')
    assert.deepEqual(
      { total: outcome.total, invalid: outcome.invalid },
      { total: values.length, invalid: expect.invalid },
    )
    assert.equal(outcome.samples.length, Math.min(expect.invalid, 100), 'a sample of each invalid row')
  } else if ('value' in expect) {
    assert.ok(outcome.status === 'measured')
    const isClose = isNear(outcome.value, expect.value)
    assert.ok(isClose, `the value is ${outcome.value} and should be ${expect.value}`)
  }
}

function isNear(actual: number | null, expected: number | null): boolean {
  if (actual === null || expected === null) return actual === expected
  return Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
}

/** No text of a config may be spliced into the SQL, except where the whole is the user's own. */
async function assertBound(
  type: CheckType,
  config: Record<string, unknown>,
  write: () => Promise<{ text: string }[]>,
): Promise<void> {
  if (type.alone) return
  const texts = Object.values(config)
    .flat()
    .filter(value => typeof value === 'string' && value.length > 2 && !DECIMAL.test(value))
  for (const { text } of await write()) {
    for (const value of texts) assert.ok(!text.includes(String(value)), `${String(value)} is bound`)
  }
}

function assertShared(outcome: Outcome, { outcomes }: Scanned): void {
  for (const twin of outcomes.filter(({ id }) => id !== count.id)) {
    assert.deepEqual(numbersOf(twin), numbersOf(outcome), 'shared, the numbers stay')
  }
  assert.equal(outcomes.find(({ id }) => id === count.id)?.status, 'measured', 'others are not disturbed')
}

/** What an outcome says of the table, without the check's id and the time it took. */
function numbersOf(outcome: Outcome): Record<string, unknown> {
  return { ...outcome, id: undefined, durationMs: undefined }
}

function assertEmpty({ outcomes: [outcome] }: Scanned): void {
  assert.ok(outcome)
  assert.notEqual(outcome.status, 'error', 'an empty table is no error')
  if (outcome.status === 'counted') assert.equal(outcome.invalid, 0, 'an empty table has nothing invalid')
}
