import assert from 'node:assert/strict'
import Joi from 'joi'
import type { TableInfo } from '../../connectors/catalog.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Check, CheckType, GroupValue, CheckOutcome } from '../check.ts'
import { validateOnEngine, validationSession } from '../engine-validation.ts'
import { isDecimal } from '../measures.ts'
import { buildCheckContext } from '../rows/context.ts'
import { rowCountMetric } from '../metrics/row-count.ts'
import { explainScan, scan, type ScanResult } from '../scan.ts'
import { caseColumn, caseConfig, expectedOutcome, createCaseTable, createOtherTable } from './case.ts'
import type { CheckCase, ExpectedOutcome, ExtraColumn } from './case.ts'
import type { TestDatabase, TestTable } from './test-database.ts'

export function assertShape(type: CheckType): void {
  assert.match(type.name, /^[A-Za-z][A-Za-z0-9_]*$/, 'the name is a word')
  assert.match(type.description, /\.$/, 'the description is a sentence')
  assert.ok(Joi.isSchema(type.config), 'config is a Joi schema')
  assert.ok(['required', 'optional', 'ignored'].includes(type.column), 'column says whether there is one')
  const doors = ['valid', 'measure', 'measures'].filter(door => door in type)
  assert.equal(doors.length, 1, 'it has one of valid, measure and measures')
  if (doors[0] === 'measures') assert.ok('readMeasures' in type, 'measures need readMeasures')
  if (doors[0] === 'measures' && type.family === 'rule')
    assert.ok('samples' in type, 'a table rule has samples')
}

const timeoutMs = 30_000

/** Runs a case; rejects with the first failed assertion. */
export async function runCase(type: CheckType, item: CheckCase, on: TestDatabase): Promise<void> {
  const expect = expectedOutcome(item, on)
  const column = caseColumn(item, on)
  const made = await createCaseTable(item, on)
  const { table, connection } = made
  const other = await createOtherTable(item, on)
  assert.ok(
    table.columns.some(({ name }) => name === column.name),
    `introspect returns the column ${column.name}`,
  )
  const checkOf = (id: string, of: Record<string, unknown>): Check => ({
    id,
    type,
    column: column.name,
    config: of,
    nullIsValid: item.nullIsValid,
    groupBy: item.groupBy,
  })
  const created = await create(checkOf('created', caseConfig(item, on, other)), made, {
    ...on,
    // What only its scan finds is not refused here.
    isEngineAsked: !('error' in expect),
  })
  if ('refused' in expect) {
    assert.match(created.refusal ?? 'accepted', expect.refused)
    return
  }
  assert.equal(created.refusal, null, 'the config is accepted')
  const { config } = created
  const check = (id: string) => checkOf(id, config)
  if (other) await assertMissingIsRefused(checkOf('missing', caseConfig(item, on, absent(other))), made, on)

  const alone = await scan(connection, on.engine, table, [check('alone')], { timeoutMs, sampleLimit: 100 })
  const [outcome] = alone.outcomes
  assert.ok(outcome)
  assertExpected(outcome, expect, item)
  const names = other
    ? [other.catalog, other.schema, other.name, ...other.columns.map(({ name }) => name)]
    : []
  await assertBound(type, config, names, () => explainScan(on.engine, table, [check('alone')]))
  const together = [check('first'), count, check('second')]
  assertShared(outcome, await scan(connection, on.engine, table, together, { timeoutMs }))

  if ('error' in expect || item.values.length === 0 || wasTested(check('empty'), item, on)) return
  await assertFilters(outcome, check('alone'), item, on)
  const empty = await createCaseTable(item, on, 'none')
  assertEmpty(await scan(empty.connection, on.engine, empty.table, [check('empty')], { timeoutMs }))
}

/**
 * Does what the server does when a check is created, on the engine too: the config as it is kept, and the sentence by
 * which it is refused, or null.
 */
