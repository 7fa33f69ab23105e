import { discreet } from '../../checks/redact.ts'
import { tablePath, type TableRef } from '../../connectors/catalog.ts'
import type { Connection, Value } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { CHECK_ERROR_KINDS, ConnectorError } from '../../connectors/errors.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'

/** A table to look at, and where to look. */
export interface Target {
  id: string
  table: TableRef
  /** A column or an expression whose newest value is read; null for a table that goes by the engine's last change. */
  value: Sql | null
  /** Whether the engine's time of the last change, where it has one, is that of rows: not of a view. */
  isStored: boolean
  /**
   * The engine's time of the last change when the column was read last, where a column that did not change since need
   * not be read again.
   */
  unchanged?: Date
  /** It is read alone and last, so that no other has to wait for it. */
  isSlow?: boolean
  /** Whether `value` is a user's own SQL: what the engine says of it may quote any row, and is not shown. */
  isOwnSql?: boolean
}

/** What was read of a table, on the clock of `now`. */
export type Reading = { at: number } & (
  | { error: ConnectorError; isSlow?: boolean }
  | { isUnchanged: true }
  /** `modifiedAt` is the engine's time of the last change, known before the column was read. */
  | { value: Value; modifiedAt?: Date; isSlow?: boolean }
)

export interface Measured {
  /** By target id; one for each target. */
  readings: Map<string, Reading>
  /** Statements sent, beside those of the engine's own `lastModified`. */
  statements: number
  /** Set when the connection was to blame: what was not read by then has this error. */
  failure: ConnectorError | null
}

export interface MeasureOptions {
  /** Named in errors. */
  engine: string
  /** Milliseconds for one statement. */
  timeoutMs: number
  /** Milliseconds on a clock that only goes forward; the process's own unless told. */
  now?: () => number
}

/** Tables in one statement: PostgreSQL locks each with its indexes, and its lock table holds some 6,000. */
const MOST_TABLES = 500
/** All statements together may begin within this many times what one may take, and within an hour. */
const PATIENCE = 10
const LONGEST_MS = 3_600_000
const NO_TIME =
  'There was no time left to read it: tables before it took long. An index on their freshness_column, a longer check_interval, or freshness_signal last_modified help.'
/** The share of a statement's time from which a table is read alone. */
const SLOW_SHARE = 0.1

/**
 * Reads the newest timestamp of many tables in as few statements as it can: one for all, or one for each cut
 * by the dialect's limit. Where the engine knows when tables changed last, it is asked first, and what did not change
 * is not read. When a statement fails on a kind that blames a table it is halved until the guilty tables are alone; a
 * failure of the connection is that of all tables not read yet. It never throws a ConnectorError.
 */
