import type { Connection } from '../connectors/connector.ts'
import { CHECK_ERROR_KINDS, ConnectorError, OVER_BYTE_LIMIT } from '../connectors/errors.ts'
import type { TableInfo } from '../connectors/catalog.ts'
import { sql, type Sql } from '../connectors/sql.ts'
import type { Check, CheckOutcome } from './check.ts'
import { planChecks, type Engine, type PlannedCheck } from './plan.ts'
import { CheckTypeError } from './guarded-type.ts'
import { validateFilterOnEngine, validateOnEngine } from './engine-validation.ts'
import { withSlowness, withWarnings } from './outcomes.ts'
import { takeSamples } from './samples.ts'
import { readPartOutcome, writePart } from './rows/bucket-statement.ts'
import type { ScanPart } from './rows/part.ts'
import { openSession, type ScanOptions, type ScanSession } from './scan/session.ts'
import { partitionChecks } from './statement.ts'

export type { Engine } from './plan.ts'
export { openSession, type ScanOptions, type ScanSession } from './scan/session.ts'

export interface ScanResult {
  /** One of each check, in the order given. */
  outcomes: CheckOutcome[]
  /** Statements sent to the database. */
  statements: number
  durationMs: number
}

/** A statement as it would be sent, and the checks it measures. */
export interface ExplainedStatement {
  text: string
  values: unknown[]
  checks: string[]
}

/**
 * Measures many checks of one table in as few statements as it can: one for all that share, one for each
 * `group_by` (one more for its percentiles, where the engine ranks them), one for each check that stays alone and
 * for each of its questions, and one for the samples of each failing rule.
 * A check that cannot be measured becomes an `error` outcome; the others keep their numbers.
 * @throws ConnectorError when the connection is to blame, and no check's numbers are then returned
 */
export async function scan(
  connection: Pick<Connection, 'query' | 'validate'>,
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
  options: ScanOptions,
): Promise<ScanResult> {
  const { now = () => performance.now() } = options
  const session = openSession(connection, engine, options, now)
  const startedAt = now()
  const { planned, refusals } = await planChecks(engine, table, checks)
  const outcomes = new Map<string, CheckOutcome>(
    refusals.map(refusal => [refusal.id, { status: 'error', durationMs: 0, ...refusal }]),
  )
  const measured: CheckOutcome[] = []
  const parts = partitionChecks(planned, engine)
  for (const [place, part] of parts.entries()) {
    // A slow suspect leaves time for what comes after it, which would never be cleared of suspicion otherwise.
    const share = part.isSuspect ? parts.length - place : 1
    const found = await measurePart(part, table, session.withShare(share))
    measured.push(
      ...(part.isSuspect ? found.map(outcome => withSlowness(outcome, options.timeoutMs)) : found),
    )
  }
  const byId = new Map(planned.map(item => [item.check.id, item]))
  for (const outcome of measured) {
    const item = byId.get(outcome.id)
    outcomes.set(
      outcome.id,
      item ? withWarnings(await withSamples(outcome, item, session, options), item) : outcome,
    )
  }
  return {
    outcomes: checks.flatMap(({ id }) => outcomes.get(id) ?? []),
    statements: session.count(),
    durationMs: Math.round(now() - startedAt),
  }
}

/**
 * The statements that `scan` would measure these checks with, as the driver gets them, in their order. Refused checks
 * have none; questions, samples and what a failure leads to are left out.
 */
export async function explainScan(
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
): Promise<ExplainedStatement[]> {
  const planned = await planScan(engine, table, checks)
  return planned.map(({ select, checks: ids }) => ({ ...engine.dialect.render(select), checks: ids }))
}

/** The same statements before they are rendered. */
export async function planScan(
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
): Promise<{ select: Sql; checks: string[] }[]> {
  const { planned } = await planChecks(engine, table, checks)
  return partitionChecks(planned, engine).map(part => ({
    select: writePart(part, table, engine).select,
    checks: part.checks.map(({ check }) => check.id),
  }))
}

