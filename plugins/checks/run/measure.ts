import type { Check, CheckOutcome } from '../../../checks/check.ts'
import { scanWithParts, type KnownParts, type MeasuredParts } from '../../../checks/scan-parts.ts'
import { scan, type ScanOptions } from '../../../checks/scan.ts'
import type { Connection } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import type { SessionUse, TableContext } from '../../catalog/api.ts'
import type { ScanRunOptions } from '../types.ts'
import type { CheckDeps } from '../deps.ts'
import type { MeasureRefusal } from '../kind.ts'
import { shownColumnsRefusal } from './shown-columns.ts'

/** What a scan found, before anything is judged. */
export interface Measurement {
  outcomes: CheckOutcome[]
  /** Statements sent to the source. */
  statements: number
  /** Whether the source was dialled and answered. */
  reached: boolean
  unreachable: ConnectorError | null
  /** What the session used of the source; null without one. */
  use: SessionUse | null
  /** What was read of the parts of the table; null where it was read whole. */
  parts: MeasuredParts | null
}

/** How a scan is asked for. */
interface ScanMeasureOptions extends Pick<
  ScanRunOptions,
  'sampleLimit' | 'wholeRows' | 'signal' | 'slotWaitMs'
> {
  purpose?: 'scan' | 'dry_run'
  /** Whether it runs without a caller waiting. */
  isScheduled?: boolean
  /** Whether it leaves one session of the source to other work. */
  isLowPriority?: boolean
  /** Whether the engine has just validated the checks. */
  isEngineValidated?: boolean
  /** Is given the session before the scan, if one is opened. */
  beforeScan?(connection: Connection): Promise<void>
  /** What is known of the parts of the table, where it is read by parts. */
  known?: KnownParts | null
}

/**
 * Measures checks of a table in one scan; whatever keeps it from running is the outcome of each of them.
 * @throws 503 `UNAVAILABLE` while all sessions of the source are in use
 */
export async function measure(
  { catalog, telemetry }: Pick<CheckDeps, 'catalog' | 'telemetry'>,
  loaded: TableContext,
  checks: readonly Check[],
  {
    sampleLimit = 0,
    wholeRows,
    signal,
    purpose = 'scan',
    isScheduled,
    isLowPriority,
    isEngineValidated,
    slotWaitMs,
    beforeScan,
    known,
  }: ScanMeasureOptions,
): Promise<Measurement> {
  const { source, table } = loaded
  const refusal = tableRefusal(loaded)
  const masked = catalog.personalColumns(loaded)
  const refusals: CheckOutcome[] = []
  for (const check of checks) {
    const found =
      refusal ?? personalDataRefusal(check, masked) ?? (await shownColumnsRefusal(catalog, loaded, check))
    if (found) refusals.push(errorOutcome(found.kind, found.message)(check))
  }
  const refused = new Set(refusals.map(({ id }) => id))
  const asked = checks.filter(({ id }) => !refused.has(id))
  if (asked.length === 0)
    return { outcomes: refusals, statements: 0, reached: false, unreachable: null, use: null, parts: null }
  const limit = source.queryAccessLevel === 'full' ? sampleLimit : 0
  const hideSelectRows = limit > 0 && (await catalog.hasPersonalData(source))
  const timeoutMs = catalog.statementTimeoutMs(source)
  const options = {
    timeoutMs,
    sampleLimit: limit,
    wholeRows,
    maskedColumns: masked,
    hideSelectRows,
    signal,
    isValidated: isEngineValidated,
  } satisfies ScanOptions
  let use: SessionUse | null = null
  const onUse = (used: SessionUse) => void (use = used)
  try {
    const scanned = await catalog.withConnection(
      source,
      async connection => {
        await beforeScan?.(connection)
        const engine = catalog.connectorOf(source)
        const info = catalog.tableInfo(table)
        if (known) return scanWithParts(connection, engine, info, asked, { ...options, known })
        return { ...(await scan(connection, engine, info, asked, options)), parts: null }
      },
      { purpose, isScheduled, timeoutMs, isLowPriority, slotWaitMs, signal, onUse },
    )
    telemetry.scan(source.sourceType, 'measured')
    const outcomes = scanned.outcomes.map(outcome => withoutLoneValue(outcome, asked, masked))
    return { ...scanned, outcomes: [...refusals, ...outcomes], reached: true, unreachable: null, use }
  } catch (error) {
    // One that was called off has no news of its source.
    signal?.throwIfAborted()
    if (!(error instanceof ConnectorError)) throw error
    telemetry.scan(source.sourceType, 'unreachable')
    const outcomes = [...refusals, ...asked.map(errorOutcome(error.kind, error.message))]
    return { outcomes, statements: 0, reached: false, unreachable: error, use, parts: null }
  }
}

/** A number of one row only is that row's value. */
function withoutLoneValue(
  outcome: CheckOutcome,
  checks: readonly Check[],
  masked: ReadonlySet<string>,
): CheckOutcome {
  if (outcome.status === 'windowed') {
    const buckets = outcome.buckets.map(({ bucket, outcome: one }) => ({
      bucket,
      outcome: withoutLoneValue(one, checks, masked),
    }))
    return { ...outcome, buckets }
  }
  if (outcome.status !== 'measured' || outcome.total > 1 || outcome.value === null) return outcome
  const check = checks.find(({ id }) => id === outcome.id)
  if (check?.column === undefined || !check.type.revealsValue || !masked.has(check.column)) return outcome
  const message = `${check.column} is tagged as personal data, and the ${check.type.name} of one row would show its value`
  return errorOutcome('permission', message)(check)
}

/**
 * Why a check would show what a column of personal data holds, and the field of its body to blame. Asked when a metric
 * is made, and at each scan, since columns may have been tagged meanwhile.
 */
export function personalDataRefusal(
  { type, column, groupBy = [] }: Pick<Check, 'type' | 'column' | 'groupBy'>,
  masked: ReadonlySet<string>,
): (MeasureRefusal & { field: 'column_name' | 'group_by_columns' }) | null {
  const refusal = (field: 'column_name' | 'group_by_columns', message: string) => ({
    kind: 'permission',
    field,
    message,
  })
  const hidden = groupBy.find(name => masked.has(name))
  if (hidden !== undefined) {
    const what = `${hidden} is tagged as personal data, and every group would show its value`
    return refusal('group_by_columns', `${what}: group by another column`)
  }
  if (column === undefined || !masked.has(column)) return null
  const what = `${column} is tagged as personal data, and ${type.name} would show`
  if (type.revealsValue === 'always')
    return refusal('column_name', `${what} one of its values: choose a type that counts, or take the tag off`)
  if (type.revealsValue === 'grouped' && groupBy.length > 0)
    return refusal('group_by_columns', `${what} its value of every group of one row: leave the groups out`)
  return null
}

/** Why a table is not to be asked, known without asking its source. */
export function tableRefusal({ source, table }: TableContext): MeasureRefusal | null {
  if (!table.isActive) {
    const message =
      table.absence === 'excluded'
        ? `The patterns of ${source.name} no longer name the table ${table.qualifiedName}`
        : `The table ${table.qualifiedName} is no longer in the source: the last discovery did not find it`
    return { kind: 'missing-object', message }
  }
  if (source.queryAccessLevel !== 'schema_only') return null
  const message = `The query_access_level of ${source.name} is schema_only: checks need aggregates or full`
  return { kind: 'permission', message }
}

function errorOutcome(kind: string, message: string): (check: Check) => CheckOutcome {
  return ({ id }) => ({ id, status: 'error', kind, message, durationMs: 0 })
}
