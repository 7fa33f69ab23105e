/** The past of checks, computed from the table's own timestamps. */
import type { CheckOutcome } from '../../../checks/check.ts'
import {
  measureHistories,
  timestampColumn,
  type CheckHistory,
  type HistoryPoint,
} from '../../../checks/history.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { INTERVAL_SECONDS } from '../../../server/database/due.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { CheckDeps } from '../deps.ts'
import { measure, tableRefusal } from '../run/measure.ts'
import type { ComputedHistory, ConfiguredCheck, HistoryOutcome, HistoryRange } from '../types.ts'
import { pastWindow, windowPlace, type WindowColumns, type WindowPlace } from '../windows/windows.ts'

/** What pasts are computed with. */
export type PastDeps = Pick<CheckDeps, 'catalog' | 'telemetry' | 'timezone'>

/** A check whose past is computed. */
export type PastCheck = Pick<ConfiguredCheck, 'check' | 'window'>

/** How the session of a past is asked for. */
interface PastSession {
  signal?: AbortSignal
  /** Milliseconds to wait for a session. */
  slotWaitMs?: number
}

const DAY_SECONDS = 86_400

/**
 * What checks of a table would have said in the past, in their order. One grouped statement serves all that are about all
 * rows, and one those of a window; a check with a filter has one of its own.
 */
export async function computePasts(
  deps: PastDeps,
  table: TableContext,
  checks: readonly PastCheck[],
  range: HistoryRange,
  session: PastSession = {},
): Promise<ComputedHistory[]> {
  const found = new Map<PastCheck, ComputedHistory>()
  const note = (some: readonly PastCheck[], pasts: readonly ComputedHistory[]) => {
    for (const [place, check] of some.entries()) found.set(check, pasts[place]!)
  }
  const windowed = checks.filter(hasWindow)
  if (windowed.length > 0) note(windowed, await computeBuckets(deps, table, windowed, range, session))
  const whole = checks.filter(check => !hasWindow(check))
  for (const some of Map.groupBy(whole, ({ check }) => check.filter).values())
    note(some, await computeWhole(deps, table, some, range, session))
  return checks.map(check => found.get(check)!)
}

function hasWindow(check: PastCheck): check is PastCheck & { window: WindowColumns } {
  return check.window?.windowSize != null
}

const idOf = (place: number) => `past ${place}`

/** What checks with a window would have said of their last buckets, at most a hundred: exact, whatever the type. */
async function computeBuckets(
  deps: PastDeps,
  table: TableContext,
  checks: readonly (PastCheck & { window: WindowColumns })[],
  { days }: HistoryRange,
  session: PastSession,
): Promise<ComputedHistory[]> {
  const place = requirePlace(deps, table)
  const windows = checks.map(({ window }) => pastWindow(window, place, days))
  const asked = checks.flatMap(({ check }, index) => {
    const window = windows[index]
    return window ? [{ ...check, id: idOf(index), window }] : []
  })
  const { outcomes } =
    asked.length === 0
      ? { outcomes: [] }
      : await measure(deps, table, asked, { purpose: 'dry_run', isLowPriority: true, ...session })
  const byId = new Map(outcomes.map(outcome => [outcome.id, outcome]))
  return checks.map(({ window: { windowSize } }, index): ComputedHistory => {
    const window = windows[index]
    if (!window)
      return { message: `${days} days have no bucket of ${windowSize} that is over`, isFinal: true }
    const outcome = byId.get(idOf(index))
    if (outcome?.status !== 'windowed')
      return {
        message: outcome?.status === 'error' ? outcome.message : 'Nothing was measured',
        isFinal: false,
      }
    const points = outcome.buckets.map(({ bucket, outcome: one }) => ({
      at: bucket.start,
      bucket,
      outcome: one,
    }))
    // A number of rows is one of a bucket without rows, too.
    return withoutGaps(window.column, points, one => one.status === 'counted' && one.total === 0)
  })
}

/** A past without the moments at which there were no rows. */
function withoutGaps(
  column: string,
  all: readonly HistoryOutcome[],
  isGap: (outcome: CheckOutcome) => boolean,
): ComputedHistory {
  return {
    column,
    points: all.filter(({ outcome }) => !isGap(outcome)),
    gaps: all.filter(({ outcome }) => isGap(outcome)).map(({ at }) => at),
  }
}

/** Where the buckets of a table are counted from. @throws 409 `CONFLICT` of a source whose engine is gone */
export function requirePlace({ catalog, timezone }: PastDeps, table: TableContext): WindowPlace {
  const place = windowPlace(catalog, table, { timezone, now: new Date() })
  if (place) return place
  throw catalog.sourceInactive(table.source)
}

/** What checks of all rows would have said, by one statement. The last point lies one interval before now. */
async function computeWhole(
  { catalog }: PastDeps,
  { source, table }: TableContext,
  checks: readonly PastCheck[],
  { days, interval }: HistoryRange,
  session: PastSession,
): Promise<ComputedHistory[]> {
  const info = catalog.tableInfo(table)
  const column = timestampColumn(info)
  const same = (message: string, isFinal: boolean) => checks.map(() => ({ message, isFinal }))
  if (!column)
    return same(
      `${table.qualifiedName} has no timestamp column, such as created_at, with the time at which its rows were added`,
      true,
    )
  const personal = catalog.personalColumns({ source, table })
  const refused = new Map(checks.map(({ check }) => [check, personalRefusal(check, personal)]))
  const asked = checks.flatMap(({ check }, place) =>
    refused.get(check) === null ? [{ ...check, id: idOf(place) }] : [],
  )
  const refusal = source.isActive
    ? tableRefusal({ source, table })?.message
    : catalog.sourceInactive(source).message
  const histories = new Map<string, CheckHistory>()
  if (asked.length > 0 && refusal) return same(refusal, false)
  const seconds = INTERVAL_SECONDS[interval]
  const count = Math.floor((days * DAY_SECONDS) / seconds)
  const from = new Date(Date.now() - (count + 1) * seconds * 1_000)
  const timeoutMs = catalog.statementTimeoutMs(source)
  try {
    if (asked.length > 0) {
      const measured = await catalog.withConnection(
        source,
        connection =>
          measureHistories(connection, catalog.connectorOf(source), info, asked, {
            column: column.name,
            periods: { from, seconds, count },
            timeoutMs,
          }),
        { purpose: 'dry_run', timeoutMs, isLowPriority: true, ...session },
      )
      for (const [place, { id }] of asked.entries()) histories.set(id, measured[place]!)
    }
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    return same(error.message, false)
  }
  return checks.map(({ check }, place): ComputedHistory => {
    const history = histories.get(idOf(place))
    if (!history) return { message: refused.get(check)!, isFinal: true }
    if ('none' in history) return { message: history.none, isFinal: true }
    const points = history.points.map(point => ({ at: point.at, outcome: outcomeOf(point) }))
    // Before its first row, a table says nothing.
    return withoutGaps(column.name, points, outcome => 'total' in outcome && outcome.total === 0)
  })
}

function personalRefusal({ column, type }: PastCheck['check'], personal: ReadonlySet<string>): string | null {
  if (column === undefined || !type.revealsValue || !personal.has(column)) return null
  return `${column} is tagged as personal data, and the past of ${type.name} would show its value of every period of one row`
}

function outcomeOf({ total, invalid, value = null }: HistoryPoint): CheckOutcome {
  const taken = { id: '', durationMs: 0, total }
  if (invalid !== undefined) return { ...taken, status: 'counted', invalid, samples: [], measured: {} }
  return { ...taken, status: 'measured', value }
}
