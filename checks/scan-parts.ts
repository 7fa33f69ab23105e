/** Measures the checks of a table, those of all its rows by the parts that have changed. */
import { setImmediate } from 'node:timers/promises'
import type { TableInfo } from '../connectors/catalog.ts'
import type { Connection, Row, TablePart } from '../connectors/connector.ts'
import { CHECK_ERROR_KINDS, ConnectorError } from '../connectors/errors.ts'
import type { Check, CheckOutcome, MeasuredValues } from './check.ts'
import { addRolled, emptyValue } from './history/rollups.ts'
import { toNumber } from './measures.ts'
import { withWarnings } from './outcomes.ts'
import { interpretMeasures, problemFromThrown, type Engine } from './plan.ts'
import {
  openSession,
  scan,
  withSamples,
  type ScanOptions,
  type ScanResult,
  type ScanSession,
} from './scan.ts'
import {
  fingerprintOf,
  planMerged,
  ROWS_KEY,
  type MergedCheck,
  type PartMeasures,
} from './parts/mergeable.ts'
import { readPartNumbers, writeEmptyParts, writePartStatements } from './parts/statements.ts'
import {
  differs,
  groupUnknown,
  readingTime,
  type KeptNumber,
  type KnownParts,
  type PartGroup,
  type PartsUse,
  type ReadPart,
} from './parts/states.ts'

export type { KeptNumber, KnownParts, PartsUse, PartState } from './parts/states.ts'

/** A scan, and what it read of the parts of the table. */
export interface PartsScanResult extends ScanResult {
  /** Null where the table was read whole. */
  parts: MeasuredParts | null
}

/** What is to be kept of the parts of a table after a scan. */
export interface MeasuredParts {
  use: PartsUse
  /** Those of which anything was read. */
  read: ReadPart[]
  /** The version of each part that there is, by its name, as it was before anything was read. */
  versions: ReadonlyMap<string, string>
}

type Source = Pick<Connection, 'query' | 'validate' | 'listParts'>

/** Below two parts nothing is spared; above these, what is kept of them would be too much. */
const MIN_PARTS = 2
const MAX_PARTS = 4_000

/**
 * Measures checks as `scan` does. Those that merge are measured of the parts whose versions are not known, and added up with
 * the numbers that are known; they are read whole, with the others, where the parts of the table are unknown or cannot be
 * read by themselves, and where a part has a number that merges with none, such as NaN.
 */
export async function scanWithParts(
  connection: Source,
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
  options: ScanOptions & { known: KnownParts },
): Promise<PartsScanResult> {
  const { now = () => performance.now(), timeoutMs, known } = options
  const startedAt = now()
  const { merged, measures } = await planMerged(engine, table, checks)
  const listed = merged.length === 0 ? null : await listParts(connection, table, options)
  const asked = connection.listParts && merged.length > 0 ? 1 : 0
  const session = openSession(connection, engine, options, now)
  const measured =
    listed &&
    (await measureParts({ parts: listed, merged, measures, known, columns: table.columns }, session))
  const found = measured ? await outcomesOf(measured, merged, session, options) : []
  const done = new Map(found.map(outcome => [outcome.id, outcome]))
  const others = checks.filter(({ id }) => !done.has(id))
  const left = Math.max(1, timeoutMs - Math.round(now() - startedAt))
  const rest =
    others.length === 0
      ? { outcomes: [], statements: 0 }
      : await scan(connection, engine, table, others, { ...options, timeoutMs: left })
  for (const outcome of rest.outcomes) done.set(outcome.id, outcome)
  return {
    outcomes: checks.flatMap(({ id }) => done.get(id) ?? []),
    statements: asked + session.count() + rest.statements,
    durationMs: Math.round(now() - startedAt),
    parts: measured && describeParts(measured),
  }
}

/** The parts of a table with versions that change with its columns too; null where they are unknown, or of no use. */
async function listParts(
  connection: Source,
  table: TableInfo,
  { timeoutMs, signal }: Pick<ScanOptions, 'timeoutMs' | 'signal'>,
): Promise<TablePart[] | null> {
  signal?.throwIfAborted()
  try {
    const parts = await connection.listParts?.(table, { timeoutMs, signal })
    if (!parts || parts.length < MIN_PARTS || parts.length > MAX_PARTS) return null
    const fingerprint = fingerprintOf(table)
    return parts.map(part => ({ ...part, version: `${fingerprint} ${part.version}` }))
  } catch (thrown) {
    signal?.throwIfAborted()
    if (isOfChecks(thrown)) return null
    throw thrown
  }
}

/** Whether the connection is good all the same. */
function isOfChecks(thrown: unknown): thrown is ConnectorError {
  return thrown instanceof ConnectorError && (thrown.kind === 'other' || CHECK_ERROR_KINDS.has(thrown.kind))
}

interface PartsPass {
  columns: TableInfo['columns']
  parts: readonly TablePart[]
  merged: readonly MergedCheck[]
  measures: PartMeasures
  known: KnownParts
}

/** The numbers of all parts by their names; of some parts none where an error kept them from being read. */
interface MeasuredPass extends PartsPass {
  numbers: ReadonlyMap<string, Row>
  read: ReadPart[]
  error: ConnectorError | null
  durationMs: number
}

