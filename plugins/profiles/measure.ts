import type { CheckOutcome, Check } from '../../checks/check.ts'
import { scan, type Engine } from '../../checks/scan.ts'
import { canOf, type Connection } from '../../connectors/connector.ts'
import { tablePath, type ColumnInfo, type TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnProfile, PatternName, TableProfile } from './api.ts'
import { readColumn, valueOf, withTopValues } from './columns.ts'
import { columnChecks, countSorts, sortsDistinct, surveyChecks } from './measures.ts'
import { likeliestPattern } from './patterns.ts'
import type { WindowRows } from './window.ts'
import { hasTopValues, isListable, readFewValues, readTopValues, type FewValues } from './top-values.ts'

/** What one profile of a table found. */
type MeasuredProfile = Omit<TableProfile, 'id' | 'sourceId' | 'tableId' | 'profiledAt' | 'milliseconds'>

/** How a table is profiled. */
interface ProfileOptions {
  /** Columns whose values must not show. */
  masked: ReadonlySet<string>
  /** Whether values of rows may be shown at all. */
  showsValues: boolean
  /** Rows above which a sample of so many is read. */
  rowLimit: number
  /** Milliseconds of one statement. */
  timeoutMs: number
  signal?: AbortSignal
  /** Only these rows are read. */
  window?: WindowRows
}

/** Rows in which patterns and columns of few values are looked for, before all rows are read. */
const SURVEY_ROWS = 5_000
/** Rows of the sample that is read where reading more took too long. */
const SMALL_SAMPLE_ROWS = 100_000
/** Rows above which the engine's approximation of distinct values serves. */
const MAX_EXACT_DISTINCT_ROWS = 1_000_000
/** Values that one statement sorts: what an engine writes to its disk for them grows to gigabytes. */
const MAX_SORTED_VALUES = 250_000_000

/** A connection with a table, and what was sent to it. */
interface ProfileSession {
  connection: Pick<Connection, 'query' | 'estimates'>
  connector: Engine
  table: TableInfo
  options: ProfileOptions
  statements: number
}

/**
 * Profiles a table: an estimate of its rows, a look at some of them, one statement for all numbers, and one for
 * frequent values. A table of more rows than the limit is read as a sample, and so is one whose statement takes too long.
 * @throws ConnectorError when the connection is to blame, or when nothing could be measured
 */
export async function profileTable(
  connection: ProfileSession['connection'],
  connector: Engine,
  table: TableInfo,
  options: ProfileOptions,
): Promise<MeasuredProfile> {
  const session: ProfileSession = { connection, connector, table, options, statements: 0 }
  const survey = await surveyTable(session)
  const first = await measureColumns(session, survey)
  const smaller = SMALL_SAMPLE_ROWS / Math.max(survey.rows, 1)
  const measured =
    first.hasTimedOut && smaller < survey.fraction
      ? await measureColumns(session, { ...survey, fraction: smaller })
      : first
  assertMeasured(measured.outcomes, connector)
  const columns = await addTopValues(session, measured)
  const { profiledRows, isSampled } = measured
  const { window } = options
  const total = Math.max(window ? (table.estimatedRows ?? 0) : survey.rows, profiledRows)
  return {
    rowCount: isSampled || window ? total : profiledRows,
    isRowCountExact: !window && (!isSampled || survey.isExact),
    profiledRows,
    isSampled: isSampled || window !== undefined,
    profiledWindow: window?.shown ?? null,
    columns,
    statements: session.statements,
  }
}

/** What is known of a table before it is measured. */
interface Survey {
  rows: number
  /** Whether the rows were counted; otherwise the engine estimates them. */
  isExact: boolean
  /** Which part of the rows is measured. */
  fraction: number
  /** The pattern that each text column is matched with. */
  patterns: ReadonlyMap<string, PatternName>
  /** Columns that seem to have few values, by their names. */
  few: ReadonlySet<string>
}

/** Looks how large a table is, and what its values are like. Where there are few rows, the first ones say both. */
async function surveyTable(session: ProfileSession): Promise<Survey> {
  const { connector, table, options } = session
  const fractionOf = (rows: number) => Math.min(1, options.rowLimit / Math.max(rows, 1))
  const hasTexts = connector.capabilities.regex && table.columns.some(({ kind }) => kind === 'text')
  const estimate = await readEstimate(session)
  if (!hasTexts && listableColumns(session).size === 0) {
    const rows = estimate ?? (await countRows(session))
    const isExact = estimate === undefined
    return { rows, isExact, fraction: fractionOf(rows), patterns: new Map(), few: new Set() }
  }
  if (estimate !== undefined) {
    const fraction = fractionOf(estimate)
    const { rowsRead: _, ...seen } = await surveyRows(session, surveySample(session, estimate, fraction))
    return { rows: estimate, isExact: false, fraction, ...seen }
  }
  const { rowsRead, ...seen } = await surveyRows(session, firstRows(session, 1))
  const rows = rowsRead < SURVEY_ROWS ? rowsRead : await countRows(session)
  return { rows, isExact: true, fraction: fractionOf(rows), ...seen }
}

