import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import type { Connection, Value } from '../../../connectors/connector.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { CHECK_ERROR_KINDS, ConnectorError, OVER_BYTE_LIMIT } from '../../../connectors/errors.ts'
import { join, raw, sql, type Sql } from '../../../connectors/sql.ts'

/** A table and the value to read from it. */
export interface MeasureTarget {
  id: string
  table: TableRef
  /** The column or expression whose newest value is read; null to use the engine's modification time. */
  value: Sql | null
  /** Whether the engine's modification time, if it has one, is that of rows: false for views. */
  isStored: boolean
  /**
   * The engine's modification time at the last reading of the column, if the column need not be read again while that
   * time stays the same.
   */
  unchanged?: Date
  /** Read alone and last, so that other tables do not wait for it. */
  isSlow?: boolean
}

/** The reading of a table; `at` is on the clock of `now`. */
export type TableReading = { at: number } & (
  | { error: ConnectorError; isSlow?: boolean }
  | { isUnchanged: true }
  /** `modifiedAt` is the engine's modification time from before the column was read. */
  | { value: Value; modifiedAt?: Date; isSlow?: boolean }
)

export interface MeasureResult {
  /** By target id, one per target. */
  readings: Map<string, TableReading>
  /** Number of statements, without those of the connector's `lastModified`. */
  statements: number
  /** The error of the connection, if it failed: tables not read by then have this error. */
  failure: ConnectorError | null
}

export interface MeasureOptions {
  /** Used in error messages. */
  engine: string
  /** Timeout of one statement. */
  timeoutMs: number
  /** Milliseconds on a monotonic clock; defaults to the process's own. */
  now?: () => number
}

/** PostgreSQL locks each table with its indexes, and its lock table holds about 6,000. */
const MAX_TABLES_PER_STATEMENT = 500
/** Statements may start within this many statement timeouts, and within an hour. */
const MAX_TIMEOUTS = 10
const MAX_DURATION_MS = 3_600_000
const NO_TIME_MESSAGE =
  'The check ran out of time because earlier tables were slow. Add an index on their freshness_column, choose a longer check_interval, or set freshness_signal to last_modified.'
/** A table that takes this share of the statement timeout is read alone from then on. */
const SLOW_SHARE = 0.1

const tablesPerStatement = ({ limits }: Dialect) => Math.min(limits.columns, MAX_TABLES_PER_STATEMENT)

/** The number of statements that read a column of each of some tables, if none fails or is slow. */
export function countStatements(tables: number, dialect: Dialect): number {
  return Math.ceil(tables / tablesPerStatement(dialect))
}

/**
 * Reads the newest timestamps of many tables in as few statements as the dialect's limits allow. If the engine has
 * modification times, they are read first, and unchanged tables are skipped. A statement that fails because of a table is
 * bisected until only the failing tables have the error; a failure of the connection is the error of all tables not read
 * yet. Never throws a ConnectorError.
 */
export async function readNewest(
  connection: Connection,
  dialect: Dialect,
  targets: readonly MeasureTarget[],
  options: MeasureOptions,
): Promise<MeasureResult> {
  const session = makeReadSession(connection, dialect, options)
  const readings = new Map<string, TableReading>()
  const keep = (more: ReadonlyMap<string, TableReading>) =>
    more.forEach((reading, id) => readings.set(id, reading))
  let failure: ConnectorError | null = null
  try {
    const modified = await readLastModified(session, targets)
    keep(modified.readings)
    const left = targets.filter(({ id }) => !readings.has(id))
    const quick = left.filter(({ isSlow }) => !isSlow)
    let most = tablesPerStatement(dialect)
    for (let from = 0; from < quick.length;) {
      const part = quick.slice(from, from + most)
      from += part.length
      const { readings: some, largest } = await readBatch(session, part)
      keep(some)
      // A batch that was too large once would be too large again.
      most = Math.min(most, largest)
    }
    for (const target of left.filter(({ isSlow }) => isSlow))
      keep((await readBatch(session, [target])).readings)
    for (const [id, modifiedAt] of modified.times) {
      const reading = readings.get(id)
      if (reading && 'value' in reading) readings.set(id, { ...reading, modifiedAt })
    }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    failure = thrown
  }
  for (const { id } of targets) {
    if (failure && !readings.has(id)) readings.set(id, { error: failure, at: session.now() })
  }
  return { readings, statements: session.count(), failure }
}

/** One SELECT for many tables, with a scalar subquery per table, which an index on the column can answer. */
export function newestSelect(dialect: Dialect, targets: readonly MeasureTarget[]): Sql {
  const newest = targets.map(
    ({ table, value }, index) =>
      sql`(select max(${value ?? raw('null')}) from ${dialect.table(table)}) as ${dialect.quote(`m${index}`)}`,
  )
  return sql`select ${join(newest)}`
}

interface ReadSession {
  connection: Connection
  engine: string
  read(targets: readonly MeasureTarget[]): Promise<Map<string, TableReading>>
  now(): number
  count(): number
  isOver(): boolean
  /** Sends a trivial statement. @returns whether the connection still works */
  answers(): Promise<boolean>
}