async function create(
  check: Check,
  { table, connection }: TestTable,
  { engine, isEngineAsked = true }: Pick<TestDatabase, 'engine'> & { isEngineAsked?: boolean },
): Promise<{ config: Record<string, unknown>; refusal: string | null }> {
  const { type } = check
  const validated = type.config.validate(check.config)
  const config = (validated.value ?? {}) as Record<string, unknown>
  const info = table.columns.find(({ name }) => name === check.column)
  const refusal =
    validated.error?.message ??
    (await type.validateConfig?.(config, info, { dialect: engine.dialect, table })) ??
    (isEngineAsked ? await refusalOfEngine({ ...check, config }, { table, connection }, engine) : null)
  return { config, refusal }
}

async function refusalOfEngine(
  check: Check,
  { table, connection }: TestTable,
  engine: TestDatabase['engine'],
): Promise<string | null> {
  const context = buildCheckContext(engine, table, check)
  try {
    return (await validateOnEngine(check.type, context, validationSession(connection, timeoutMs))) ?? null
  } catch (thrown) {
    // As in the server: a statement that the engine refuses is the check's.
    if (thrown instanceof ConnectorError) return thrown.message
    throw thrown
  }
}

/** A table that does not exist, with the columns of one that does. */
function absent(table: TableInfo): TableInfo {
  return { ...table, name: `${table.name}_missing` }
}

/** Found later, each scan would fail: the person who creates the check is there to correct the name. */
async function assertMissingIsRefused(check: Check, made: TestTable, on: TestDatabase): Promise<void> {
  const { refusal } = await create(check, made, on)
  assert.notEqual(
    refusal,
    null,
    'a table that does not exist is refused at creation: give the type engineValidations that select from it',
  )
}

const count: Check = { id: 'rows', type: rowCountMetric, config: {} }

function assertExpected(
  outcome: CheckOutcome,
  expect: ExpectedOutcome,
  { values, groupBy = [], extraColumns = [] }: CheckCase,
): void {
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
  } else if ('groups' in expect) {
    assert.ok(outcome.status === 'grouped')
    const rows = outcome.groups.map(({ group, value }) => [
      ...groupBy.map(name =>
        normalizeGroupValue(
          group[name],
          extraColumns.find(column => column.name === name),
        ),
      ),
      value,
    ])
    assert.deepEqual(sortByJson(rows.map(rounded)), sortByJson(expect.groups.map(rounded)))
    const judged = outcome.groups.reduce((sum, { total }) => sum + total, 0)
    assert.equal(judged, values.length, 'every row is in a group')
  }
}

/** Engines return a day as text or as its first moment, and a boolean as 0 or 1 if they have no other. */
function normalizeGroupValue(value: unknown, column: ExtraColumn | undefined): unknown {
  if (column?.kind === 'boolean' && (value === 0 || value === 1)) return value === 1
  return value instanceof Date ? value.toISOString().replace('T00:00:00.000Z', '') : value
}

function rounded(row: readonly unknown[]): unknown[] {
  return row.map(value => (typeof value === 'number' ? Number(value.toPrecision(9)) : value))
}

function sortByJson<Item>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

function isNear(actual: number | null, expected: number | null): boolean {
  if (actual === null || expected === null) return actual === expected
  return Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
}

/**
 * No text of a config may be spliced into the SQL, except where the whole is the user's own.
 * @param names those of the second table, which are quoted, not bound
 */
async function assertBound(
  type: CheckType,
  config: Record<string, unknown>,
  names: readonly string[],
  write: () => Promise<{ text: string }[]>,
): Promise<void> {
  if (type.userSql) return
  const texts = Object.values(config)
    .flat()
    .filter(value => typeof value === 'string' && value.length > 2 && !isDecimal(value))
    .filter(value => !names.includes(String(value)))
  for (const { text } of await write()) {
    for (const value of texts) assert.ok(!text.includes(String(value)), `${String(value)} is bound`)
  }
}