/** Columns whose values may be listed, where the engine groups by all that have few values in one reading. */
function listableColumns({ connector, table, options }: ProfileSession): Set<string> {
  if (!connector.dialect.hasGroupingSets || !options.showsValues) return new Set()
  const listable = table.columns.filter(
    column =>
      isListable(column) && sortsDistinct(column, connector.dialect) && !options.masked.has(column.name),
  )
  return new Set(listable.map(({ name }) => name))
}

/** The rows of the table as the engine estimates them; undefined where it does not. */
async function readEstimate(session: ProfileSession): Promise<number | undefined> {
  const { connection, connector, table, options } = session
  // The estimate is of the whole table.
  if (options.window || !canOf(connector.capabilities.estimates, table) || !connection.estimates)
    return undefined
  session.statements += 1
  const rows = (await connection.estimates([table])).get(tablePath(table))
  return rows === undefined || rows < 0 ? undefined : Math.round(rows)
}

async function countRows(session: ProfileSession): Promise<number> {
  const [row = {}] = await run(session, sql`select count(*) as n from ${fromOf(session, 1)}`)
  return Number(Object.values(row)[0] ?? 0)
}

function run(session: ProfileSession, statement: Sql) {
  const { timeoutMs, signal } = session.options
  session.statements += 1
  return session.connection.query(statement, { timeoutMs, signal })
}

function sender(session: ProfileSession) {
  return (statement: Sql) => run(session, statement)
}

/** The table, or a sample of it, as statements name it. */
function fromOf(
  { connector: { dialect }, table, options: { window } }: ProfileSession,
  fraction: number,
  byRow = false,
): Sql {
  if (window) return window.from(fraction < 1 ? { fraction, byRow } : undefined)
  const whole = dialect.table(table)
  return fraction < 1 ? dialect.sample(whole, { fraction, kind: table.kind, byRow }) : whole
}

function isStored({ table: { kind }, options: { window } }: ProfileSession): boolean {
  return !window && (kind === 'table' || kind === 'materialized_view')
}

async function scanRows(session: ProfileSession, from: Sql, checks: readonly Check[]) {
  const { connection, connector, table, options } = session
  const { dialect } = connector
  // A view would be computed twice, and two random samples of one differ.
  const sortingIsSerial = dialect.sortingIsSerial && isStored(session)
  const engine = { ...connector, dialect: { ...dialect, table: () => from, sortingIsSerial } }
  const { timeoutMs, signal } = options
  // The rows are chosen by `from`, so that no check has to choose them by a window.
  const read = { ...table, partitioning: undefined }
  const found = await scan(connection, engine, read, checks, { timeoutMs, signal })
  session.statements += found.statements
  return found.outcomes
}

/** Some rows to look at: at random, or the first ones of a sample that is random already. */
function surveySample(session: ProfileSession, rows: number, fraction: number): Sql {
  if (rows <= SURVEY_ROWS) return fromOf(session, 1)
  return fraction === 1 ? fromOf(session, SURVEY_ROWS / rows, true) : firstRows(session, fraction)
}

function firstRows(session: ProfileSession, fraction: number): Sql {
  const some = sql`select * from ${fromOf(session, fraction)}`
  return sql`(${session.connector.dialect.limit(some, SURVEY_ROWS)}) tidemark_some`
}

/** The pattern that each text column is matched with, the columns of few values, and the rows that were looked at. */
async function surveyRows(session: ProfileSession, from: Sql) {
  const { columns } = session.table
  const listable = listableColumns(session)
  const outcomes = byId(await scanRows(session, from, surveyChecks(columns, listable)))
  const patterns = new Map<string, PatternName>()
  const few = new Set<string>()
  for (const column of columns) {
    const { name } = column
    const count = valueOf(outcomes, name, 'count')
    const matching = (pattern: PatternName) => valueOf(outcomes, name, pattern) ?? 0
    const pattern = column.kind === 'text' ? likeliestPattern(count ?? 0, matching) : undefined
    if (pattern) patterns.set(name, pattern)
    const distinct = valueOf(outcomes, name, 'distinct')
    if (listable.has(name) && hasTopValues(column, { count, distinct, maxLength: null })) few.add(name)
  }
  return { patterns, few, rowsRead: countRead(outcomes) ?? SURVEY_ROWS }
}

