import { discreet } from '../../checks/discretion.ts'
import { tablePath, type TableRef } from '../../connectors/catalog.ts'
import type { Connection, Value } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { BLAMES_CHECK, ConnectorError } from '../../connectors/errors.ts'
import { join, sql, type Sql } from '../../connectors/sql.ts'

/** A table to look at, and where to look. */
export interface Target {
  id: string
  table: TableRef
  /** Null for a table without a timestamp column: its engine may know when it changed last. */
  column: string | null
}

/** What was read of a table, on the clock of `now`. */
export type Reading = { value: Value; at: number } | { error: ConnectorError; at: number }

export interface Measured {
  /** By target id; one for each target. */
  readings: Map<string, Reading>
  /** Statements sent, beside those of the engine's own `lastModified`. */
  statements: number
  /** Set when the connection was to blame: what was not read by then has this error. */
  failure: ConnectorError | null
}

export interface MeasureOptions {
  /** Milliseconds for one statement; all together may take three times as long. */
  timeoutMs: number
  /** Milliseconds on a clock that only goes forward; the process's own unless told. */
  now?: () => number
}

/** Tables in one statement: PostgreSQL locks each with its indexes, and its lock table holds some 6,000. */
const MOST_TABLES = 500

/**
 * Reads the newest timestamp of many tables in as few statements as it can: one for all, or one for each cut
 * by the dialect's limit. When a statement fails on a kind that blames a table it is halved until the guilty
 * tables are alone; a failure of the connection is that of all tables not read yet. It never throws a
 * ConnectorError.
 */
export async function measure(
  connection: Connection,
  dialect: Dialect,
  targets: readonly Target[],
  options: MeasureOptions,
): Promise<Measured> {
  const session = openSession(connection, dialect, options)
  const readings = new Map<string, Reading>()
  let failure: ConnectorError | null = null
  const withColumn = targets.filter(({ column }) => column !== null)
  try {
    for (const part of cut(withColumn, Math.min(dialect.limits.columns, MOST_TABLES))) {
      for (const [id, reading] of await readPart(session, part)) readings.set(id, reading)
    }
    const others = targets.filter(({ column }) => column === null)
    for (const [id, reading] of await readLastModified(session, others)) readings.set(id, reading)
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    failure = thrown
  }
  for (const { id } of targets) {
    if (failure && !readings.has(id)) readings.set(id, { error: failure, at: session.now() })
  }
  return { readings, statements: session.count(), failure }
}

/** The one SELECT for many tables: a scalar sub-query each, so that an index on the column answers it. */
export function newestOf(dialect: Dialect, targets: readonly Target[]): Sql {
  const newest = targets.map(
    ({ table, column }, index) =>
      sql`(select max(${dialect.quote(column ?? '')}) from ${dialect.table(table)}) as ${dialect.quote(`m${index}`)}`,
  )
  return sql`select ${join(newest)}`
}

interface Session {
  connection: Connection
  read(targets: readonly Target[]): Promise<Map<string, Reading>>
  now(): number
  count(): number
  isOver(): boolean
}

function openSession(
  connection: Connection,
  dialect: Dialect,
  { timeoutMs, now = () => performance.now() }: MeasureOptions,
): Session {
  const deadline = now() + 3 * timeoutMs
  let statements = 0
  return {
    connection,
    now,
    count: () => statements,
    isOver: () => now() >= deadline,
    async read(targets) {
      statements += 1
      const [row = {}] = await connection.query(newestOf(dialect, targets), { timeoutMs }).catch(quietly)
      const at = now()
      return new Map(targets.map(({ id }, index) => [id, { value: row[`m${index}`] ?? null, at }]))
    },
  }
}

/** What the engine says of a value that it could not read is in no error. */
function quietly(thrown: unknown): never {
  throw thrown instanceof ConnectorError ? discreet(thrown, false) : thrown
}

async function readPart(session: Session, part: readonly Target[]): Promise<Map<string, Reading>> {
  const result = await tryPart(session, part)
  return result instanceof Map ? result : isolate(session, part, result)
}

/** The readings of a part, or the error that one of its tables may be to blame for. */
async function tryPart(
  session: Session,
  part: readonly Target[],
): Promise<Map<string, Reading> | ConnectorError> {
  try {
    return await session.read(part)
  } catch (thrown) {
    if (thrown instanceof ConnectorError && BLAMES_CHECK.has(thrown.kind)) return thrown
    throw thrown
  }
}

/** Halves a part that failed. When the first half succeeds, the failure was the second's, unless time was short. */
async function isolate(
  session: Session,
  part: readonly Target[],
  error: ConnectorError,
): Promise<Map<string, Reading>> {
  if (part.length === 1 || session.isOver())
    return new Map(part.map(({ id }) => [id, { error, at: session.now() }]))
  const middle = Math.ceil(part.length / 2)
  const first = part.slice(0, middle)
  const second = part.slice(middle)
  const firstResult = await tryPart(session, first)
  const readings = firstResult instanceof Map ? firstResult : await isolate(session, first, firstResult)
  const isSecondGuilty = firstResult instanceof Map && error.kind !== 'timeout'
  const secondResult = isSecondGuilty ? error : await tryPart(session, second)
  const rest = secondResult instanceof Map ? secondResult : await isolate(session, second, secondResult)
  return new Map([...readings, ...rest])
}

/** What the engine itself knows of tables without a timestamp column; null where it knows nothing. */
async function readLastModified(session: Session, targets: readonly Target[]): Promise<Map<string, Reading>> {
  const { connection } = session
  if (targets.length === 0) return new Map()
  try {
    const known = await connection.lastModified?.(targets.map(({ table }) => table))
    const at = session.now()
    return new Map(targets.map(({ id, table }) => [id, { value: known?.get(tablePath(table)) ?? null, at }]))
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError && BLAMES_CHECK.has(thrown.kind))) throw thrown
    return new Map(targets.map(({ id }) => [id, { error: thrown, at: session.now() }]))
  }
}

function cut<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