function makeReadSession(
  connection: Connection,
  dialect: Dialect,
  { engine, timeoutMs, now = () => performance.now() }: MeasureOptions,
): ReadSession {
  const deadline = now() + Math.min(MAX_TIMEOUTS * timeoutMs, MAX_DURATION_MS)
  let statements = 0
  return {
    connection,
    engine,
    now,
    count: () => statements,
    isOver: () => now() >= deadline,
    async answers() {
      statements += 1
      return connection.query(sql`select 1 as one`, { timeoutMs }).then(
        () => true,
        () => false,
      )
    },
    async read(targets) {
      statements += 1
      const from = now()
      const [row = {}] = await connection.query(newestSelect(dialect, targets), { timeoutMs })
      const at = now()
      const isSlow = targets.length === 1 && at - from > SLOW_SHARE * timeoutMs
      return new Map(
        targets.map(({ id }, index) => [
          id,
          { value: row[`m${index}`] ?? null, at, ...(isSlow && { isSlow }) },
        ]),
      )
    },
  }
}

/** The readings of a batch, and the largest number of tables that one statement could read. */
interface BatchReadings {
  readings: Map<string, TableReading>
  largest: number
}

async function readBatch(session: ReadSession, part: readonly MeasureTarget[]): Promise<BatchReadings> {
  if (session.isOver()) {
    const error = new ConnectorError({ kind: 'timeout', engine: session.engine, message: NO_TIME_MESSAGE })
    return { readings: failAll(session, part, error), largest: Infinity }
  }
  const result = await tryBatch(session, part)
  return result instanceof Map ? { readings: result, largest: Infinity } : bisectBatch(session, part, result)
}

/** The readings of a batch, or the error that one of its tables caused. @throws ConnectorError of the connection */
async function tryBatch(session: ReadSession, part: readonly MeasureTarget[]) {
  try {
    return await session.read(part)
  } catch (thrown) {
    if (thrown instanceof ConnectorError && (await blamesTable(session, thrown))) return thrown
    throw thrown
  }
}

/** An error of kind `other`, such as that of a damaged table, is the connection's only if that no longer works. */
async function blamesTable(session: ReadSession, { kind, code }: ConnectorError): Promise<boolean> {
  if (kind !== 'other') return CHECK_ERROR_KINDS.has(kind)
  return code !== 'ABORTED' && session.answers()
}

/**
 * Bisects a failed batch. If the first half succeeds, the error belongs to the second, unless the whole was too much, for
 * its time or its bytes.
 */
async function bisectBatch(
  session: ReadSession,
  part: readonly MeasureTarget[],
  error: ConnectorError,
): Promise<BatchReadings> {
  const isSlow = error.kind === 'timeout'
  const isShort = isSlow || error.code === OVER_BYTE_LIMIT
  if (part.length === 1) return { readings: failAll(session, part, error, isSlow), largest: Infinity }
  const middle = Math.ceil(part.length / 2)
  const first = await readBatch(session, part.slice(0, middle))
  const rest = part.slice(middle)
  const second =
    hasNoErrors(first) && !isShort ? await bisectBatch(session, rest, error) : await readBatch(session, rest)
  // Both halves succeed alone, so the batch was too large, and no table is to blame.
  const largest = isShort && hasNoErrors(first) && hasNoErrors(second) ? middle : Infinity
  return {
    readings: new Map([...first.readings, ...second.readings]),
    largest: Math.min(first.largest, second.largest, largest),
  }
}

function hasNoErrors({ readings }: BatchReadings): boolean {
  return ![...readings.values()].some(reading => 'error' in reading)
}

function failAll(
  session: ReadSession,
  part: readonly MeasureTarget[],
  error: ConnectorError,
  isSlow = false,
): Map<string, TableReading> {
  return new Map(part.map(({ id }) => [id, { error, at: session.now(), ...(isSlow && { isSlow }) }]))
}

/**
 * Reads the engine's modification times.
 * @returns readings of the tables that use them and of unchanged tables; the times of all others
 */
async function readLastModified(session: ReadSession, targets: readonly MeasureTarget[]) {
  const { connection } = session
  const readings = new Map<string, TableReading>()
  const times = new Map<string, Date>()
  const timed = connection.lastModified ? targets.filter(({ isStored }) => isStored) : []
  let failure: ConnectorError | undefined
  const modified = await (timed.length > 0
    ? connection.lastModified!(timed.map(({ table }) => table)).catch(async (thrown: unknown) => {
        if (!(thrown instanceof ConnectorError && (await blamesTable(session, thrown)))) throw thrown
        failure = thrown
      })
    : undefined)
  const at = session.now()
  for (const { id, table, value, isStored, unchanged } of targets) {
    const time = isStored ? modified?.get(tablePath(table)) : undefined
    // If modification times are unavailable, columns are still read.
    if (value === null)
      readings.set(id, failure && isStored ? { error: failure, at } : { value: time ?? null, at })
    else if (time && time.getTime() === unchanged?.getTime()) readings.set(id, { isUnchanged: true, at })
    else if (time) times.set(id, time)
  }
  return { readings, times }
}