/** The rows that were read for some numbers; undefined when none could be measured. */
function countRead(outcomes: ReadonlyMap<string, CheckOutcome>): number | undefined {
  for (const outcome of outcomes.values()) if (outcome.status === 'measured') return outcome.total
  return undefined
}

interface MeasuredColumns {
  fraction: number
  outcomes: Map<string, CheckOutcome>
  profiledRows: number
  isSampled: boolean
  hasTimedOut: boolean
  columns: ColumnProfile[]
  /** The values of columns that have few, by the names of the columns. */
  values: ReadonlyMap<string, FewValues>
}

async function measureColumns(
  session: ProfileSession,
  { rows, fraction, patterns, few }: Survey,
): Promise<MeasuredColumns> {
  const { connector, table, options } = session
  const { masked } = options
  const from = fromOf(session, fraction)
  const isDistinctApproximate =
    connector.dialect.approximateDistinct !== undefined && rows * fraction > MAX_EXACT_DISTINCT_ROWS
  const listed = table.columns.filter(({ name }) => few.has(name))
  const values = await orNone(session, readFewValues(listed, from, connector.dialect, sender(session)))
  const counted = new Set(values.keys())
  const outcomes = new Map<string, CheckOutcome>()
  for (const columns of splitBySorts(table.columns, rows * fraction, masked, connector.dialect)) {
    const checks = columns.flatMap(column =>
      columnChecks(column, { masked, isDistinctApproximate, patterns, counted }, connector.dialect),
    )
    for (const outcome of await scanRows(session, from, checks)) outcomes.set(outcome.id, outcome)
    if (hasTimedOut(outcomes)) break
  }
  // A table of PostgreSQL may have no columns, and rows all the same.
  const profiledRows = countRead(outcomes) ?? (table.columns.length === 0 ? await countRows(session) : 0)
  const isSampled = fraction < 1 && table.columns.length > 0
  const measured = { outcomes, profiledRows, isSampled, isDistinctApproximate, masked, patterns, values }
  return {
    fraction,
    outcomes,
    profiledRows,
    isSampled,
    values,
    hasTimedOut: hasTimedOut(outcomes),
    columns: table.columns.map(column => readColumn(column, measured)),
  }
}

/** Columns of one statement each: all of them, unless that would sort too much. */
function splitBySorts(
  columns: readonly ColumnInfo[],
  rows: number,
  masked: ReadonlySet<string>,
  dialect: Dialect,
): ColumnInfo[][] {
  const parts: ColumnInfo[][] = []
  let sorted = Infinity
  for (const column of columns) {
    const values = countSorts(column, masked, dialect) * rows
    if (sorted + values > MAX_SORTED_VALUES) {
      parts.push([])
      sorted = 0
    }
    sorted += values
    parts.at(-1)?.push(column)
  }
  return parts
}

function byId(outcomes: readonly CheckOutcome[]): Map<string, CheckOutcome> {
  return new Map(outcomes.map(outcome => [outcome.id, outcome]))
}

function hasTimedOut(outcomes: ReadonlyMap<string, CheckOutcome>): boolean {
  return [...outcomes.values()].some(outcome => outcome.status === 'error' && outcome.kind === 'timeout')
}

/** A table that is gone or closed to the role gives an error for each number. */
function assertMeasured(outcomes: ReadonlyMap<string, CheckOutcome>, { name: engine }: Engine): void {
  const all = [...outcomes.values()]
  const [first] = all
  if (first?.status !== 'error' || all.some(({ status }) => status !== 'error')) return
  const kind = first.kind as ConnectorError['kind']
  throw new ConnectorError({ kind, engine, message: first.message })
}

async function addTopValues(session: ProfileSession, measured: MeasuredColumns): Promise<ColumnProfile[]> {
  const { connector, table, options } = session
  const { values } = measured
  const profileOf = new Map(measured.columns.map(column => [column.name, column]))
  const listed = options.showsValues
    ? table.columns.filter(column => {
        const profile = profileOf.get(column.name)
        return profile && !profile.isMasked && hasTopValues(column, profile)
      })
    : []
  const unread = listed.filter(({ name }) => !values.has(name))
  const from = fromOf(session, measured.fraction)
  const read = await orNone(session, readTopValues(unread, from, connector.dialect, sender(session)))
  const topValuesOf = new Map(listed.map(({ name }) => [name, values.get(name)?.topValues ?? read.get(name)]))
  return measured.columns.map(column => withTopValues(column, topValuesOf.get(column.name)))
}

/** What was read of values; nothing after an error of the engine, because the numbers stand without them. */
async function orNone<Found>(
  { options }: ProfileSession,
  reading: Promise<Map<string, Found>>,
): Promise<Map<string, Found>> {
  try {
    return await reading
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!(error instanceof ConnectorError)) throw error
    return new Map()
  }
}