export async function measure(
  connection: Connection,
  dialect: Dialect,
  targets: readonly Target[],
  options: MeasureOptions,
): Promise<Measured> {
  const session = openSession(connection, dialect, options)
  const readings = new Map<string, Reading>()
  const keep = (more: ReadonlyMap<string, Reading>) =>
    more.forEach((reading, id) => readings.set(id, reading))
  let failure: ConnectorError | null = null
  try {
    const modified = await readLastModified(session, targets)
    keep(modified.readings)
    const left = targets.filter(({ id }) => !readings.has(id))
    const quick = left.filter(({ isSlow }) => !isSlow)
    let most = Math.min(dialect.limits.columns, MOST_TABLES)
    for (let from = 0; from < quick.length;) {
      const part = quick.slice(from, from + most)
      from += part.length
      const { readings: found, largest } = await readPart(session, part)
      keep(found)
      // What was too much once is too much for the next ones too.
      most = Math.min(most, largest)
    }
    for (const target of left.filter(({ isSlow }) => isSlow))
      keep((await readPart(session, [target])).readings)
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

/** The one SELECT for many tables: a scalar sub-query each, so that an index on the column answers it. */
export function newestOf(dialect: Dialect, targets: readonly Target[]): Sql {
  const newest = targets.map(
    ({ table, value }, index) =>
      sql`(select max(${value ?? raw('null')}) from ${dialect.table(table)}) as ${dialect.quote(`m${index}`)}`,
  )
  return sql`select ${join(newest)}`
}

interface Session {
  connection: Connection
  engine: string
  read(targets: readonly Target[]): Promise<Map<string, Reading>>
  now(): number
  count(): number
  isOver(): boolean
  /** Whether the connection still runs statements. */
  answers(): Promise<boolean>
}

function openSession(
  connection: Connection,
  dialect: Dialect,
  { engine, timeoutMs, now = () => performance.now() }: MeasureOptions,
): Session {
  const deadline = now() + Math.min(PATIENCE * timeoutMs, LONGEST_MS)
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
      const [row = {}] = await connection
        .query(newestOf(dialect, targets), { timeoutMs })
        .catch(quietly(targets))
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

/** What the engine says of a value that it could not read is in no error. */
function quietly(targets: readonly Target[]): (thrown: unknown) => never {
  return thrown => {
    const isOwnSql = targets.some(target => target.isOwnSql)
    throw thrown instanceof ConnectorError ? discreet(thrown, isOwnSql) : thrown
  }
}

/** The readings of a part, and how many tables one statement could read. */
interface PartRead {
  readings: Map<string, Reading>
  largest: number
}

async function readPart(session: Session, part: readonly Target[]): Promise<PartRead> {
  if (session.isOver()) {
    const error = new ConnectorError({ kind: 'timeout', engine: session.engine, message: NO_TIME })
    return { readings: allFailed(session, part, error), largest: Infinity }
  }
  const result = await tryPart(session, part)
  return result instanceof Map ? { readings: result, largest: Infinity } : isolate(session, part, result)
}

/** The readings of a part, or the error that one of its tables may be to blame for. */
async function tryPart(
  session: Session,
  part: readonly Target[],
): Promise<Map<string, Reading> | ConnectorError> {
  try {
    return await session.read(part)
  } catch (thrown) {
    if (thrown instanceof ConnectorError && (await blamesTable(session, thrown))) return thrown
    throw thrown
  }
}

/** An error that nobody knows, such as that of a damaged table, is the connection's only when that answers no more. */
async function blamesTable(session: Session, { kind, code }: ConnectorError): Promise<boolean> {
  if (kind !== 'other') return CHECK_ERROR_KINDS.has(kind)
  return code !== 'ABORTED' && session.answers()
}

/** Halves a part that failed. When the first half succeeds, the failure was the second's, unless time was short. */
async function isolate(session: Session, part: readonly Target[], error: ConnectorError): Promise<PartRead> {
  const isShort = error.kind === 'timeout'
  if (part.length === 1) return { readings: allFailed(session, part, error, isShort), largest: Infinity }
  const middle = Math.ceil(part.length / 2)
  const first = await readPart(session, part.slice(0, middle))
  const rest = part.slice(middle)
  const second =
    isWell(first) && !isShort ? await isolate(session, rest, error) : await readPart(session, rest)
  // Too short a time for both halves together, and for no table of them, was too much work.
  const largest = isShort && isWell(first) && isWell(second) ? middle : Infinity
  return {
    readings: new Map([...first.readings, ...second.readings]),
    largest: Math.min(first.largest, second.largest, largest),
  }
}

function isWell({ readings }: PartRead): boolean {
  return ![...readings.values()].some(reading => 'error' in reading)
}

function allFailed(
  session: Session,
  part: readonly Target[],
  error: ConnectorError,
  isSlow = false,
): Map<string, Reading> {
  return new Map(part.map(({ id }) => [id, { error, at: session.now(), ...(isSlow && { isSlow }) }]))
}

/**
 * What the engine itself knows of when tables changed last: the readings of those that go by it, null where it knows
 * nothing, and of those whose column need not be read again; and the times of the others.
 */
async function readLastModified(
  session: Session,
  targets: readonly Target[],
): Promise<{ readings: Map<string, Reading>; times: Map<string, Date> }> {
  const { connection } = session
  const readings = new Map<string, Reading>()
  const times = new Map<string, Date>()
  const asked = connection.lastModified ? targets.filter(({ isStored }) => isStored) : []
  let failure: ConnectorError | undefined
  const known = await (asked.length > 0
    ? connection.lastModified!(asked.map(({ table }) => table)).catch(async (thrown: unknown) => {
        if (!(thrown instanceof ConnectorError && (await blamesTable(session, thrown)))) throw thrown
        failure = thrown
      })
    : undefined)
  const at = session.now()
  for (const { id, table, value, isStored, unchanged } of targets) {
    const time = isStored ? known?.get(tablePath(table)) : undefined
    // Where it cannot be asked, columns are read all the same.
    if (value === null)
      readings.set(id, failure && isStored ? { error: failure, at } : { value: time ?? null, at })
    else if (time && time.getTime() === unchanged?.getTime()) readings.set(id, { isUnchanged: true, at })
    else if (time) times.set(id, time)
  }
  return { readings, times }
}