/** Measures one part, and when it fails finds the checks to blame. */
async function measurePart(part: ScanPart, table: TableInfo, session: ScanSession): Promise<CheckOutcome[]> {
  const startedAt = session.now()
  const refused = session.isValidated ? [] : await validateUserSql(part, table, session)
  const refusedIds = new Set(refused.map(({ id }) => id))
  const checks = part.checks.filter(({ check }) => !refusedIds.has(check.id))
  if (checks.length === 0) return refused
  const accepted: ScanPart = { ...part, checks }
  const result = await tryPart(accepted, table, session)
  if (Array.isArray(result)) return [...refused, ...result]
  const durationMs = Math.round(session.now() - startedAt)
  const outcomes = (await blamesWholePart(result, accepted, table, session))
    ? checks.map(failedOutcome(result, durationMs))
    : await bisectPart(accepted, result, table, session, durationMs)
  return [...refused, ...outcomes]
}

/** Validates the user SQL of a part on the engine: the outcomes of checks that it refuses. */
async function validateUserSql(
  { checks, groupBy }: ScanPart,
  table: TableInfo,
  session: ScanSession,
): Promise<CheckOutcome[]> {
  const refused: CheckOutcome[] = []
  for (const item of checks) {
    const outcome = await validateUserCheck(item, { checks: [item], groupBy }, table, session)
    if (outcome) refused.push(outcome)
  }
  return refused
}

async function validateUserCheck(
  only: PlannedCheck,
  part: ScanPart,
  table: TableInfo,
  session: ScanSession,
): Promise<CheckOutcome | undefined> {
  if (!only.check.type.userSql) return undefined
  const startedAt = session.now()
  const took = () => Math.round(session.now() - startedAt)
  try {
    const message =
      (await validateFilterOnEngine(only.context, session.questions)) ??
      (await validateOnEngine(only.check.type, only.context, session.questions))
    if (typeof message !== 'string') return undefined
    return { id: only.check.id, status: 'error', kind: 'invalid-check', message, durationMs: took() }
  } catch (thrown) {
    const error = requireCheckError(thrown)
    await blamesWholePart(error, part, table, session)
    const { kind, message } = error
    return { id: only.check.id, status: 'error', kind, message, durationMs: took() }
  }
}

/** Runs the SELECT of a part: its outcomes, or the error that one of its checks may be to blame for. */
async function tryPart(
  part: ScanPart,
  table: TableInfo,
  session: ScanSession,
): Promise<CheckOutcome[] | ConnectorError> {
  const startedAt = session.now()
  const statement = writePart(part, table, session.engine)
  try {
    const rows = await session.run(statement.select)
    const durationMs = Math.round(session.now() - startedAt)
    return part.checks.map(item => readPartOutcome(item, part, statement, rows, durationMs))
  } catch (thrown) {
    return requireCheckError(thrown)
  }
}

/**
 * An error that a check can be to blame for; anything else is thrown on. One of unknown kind may be either side's:
 * `blamesWholePart` finds out.
 */
function requireCheckError(thrown: unknown): ConnectorError {
  if (!(thrown instanceof ConnectorError)) throw thrown
  const isUnknown = thrown.kind === 'other' && thrown.code !== 'ABORTED'
  if (isUnknown || CHECK_ERROR_KINDS.has(thrown.kind)) return thrown
  throw thrown
}

/**
 * Whether searching for the guilty check makes no sense. After a timeout the time is used up, and halving
 * would make a database that is already too slow read the table again and again. When even a SELECT of
 * nothing fails, the table itself is gone or closed to us.
 * @throws the error if its kind is unknown and the connection no longer answers
 */
async function blamesWholePart(
  error: ConnectorError,
  part: ScanPart,
  table: TableInfo,
  session: ScanSession,
): Promise<boolean> {
  const isOne = part.checks.length === 1
  if (error.kind === 'timeout' || (isOne && error.kind !== 'other')) return true
  if (error.kind === 'invalid-query') return false
  try {
    await session.run(sql`select 1 from ${session.engine.dialect.table(table)} where 1 = 0`)
    return isOne
  } catch (thrown) {
    if (requireCheckError(thrown).kind === 'other') throw error
    return true
  }
}

