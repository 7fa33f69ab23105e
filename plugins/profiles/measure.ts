import type { CheckOutcome, Check } from '../../checks/check.ts'
import { scan, type Engine } from '../../checks/scan.ts'
import type { Connection } from '../../connectors/connector.ts'
import { tablePath, type ColumnInfo, type TableInfo } from '../../connectors/catalog.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnProfile, PatternName, TableProfile, TopValue } from './api.ts'
import { readColumn, valueOf, withTopValues } from './columns.ts'
import { columnChecks, countSorts, patternChecks } from './measures.ts'
import { likeliestPattern } from './patterns.ts'
import { hasTopValues, readTopValues } from './top-values.ts'

/** What one profile of a table found. */
export type MeasuredProfile = Omit<
  TableProfile,
  'id' | 'sourceId' | 'tableId' | 'profiledAt' | 'milliseconds'
>

/** How a table is profiled. */
export interface ProfileOptions {
  /** Columns whose values must not show. */
  masked: ReadonlySet<string>
  /** Whether values of rows may be shown at all. */
  showsValues: boolean
  /** Rows above which a sample of so many is read. */
  rowLimit: number
  /** Milliseconds of one statement. */
  timeoutMs: number
  signal?: AbortSignal
}

/** Rows in which patterns are looked for, before the likeliest is counted in all. */
const PATTERN_SAMPLE_ROWS = 5_000
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
 * Profiles a table: an estimate of its rows, patterns of texts in a sample, one statement for all numbers, and one for
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
  return {
    rowCount: isSampled ? Math.max(survey.rows, profiledRows) : profiledRows,
    isRowCountExact: !isSampled || survey.isExact,
    ...{ profiledRows, isSampled, columns },
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
}

/** Looks how large a table is, and which patterns its texts have. Where there are few rows, the first ones say both. */
async function surveyTable(session: ProfileSession): Promise<Survey> {
  const { connector, table, options } = session
  const fractionOf = (rows: number) => Math.min(1, options.rowLimit / Math.max(rows, 1))
  const hasTexts = connector.capabilities.regex && table.columns.some(({ kind }) => kind === 'text')
  const estimate = await readEstimate(session)
  if (!hasTexts) {
    const rows = estimate ?? (await countRows(session))
    return { rows, isExact: estimate === undefined, fraction: fractionOf(rows), patterns: new Map() }
  }
  if (estimate !== undefined) {
    const fraction = fractionOf(estimate)
    const { patterns } = await findPatterns(session, patternSample(session, estimate, fraction))
    return { rows: estimate, isExact: false, fraction, patterns }
  }
  const { patterns, rowsRead } = await findPatterns(session, firstRows(session, 1))
  const rows = rowsRead < PATTERN_SAMPLE_ROWS ? rowsRead : await countRows(session)
  return { rows, isExact: true, fraction: fractionOf(rows), patterns }
}

/** The rows of the table as the engine estimates them; undefined where it does not. */
async function readEstimate(session: ProfileSession): Promise<number | undefined> {
  const { connection, connector, table } = session
  if (!connector.capabilities.estimates || !connection.estimates) return undefined
  session.statements += 1
  const rows = (await connection.estimates([table])).get(tablePath(table))
  return rows === undefined || rows < 0 ? undefined : Math.round(rows)
}

async function countRows(session: ProfileSession): Promise<number> {
  const { connector, table } = session
  const [row = {}] = await run(session, sql`select count(*) as n from ${connector.dialect.table(table)}`)
  return Number(Object.values(row)[0] ?? 0)
}

function run(session: ProfileSession, statement: Sql) {
  const { timeoutMs, signal } = session.options
  session.statements += 1
  return session.connection.query(statement, { timeoutMs, signal })
}

/** The table, or a sample of it, as statements name it. */
function fromOf({ connector: { dialect }, table }: ProfileSession, fraction: number, byRow = false): Sql {
  const whole = dialect.table(table)
  return fraction < 1 ? dialect.sample(whole, { fraction, kind: table.kind, byRow }) : whole
}