async function measureParts(pass: PartsPass, session: ScanSession): Promise<MeasuredPass> {
  const { parts, measures, known, columns } = pass
  const { dialect } = session.engine
  const startedAt = session.now()
  const keys = [...measures.keys()]
  const read = new Map<string, ReadPart>()
  let error: ConnectorError | null = null
  try {
    for (const group of groupUnknown(parts, keys, known))
      for (const statement of writePartStatements(group, measures, { dialect, columns })) {
        const found = readPartNumbers(statement, await session.run(statement.select))
        const empty = statement.parts.filter(part => !found.has(part))
        if (empty.length > 0) {
          const ofEmpty = writeEmptyParts(statement, empty, measures, dialect)
          for (const [part, numbers] of readPartNumbers(ofEmpty, await session.run(ofEmpty.select)))
            found.set(part, numbers)
        }
        for (const [part, numbers] of found)
          addNumbers(read, part, numbers, { isWhole: group.keys.length === keys.length, known })
        await setImmediate()
      }
  } catch (thrown) {
    // What was read until then is kept, so that the next pass goes on from there.
    if (!isOfChecks(thrown)) throw thrown
    error = thrown
  }
  const numbers = new Map(
    parts.map(({ name, version }) => {
      const state = known.states.get(name)
      const kept = state?.version === version ? state.numbers : {}
      const all = Object.entries({ ...kept, ...read.get(name)?.numbers })
      return [name, Object.fromEntries(all.map(([key, { value }]) => [key, value]))] as const
    }),
  )
  const durationMs = Math.round(session.now() - startedAt)
  return { ...pass, numbers, read: [...read.values()], error, durationMs }
}

function addNumbers(
  read: Map<string, ReadPart>,
  { name, version, known }: PartGroup['parts'][number],
  numbers: Record<string, KeptNumber['value']>,
  { isWhole, known: pass }: { isWhole: boolean; known: KnownParts },
): void {
  const before = read.get(name)
  const at = readingTime(name, known !== undefined, pass)
  const found = Object.entries(numbers).map(([key, value]) => [key, { value, at }] as const)
  const changed = found.filter(([key, { value }]) => {
    const kept = known?.numbers[key]
    return kept !== undefined && differs(kept.value, value)
  })
  const rows = numbers[ROWS_KEY] ?? known?.numbers[ROWS_KEY]?.value
  read.set(name, {
    name,
    version,
    isWhole: known === undefined || isWhole,
    rows: before?.rows ?? (rows === undefined || rows === null ? null : Number(rows)),
    differences: (before?.differences ?? 0) + changed.length,
    numbers: { ...before?.numbers, ...Object.fromEntries(found) },
  })
}

/** The outcomes of checks that merge; those that do not all the same are left out, and are read whole then. */
async function outcomesOf(
  pass: MeasuredPass,
  merged: readonly MergedCheck[],
  session: ScanSession,
  options: ScanOptions,
): Promise<CheckOutcome[]> {
  const { error, durationMs } = pass
  if (error && error.kind !== 'timeout') return []
  const outcomes: CheckOutcome[] = []
  for (const check of merged) {
    const { id } = check.item.check
    if (error) outcomes.push({ id, status: 'error', kind: error.kind, message: error.message, durationMs })
    else {
      const outcome = mergeCheck(check, pass)
      if (!outcome) continue
      const item = { ...check.item, sampleFrom: invalidParts(check, pass) }
      outcomes.push(withWarnings(await withSamples(outcome, item, session, options), item))
    }
  }
  return outcomes
}

/** The outcome of a check from the numbers of some parts; null where one of them is no finite number. */
function mergeCheck(
  check: MergedCheck,
  { parts, numbers, durationMs }: Pick<MeasuredPass, 'parts' | 'numbers' | 'durationMs'>,
): CheckOutcome | null {
  const { item, total: totalKey, measures } = check
  const { id, type } = item.check
  try {
    const rows = parts.map(({ name }) => numbers.get(name) ?? {})
    const total = rows.reduce((sum, row) => sum + (toNumber(row[totalKey]) ?? 0), 0)
    const measured: MeasuredValues = {}
    for (const [name, columns] of Object.entries(measures)) {
      const value = emptyValue(columns.rollup)
      for (const row of rows) addRolled(value, columns, row)
      measured[name] = value.value
    }
    const reading = interpretMeasures(item, measured, total)
    return typeof reading === 'object' && reading !== null
      ? { id, status: 'counted', ...reading, samples: [], measured, durationMs }
      : { id, status: 'measured', value: reading, total, durationMs }
  } catch (thrown) {
    const problem = problemFromThrown(type, thrown)
    return problem.kind === 'not-finite' ? null : { id, status: 'error', durationMs, ...problem }
  }
}

/** The parts that have invalid rows of a rule, the newest first. */
function invalidParts(check: MergedCheck, { parts, numbers }: MeasuredPass) {
  return parts
    .filter(part => {
      const own = mergeCheck(check, { parts: [part], numbers, durationMs: 0 })
      return own?.status === 'counted' && own.invalid > 0
    })
    .map(({ from }) => from)
    .toReversed()
}

function describeParts({ parts, numbers, read }: MeasuredPass): MeasuredParts {
  const names = new Set(read.map(({ name }) => name))
  const rowsOf = (some: readonly TablePart[]) =>
    some.reduce((sum, { name }) => sum + Number(numbers.get(name)?.[ROWS_KEY] ?? 0), 0)
  return {
    use: {
      parts: parts.length,
      read: read.length,
      rowsRead: rowsOf(parts.filter(({ name }) => names.has(name))),
      rowsKnown: rowsOf(parts.filter(({ name }) => !names.has(name))),
    },
    read,
    versions: new Map(parts.map(({ name, version }) => [name, version])),
  }
}
