import type { Row, Value } from '../connectors/connector.ts'
import type { GroupValue, MeasuredValues, CheckOutcome } from './check.ts'
import { toNumber } from './measures.ts'
import { broken, interpret, type Planned } from './plan.ts'
import { presentable } from './samples.ts'
import { MAX_GROUPS, TOTAL, groupColumn, measureKey, type Part, type Statement } from './statement.ts'

/** Bytes of the values of one group, as JSON: by them it is found again, and PostgreSQL's indexes take 2,704. */
const MAX_GROUP_BYTES = 2000

/** What the rows of a part's SELECT say of one of its checks; an `error` where that is no number. */
export function readOutcome(
  item: Planned,
  part: Part,
  statement: Statement,
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
      const groups = rows.map(row => readGroup(item, part, statement, row))
      const message = findGroupFault(groups)
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
    return { id, status: 'error', durationMs, ...broken(item.check.type, thrown) }
  }
}

function readRow(item: Planned, { columns }: Statement, row: Row) {
  const total = toNumber(columnOf(row, TOTAL)) ?? 0
  const measured: MeasuredValues = {}
  for (const [name, measure] of Object.entries(item.measures)) {
    measured[name] = toNumber(columnOf(row, columns.get(measureKey(measure)) ?? ''))
  }
  return { total, measured, reading: interpret(item, measured, total) }
}

/** Without a row, or with its columns under other names, nothing was measured: as zeros, every rule would pass. */
function columnOf(row: Row, name: string): Value | undefined {
  if (name in row) return row[name]
  throw new Error(`the engine gave no row with the column ${name}`)
}

function readGroup(item: Planned, part: Part, statement: Statement, row: Row): GroupValue {
  const { reading, total } = readRow(item, statement, row)
  const group = Object.fromEntries(
    part.groupBy.map((name, index) => [name, presentable(row[groupColumn(index)])]),
  )
  return { group, value: typeof reading === 'number' ? reading : null, total }
}

/** Why groups cannot be told from each other by what is kept of their values; null when they can. */
function findGroupFault(groups: readonly GroupValue[]): string | null {
  const keys = groups.map(({ group }) => JSON.stringify(group))
  if (keys.some(key => Buffer.byteLength(key) > MAX_GROUP_BYTES)) {
    return `group_by makes a group whose values have more than ${MAX_GROUP_BYTES.toLocaleString('en')} bytes: group by columns with shorter values.`
  }
  if (new Set(keys).size === keys.length) return null
  return 'group_by makes groups that differ by less than is kept of their values, such as microseconds: group by columns with coarser values.'
}