async function scanRows(session: ProfileSession, from: Sql, checks: readonly Check[]) {
  const { connection, connector, table, options } = session
  const engine = { ...connector, dialect: { ...connector.dialect, table: () => from } }
  const { timeoutMs, signal } = options
  const found = await scan(connection, engine, table, checks, { timeoutMs, signal })
  session.statements += found.statements
  return found.outcomes
}

/** Some rows to look for patterns in: at random, or the first ones of a sample that is random already. */
function patternSample(session: ProfileSession, rows: number, fraction: number): Sql {
  if (rows <= PATTERN_SAMPLE_ROWS) return fromOf(session, 1)
  return fraction === 1 ? fromOf(session, PATTERN_SAMPLE_ROWS / rows, true) : firstRows(session, fraction)
}

function firstRows(session: ProfileSession, fraction: number): Sql {
  const some = sql`select * from ${fromOf(session, fraction)}`
  return sql`(${session.connector.dialect.limit(some, PATTERN_SAMPLE_ROWS)}) tidemark_some`
}

/** The pattern that each text column is matched with, and the rows in which they were looked for. */
async function findPatterns(
  session: ProfileSession,
  from: Sql,
): Promise<{ patterns: Map<string, PatternName>; rowsRead: number }> {
  const texts = session.table.columns.filter(({ kind }) => kind === 'text')
  const outcomes = byId(await scanRows(session, from, patternChecks(texts)))
  const patterns = texts.flatMap(({ name }) => {
    const matching = (pattern: PatternName) => valueOf(outcomes, name, pattern) ?? 0
    const pattern = likeliestPattern(valueOf(outcomes, name, 'count') ?? 0, matching)
    return pattern ? [[name, pattern] as const] : []
  })
  return { patterns: new Map(patterns), rowsRead: countRead(outcomes) ?? PATTERN_SAMPLE_ROWS }
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
}

async function measureColumns(
  session: ProfileSession,
  { rows, fraction, patterns }: Survey,
): Promise<MeasuredColumns> {
  const { connector, table, options } = session
  const { masked } = options
  const isDistinctApproximate =
    connector.dialect.approximateDistinct !== undefined && rows * fraction > MAX_EXACT_DISTINCT_ROWS
  const outcomes = new Map<string, CheckOutcome>()
  for (const columns of splitBySorts(table.columns, rows * fraction, masked)) {
    const checks = columns.flatMap(column =>
      columnChecks(column, { masked, isDistinctApproximate, patterns }),
    )
    for (const outcome of await scanRows(session, fromOf(session, fraction), checks))
      outcomes.set(outcome.id, outcome)
    if (hasTimedOut(outcomes)) break
  }
  const profiledRows = countRead(outcomes) ?? 0
  const isSampled = fraction < 1
  const measured = { outcomes, profiledRows, isSampled, isDistinctApproximate, masked, patterns }
  return {
    ...{ fraction, outcomes, profiledRows, isSampled },
    hasTimedOut: hasTimedOut(outcomes),
    columns: table.columns.map(column => readColumn(column, measured)),
  }
}

/** Columns of one statement each: all of them, unless that would sort too much. */
function splitBySorts(
  columns: readonly ColumnInfo[],
  rows: number,
  masked: ReadonlySet<string>,
): ColumnInfo[][] {
  const parts: ColumnInfo[][] = []
  let sorted = Infinity
  for (const column of columns) {
    const values = countSorts(column, masked) * rows
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
  const profileOf = new Map(measured.columns.map(column => [column.name, column]))
  const listed = options.showsValues
    ? table.columns.filter(column => {
        const profile = profileOf.get(column.name)
        return profile && !profile.isMasked && hasTopValues(column, profile)
      })
    : []
  const from = fromOf(session, measured.fraction)
  let found = new Map<string, TopValue[]>()
  try {
    found = await readTopValues(listed, from, connector.dialect, statement => run(session, statement))
  } catch (error) {
    options.signal?.throwIfAborted()
    // The numbers stand without the frequent values.
    if (!(error instanceof ConnectorError)) throw error
  }
  return measured.columns.map(column => withTopValues(column, found.get(column.name)))
}