/**
 * Halves a part that failed until the guilty checks are alone. When the first half succeeds the failure was the
 * second's, which then need not be run as a whole, unless it is one check: only what failed by itself is to blame, not
 * what was too much together. One bad check of n costs at most 2 log2 n statements. What would read too many bytes is not
 * halved further where both halves would read as many.
 */
async function bisectPart(
  part: ScanPart,
  error: ConnectorError,
  table: TableInfo,
  session: ScanSession,
  durationMs: number,
): Promise<CheckOutcome[]> {
  const { checks } = part
  if (checks.length === 1 || error.kind === 'timeout') return checks.map(failedOutcome(error, durationMs))
  const middle = Math.ceil(checks.length / 2)
  const first: ScanPart = { ...part, checks: checks.slice(0, middle) }
  const second: ScanPart = { ...part, checks: checks.slice(middle) }
  const dig = (half: ScanPart, result: CheckOutcome[] | ConnectorError) =>
    Array.isArray(result) ? result : bisectPart(half, result, table, session, durationMs)
  const firstResult = await tryPart(first, table, session)
  const isInferred = Array.isArray(firstResult) && second.checks.length > 1
  const secondResult = isInferred ? error : await tryPart(second, table, session)
  if ([firstResult, secondResult].every(result => readsAsMuch(result, error)))
    return checks.map(failedOutcome(error, durationMs))
  const outcomes = await dig(first, firstResult)
  return [...outcomes, ...(await dig(second, secondResult))]
}

/** Whether a half was refused for as many bytes as the whole, which the message has. */
function readsAsMuch(result: CheckOutcome[] | ConnectorError, { code, message }: ConnectorError): boolean {
  return code === OVER_BYTE_LIMIT && !Array.isArray(result) && result.message === message
}

function failedOutcome({ kind, message }: ConnectorError, durationMs: number) {
  return ({ check }: PlannedCheck): CheckOutcome => ({
    id: check.id,
    status: 'error',
    kind,
    message,
    durationMs,
  })
}

/** Adds samples to a rule that found invalid rows. Without them its counts stand: a sample is evidence only. */
export async function withSamples(
  outcome: CheckOutcome,
  item: PlannedCheck,
  session: ScanSession,
  {
    sampleLimit = 0,
    wholeRows,
    maskedColumns = new Set(),
    hideSelectRows = maskedColumns.size > 0,
  }: ScanOptions,
): Promise<CheckOutcome> {
  if (outcome.status === 'windowed') {
    const { bucket, outcome: newest } = outcome.buckets.at(-1)!
    const options = { sampleLimit, wholeRows, maskedColumns, hideSelectRows, timeoutMs: 0 }
    const sampled = item.newest ? await withSamples(newest, item.newest, session, options) : newest
    return { ...outcome, buckets: [...outcome.buckets.slice(0, -1), { bucket, outcome: sampled }] }
  }
  const limit = typeof sampleLimit === 'number' ? sampleLimit : (sampleLimit[outcome.id] ?? 0)
  if (outcome.status !== 'counted' || outcome.invalid <= 0 || limit <= 0) return outcome
  const startedAt = session.now()
  try {
    const hidden = new Set([...maskedColumns, ...(item.check.maskedColumns ?? [])])
    const taken = await takeSamples(
      item,
      limit,
      { maskedColumns: hidden, hideSelectRows, wholeRows },
      session.run,
    )
    return { ...outcome, ...taken, durationMs: outcome.durationMs + Math.round(session.now() - startedAt) }
  } catch (thrown) {
    const { message } = thrown instanceof CheckTypeError ? thrown : requireCheckError(thrown)
    return { ...outcome, samplesNote: `The invalid rows could not be read: ${message}` }
  }
}
