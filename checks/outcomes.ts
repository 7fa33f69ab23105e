import type { Row, Value } from '../connectors/connector.ts'
import type { GroupValue, MeasuredValues, CheckOutcome } from './check.ts'
import { storedValue } from './column-values.ts'
import { toNumber } from './measures.ts'
import { problemFromThrown, interpretMeasures, type PlannedCheck } from './plan.ts'
import { toPresentable } from './samples.ts'
import { MAX_GROUPS, TOTAL_COLUMN, groupColumnName, measureKey } from './statement.ts'
import type { ScanPart } from './rows/part.ts'
import type { ScanStatement } from './statement.ts'

/** Maximum bytes of one group's values as JSON: they are an index key, and PostgreSQL's limit is 2,704. */
const MAX_GROUP_BYTES = 2000

/** The outcome of one check from the rows of its SELECT; an `error` if that is not a number. */
export function readOutcome(
  item: PlannedCheck,
  part: ScanPart,
  statement: ScanStatement,
  rows: Row[],
  durationMs: number,
): CheckOutcome {
  const { id } = item.check
  const isGrouped = part.groupBy.length > 0
  if (isGrouped && rows.length > MAX_GROUPS) {
    const message = `group_by makes more than ${MAX_GROUPS.toLocaleString('en')} groups: group by columns with fewer values.`
    return { id, status: 'error', kind: 'too-many-groups', message, durationMs }
  }
  try {
    if (isGrouped) {
      const all = rows.map(row => readGroup(item, part, statement, row))
      // A group of the table of which no row is one of the check's.
      const groups = item.rowCount ? all.filter(({ total }) => total > 0) : all
      const message = findGroupProblem(groups)
      return message === null
        ? { id, status: 'grouped', groups, durationMs }
        : { id, status: 'error', kind: 'invalid-check', message, durationMs }
    }
    const { reading, total, measured } = readRow(item, statement, rows[0] ?? {})
    if (typeof reading === 'object' && reading !== null) {
      return { id, status: 'counted', ...reading, samples: [], measured, durationMs }
    }
    return { id, status: 'measured', value: reading, total, durationMs }
  } catch (thrown) {
    return { id, status: 'error', durationMs, ...problemFromThrown(item.check.type, thrown) }
  }
}

function readRow(item: PlannedCheck, { columns }: ScanStatement, row: Row) {
  const counted = item.rowCount ? (columns.get(measureKey(item.rowCount)) ?? '') : TOTAL_COLUMN
  const total = toNumber(requireColumn(row, counted)) ?? 0
  const measured: MeasuredValues = {}
  for (const [name, measure] of Object.entries(item.measures)) {
    measured[name] = toNumber(requireColumn(row, columns.get(measureKey(measure)) ?? ''))
  }
  return { total, measured, reading: interpretMeasures(item, measured, total) }
}

/** Without a row, or without its columns, nothing was measured; taken for zeros, every rule would pass. */
function requireColumn(row: Row, name: string): Value | undefined {
  if (name in row) return row[name]
  throw new Error(`the engine gave no row with the column ${name}`)
}

function readGroup(item: PlannedCheck, part: ScanPart, statement: ScanStatement, row: Row): GroupValue {
  const { reading, total } = readRow(item, statement, row)
  const { table, dialect } = item.context
  const group = Object.fromEntries(
    part.groupBy.map((name, index) => {
      const column = table.columns.find(each => each.name === name)
      return [name, toPresentable(storedValue(row[groupColumnName(index)] ?? null, column, dialect))]
    }),
  )
  return { group, value: typeof reading === 'number' ? reading : null, total }
}

/** Why the stored values do not identify every group, or null if they do. */
function findGroupProblem(groups: readonly GroupValue[]): string | null {
  const keys = groups.map(({ group }) => JSON.stringify(group))
  if (keys.some(key => Buffer.byteLength(key) > MAX_GROUP_BYTES)) {
    return `group_by makes a group whose values have more than ${MAX_GROUP_BYTES.toLocaleString('en')} bytes: group by columns with shorter values.`
  }
  if (new Set(keys).size === keys.length) return null
  return 'group_by makes groups that differ by less than is kept of their values, such as microseconds: group by columns with coarser values.'
}

/** Adds what the type of a check warns of. */
export function withWarnings(outcome: CheckOutcome, { check, context }: PlannedCheck): CheckOutcome {
  const warnings = check.type.configWarnings?.(check.config, context.info) ?? []
  return warnings.length > 0 ? { ...outcome, warnings } : outcome
}

/** The share of the time of a scan from which a suspect stays apart. */
const SLOW_SHARE = 0.1

/** Marks the outcome of a suspect that took long. @param timeoutMs of the whole scan */
export function withSlowness(outcome: CheckOutcome, timeoutMs: number): CheckOutcome {
  if (outcome.durationMs < SLOW_SHARE * timeoutMs) return outcome
  if (outcome.status !== 'windowed') return { ...outcome, isSlow: true }
  const buckets = outcome.buckets.map(found => ({
    ...found,
    outcome: { ...found.outcome, isSlow: true } as const,
  }))
  return { ...outcome, buckets }
}
