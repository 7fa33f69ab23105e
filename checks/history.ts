import type { Connection, Row } from '../connectors/connector.ts'
import { TEMPORAL_KINDS, tablePath, type ColumnInfo, type TableInfo } from '../connectors/catalog.ts'
import { isRowRule, type Check, type MeasuredValues } from './check.ts'
import {
  BEFORE_FIRST_PERIOD,
  DATED_COLUMN,
  writeHistorySelect,
  PART_COLUMN,
  PERIOD_COLUMN,
  TOTAL_COLUMN,
  type RolledCheck,
  type RolledMeasure,
  type HistoryPeriods,
} from './history/select.ts'
import { addRolled, emptyValue, numberOf, rollupsOf } from './history/rollups.ts'
import { NotFiniteError } from './measures.ts'
import { interpretMeasures, planChecks, type Engine, type PlannedCheck } from './plan.ts'

/** What a check would have measured at the end of a period. */
export interface HistoryPoint {
  /** The end of the period, exclusive. */
  at: Date
  /** Rows of the table at that time. */
  total: number
  /** Of a rule: rows that are invalid. */
  invalid?: number
  /** Of a metric. */
  value?: number | null
}

/** The past of a check, oldest point first, one for each period; or a sentence that says why it has none. */
export type CheckHistory =
  | {
      points: HistoryPoint[]
      /** Rows whose time is NULL; they are in every point. */
      undated: number
      durationMs: number
    }
  | { none: string }

export interface HistoryOptions {
  /** The date or timestamp column that says when a row was added. */
  column: string
  /** `count` periods of `seconds` whole seconds, starting at `from`, which is truncated to whole seconds. */
  periods: { from: Date; seconds: number; count: number }
  /** Milliseconds after which the engine ends the statement. */
  timeoutMs: number
  signal?: AbortSignal
  /** A monotonic clock in milliseconds; defaults to `performance.now`. */
  now?: () => number
}

/** Conventional names of the column that says when a row was added, most reliable first. */
const TIMESTAMP_NAMES = [
  ...['created_at', 'inserted_at', 'loaded_at', 'event_time', 'timestamp', 'ts', 'date'],
  ...['updated_at', 'modified_at', 'last_updated'],
]

/**
 * Finds the column that says when rows were added: the first conventional name with a date or timestamp. Creation
 * times come first and update times last, the opposite of freshness: an update would move a row to a later day than
 * the day it was added.
 */
export function timestampColumn<Column extends Pick<ColumnInfo, 'name' | 'kind'>>({
  columns,
}: {
  columns: readonly Column[]
}): Column | undefined {
  const temporal = columns.filter(({ kind }) => TEMPORAL_KINDS.includes(kind))
  return TIMESTAMP_NAMES.map(name => temporal.find(column => column.name.toLowerCase() === name)).find(
    Boolean,
  )
}

/**
 * Computes what a check would have measured over the whole table at the end of each period, by one grouped statement.
 * It reads the rows as they are now and assumes that rows are only added: later deletions and changes are unknown to
 * it. Rows before the first period, and those whose time is NULL, are in every point; rows after the last period are
 * left out.
 * @throws ConnectorError of the connection; RangeError if the periods are invalid
 */
export async function measureHistory(
  connection: Pick<Connection, 'query'>,
  engine: Engine,
  table: TableInfo,
  check: Check,
  options: HistoryOptions,
): Promise<CheckHistory> {
  const [history] = await measureHistories(connection, engine, table, [check], options)
  return history!
}

/**
 * The same for several checks of all rows of a table, by one statement.
 * @returns their histories, in their order
 * @throws as `measureHistory`
 */
export async function measureHistories(
  connection: Pick<Connection, 'query'>,
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
  { column, periods: given, timeoutMs, signal, now = () => performance.now() }: HistoryOptions,
): Promise<CheckHistory[]> {
  const periods = validatePeriods(given)
  const rolled = new Map<Check, RolledCheck>()
  const reasons = new Map<Check, string>()
  for (const check of checks) {
    const found = await rollCheck(engine, table, check, column)
    if ('none' in found) reasons.set(check, found.none)
    else rolled.set(check, found)
  }
  const [first, ...others] = rolled.values()
  if (!first) return checks.map(check => ({ none: reasons.get(check) ?? '' }))
  const { select, measures } = writeHistorySelect([first, ...others], engine.dialect.quote(column), periods)
  signal?.throwIfAborted()
  const startedAt = now()
  const rows = await connection.query(select, { timeoutMs, signal })
  const durationMs = Math.round(now() - startedAt)
  return checks.map(check => {
    const item = rolled.get(check)?.planned
    if (!item) return { none: reasons.get(check) ?? '' }
    const own = measures.filter(({ planned }) => planned === item)
    try {
      return { ...accumulate(rows, item, own, periods), durationMs }
    } catch (thrown) {
      if (thrown instanceof NotFiniteError) return { none: thrown.message }
      throw thrown
    }
  })
}