function assertShared(outcome: CheckOutcome, { outcomes: [first, rows, second] }: ScanResult): void {
  assert.ok(first && rows && second)
  assert.deepEqual(numbersOf(first), numbersOf(outcome), 'the numbers stay the same in a shared statement')
  assert.deepEqual(numbersOf(second), numbersOf(outcome), 'and when measured twice')
  assert.equal(rows.status, 'measured', 'others are not disturbed')
}

/** The numbers of an outcome, independent of id, duration, samples and the order of groups. */
function numbersOf(outcome: CheckOutcome): Record<string, unknown> {
  const groups = 'groups' in outcome ? { groups: sortByJson<GroupValue>(outcome.groups) } : {}
  return { ...outcome, ...groups, samples: undefined, id: undefined, durationMs: undefined }
}

const FILTER = 'in_scope = 1'

/** A filter gives the numbers of its rows, in a statement with checks of all rows and in one of its own. */
async function assertFilters(
  unfiltered: CheckOutcome,
  check: Check,
  item: CheckCase,
  on: TestDatabase,
): Promise<void> {
  const { table, connection } = await createCaseTable(withOtherRows(item, on), on)
  const { dialect } = on.engine
  if (check.type.namesItsRows?.(check.config, { dialect, table })) return
  const checks = [
    { ...check, id: 'first', filter: FILTER },
    count,
    { ...count, id: 'second', filter: FILTER },
  ]
  const shared = await scan(connection, on.engine, table, checks, { timeoutMs })
  const alone = await scan(connection, on.engine, table, checks.slice(0, 1), { timeoutMs, sampleLimit: 100 })
  for (const { outcomes } of [shared, alone]) {
    const [outcome] = outcomes
    assert.ok(outcome)
    // A type that says nothing of filters and reads the table itself is refused one.
    if (outcome.status === 'error' && !check.type.filters && /leave the filter out/.test(outcome.message))
      return
    assert.deepEqual(numbersOf(outcome), numbersOf(unfiltered), 'a filter gives the numbers of its rows')
  }
  const [sampled] = alone.outcomes
  if (unfiltered.status === 'counted' && sampled?.status === 'counted')
    assert.equal(sampled.samples.length, unfiltered.samples.length, 'only rows of a filter are samples')
  const [, all, filtered] = shared.outcomes
  assert.ok(all?.status === 'measured' && filtered?.status === 'measured')
  assert.deepEqual([filtered.value, all.value], [item.values.length, 2 * item.values.length])
}

/** The case with all of its rows once more, which a filter leaves out. */
function withOtherRows(item: CheckCase, { foldName }: TestDatabase): CheckCase {
  const { values, extraColumns = [] } = item
  const twice = (of: readonly unknown[]) =>
    values.map((_, index) => of[index]).flatMap(value => [value, value])
  const name = foldName?.('in_scope') ?? 'in_scope'
  const scope = { name, kind: 'integer', values: values.flatMap(() => [1, 0]) } as const
  return {
    ...item,
    values: twice(values),
    extraColumns: [...extraColumns.map(column => ({ ...column, values: twice(column.values) })), scope],
  }
}

/** Checks that were tested on other tables too, by database and check type: equal SQL is tested once. */
const tested = new WeakMap<TestDatabase, WeakMap<CheckType, Set<string>>>()

function wasTested({ type, config }: Check, item: CheckCase, on: TestDatabase): boolean {
  const types = tested.get(on) ?? new WeakMap<CheckType, Set<string>>()
  tested.set(on, types)
  const known = types.get(type) ?? new Set<string>()
  types.set(type, known)
  const key = JSON.stringify([config, item.nullIsValid, item.groupBy, caseColumn(item, on)])
  const isKnown = known.has(key)
  known.add(key)
  return isKnown
}

function assertEmpty({ outcomes: [outcome] }: ScanResult): void {
  assert.ok(outcome)
  assert.notEqual(outcome.status, 'error', 'an empty table is no error')
  if (outcome.status === 'counted') assert.equal(outcome.invalid, 0, 'an empty table has nothing invalid')
  if (outcome.status === 'grouped') assert.deepEqual(outcome.groups, [], 'an empty table has no groups')
}
