import assert from 'node:assert/strict'
import Joi from 'joi'
import type { ColumnKind } from '../../connectors/catalog.ts'
import type { Check, CheckType, Outcome } from '../check.ts'
import { DECIMAL } from '../measures.ts'
import { rowCountMetric } from '../metrics/row-count.ts'
import { explain, scan, type Scanned } from '../scan.ts'
import type { Stand, StandColumn, StandTable } from './stand.ts'

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
  /** A plain name for the column, for SQL that names it; one that needs quoting unless told. */
  column?: string
  /** The column's kind; text unless told. */
  kind?: ColumnKind
  /** The column's type in the engine's words. */
  type?: string
  config?: Record<string, unknown>
  /** `treat_null_as_valid`. */
  nullIsValid?: boolean
  expect: Expected
}

/** Holds a check type's own fields to what `CheckType` promises. */
export function assertShape(type: CheckType): void {
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

/** The column that a case is about, on a stand. */
export function columnOf(item: CheckCase, on: Stand): StandColumn {
  const name =
    item.column === undefined ? (on.columnName ?? 'a "value"') : (on.fold?.(item.column) ?? item.column)
  return { name, kind: item.kind ?? 'text', type: item.type }
}

/** The tables that were made, by stand and content: cases that share one make it once. */
const made = new WeakMap<Stand, Map<string, Promise<StandTable>>>()

function tableOf(on: Stand, column: StandColumn, values: readonly unknown[]): Promise<StandTable> {
  const tables = made.get(on) ?? new Map<string, Promise<StandTable>>()
  made.set(on, tables)
  const key = JSON.stringify([column, values.map(value => [typeof value, String(value)])])
  const table =
    tables.get(key) ??
    on.make(
      [column],
      values.map(value => [value]),
    )
  tables.set(key, table)
  return table
}

/** Runs a case; rejects with what is wrong. */
export async function runCase(type: CheckType, item: CheckCase, on: Stand): Promise<void> {
  const column = columnOf(item, on)
  const { table, connection } = await tableOf(on, column, item.values)
  const validated = type.config.validate(item.config ?? {})
  const config = (validated.value ?? {}) as Record<string, unknown>
  const info = table.columns.find(({ name }) => name === column.name)
  assert.ok(info, `introspect tells the column ${column.name}`)
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
    // Samples of one check suffice; each costs a statement.
    scan(connection, on.engine, table, checks, {
      timeoutMs: 30_000,
      sampleLimit: { [checks[0]?.id ?? '']: 100 },
    })

  const alone = await measure(check('alone'))
  const [outcome] = alone.outcomes
  assert.ok(outcome)
  assertExpected(outcome, item)
  await assertBound(type, config, () => explain(on.engine, table, [check('alone')]))
  assertShared(outcome, await measure(check('first'), count, check('second')))

  if ('error' in item.expect) return
  const empty = await tableOf(on, column, [])
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

function assertShared(outcome: Outcome, { outcomes: [first, rows, second] }: Scanned): void {
  assert.ok(first && rows && second)
  assert.deepEqual(numbersOf(first), numbersOf(outcome), 'shared, the numbers stay')
  assert.deepEqual(
    numbersOf(second),
    { ...numbersOf(outcome), ...withoutSamples(outcome) },
    'and asked twice',
  )
  assert.equal(rows.status, 'measured', 'others are not disturbed')
}

function withoutSamples({ status }: Outcome): object {
  return status === 'counted' ? { samples: [] } : {}
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