/** A check with how its measures accumulate, or why it has no past. */
async function rollCheck(
  engine: Engine,
  table: TableInfo,
  check: Check,
  column: string,
): Promise<RolledCheck | { none: string }> {
  const refusal = findHistoryProblem(table, check, column)
  if (refusal !== null) return { none: refusal }
  const { planned, refusals } = await planChecks(engine, table, [check])
  const [item] = planned
  if (!item) return { none: refusals[0]?.message ?? '' }
  const rollups = rollupsOf(check.type, item)
  const missing = Object.keys(item.measures).find(name => !Object.hasOwn(rollups, name))
  if (missing !== undefined) return { none: `${check.type.name} has no rollup for its measure ${missing}.` }
  return { planned: item, rollups }
}

function validatePeriods({ from, seconds, count }: HistoryOptions['periods']): HistoryPeriods {
  const start = Math.floor(from.getTime() / 1000)
  const isCount = (value: number) => Number.isSafeInteger(value) && value > 0
  if (Number.isSafeInteger(start) && isCount(seconds) && isCount(count))
    return { from: start, seconds, count }
  throw new RangeError(
    'A history needs a date, and periods of one second or more of which there is one or more.',
  )
}

/** Why this check has no past, for reasons that need no plan. */
function findHistoryProblem(table: TableInfo, { type, groupBy = [] }: Check, column: string): string | null {
  const info = table.columns.find(({ name }) => name === column)
  if (!info) return `The column ${column} does not exist in ${tablePath(table)}.`
  if (!TEMPORAL_KINDS.includes(info.kind)) {
    return `The column ${column} is of type ${info.type}: a history needs a date or timestamp column of when rows were added.`
  }
  if (groupBy.length > 0) return 'A metric with group_by has no history: it has a value for each group.'
  if (type.userSql)
    return `${type.name} has no history: its SQL is the user's own and says nothing of single days.`
  if (isRowRule(type) || type.rollup) return null
  return `${type.name} has no history: its value of many days does not follow from its values of each day.`
}

/** Accumulates the periods. A result row belongs to one period and one select; periods without rows have none. */
function accumulate(
  result: readonly Row[],
  item: PlannedCheck,
  measures: readonly RolledMeasure[],
  { from, seconds, count }: HistoryPeriods,
): { points: HistoryPoint[]; undated: number } {
  const found = new Map<string, Row>()
  for (const row of result) {
    const index = Math.round(((numberOf(row, PERIOD_COLUMN) ?? 0) - from) / seconds)
    found.set(`${numberOf(row, PART_COLUMN)} ${index}`, row)
  }
  const sums = new Map(measures.map(({ name, rollup }) => [name, emptyValue(rollup)]))
  const points: HistoryPoint[] = []
  let total = 0
  let undated = 0
  for (let index = BEFORE_FIRST_PERIOD; index < count; index += 1) {
    const counts = found.get(`0 ${index}`)
    const rows = numberOf(counts, TOTAL_COLUMN) ?? 0
    total += rows
    undated += rows - (numberOf(counts, DATED_COLUMN) ?? 0)
    for (const measure of measures) {
      const row = found.get(`${measure.part} ${index}`)
      const sum = sums.get(measure.name)
      if (row && sum) addRolled(sum, measure, row)
    }
    if (index === BEFORE_FIRST_PERIOD) continue
    const measured: MeasuredValues = Object.fromEntries([...sums].map(([name, { value }]) => [name, value]))
    const reading = interpretMeasures(item, measured, total)
    const at = new Date((from + (index + 1) * seconds) * 1000)
    const isCounts = typeof reading === 'object' && reading !== null
    points.push(isCounts ? { at, ...reading } : { at, total, value: reading })
  }
  return { points, undated }
}
