import type { Server } from '@hapi/hapi'
import type { Check, CheckOutcome } from '../../checks/check.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import { isSameSlot, nextOnGrid, takenSlot, type TakenSlot } from '../../server/database/due.ts'
import { apiError, hasCode } from '../../server/http/errors.ts'
import type { TableContext } from '../catalog/api.ts'
import type { CheckFeature, ScanRunOptions, ScheduledCheck, MeasureRefusal, CheckSpec } from './api.ts'
import { isTableLeased } from './leases.ts'
import { measure, type Measurement } from './measure.ts'
import { lockChecks } from './locks.ts'
import { saveScanCost } from './costs/costs.ts'

/** Rows of a feature that one scan takes. */
export interface Selection {
  feature: CheckFeature
  rows(trx: Transaction): PromiseLike<ScheduledCheck[]>
}

/** A row of a selection, with its check or why it has none. */
interface LoadedCheck {
  feature: CheckFeature
  row: ScheduledCheck
  check: Check | CheckOutcome
}

/** What a scan of one table took. */
export interface ScanRun {
  checks: number
  /** Statements sent to the source. */
  statements: number
  /** What the features made of each row; rows that are gone or were recorded by another process are missing. */
  results: { feature: CheckFeature; row: ScheduledCheck; result: unknown; outcome: CheckOutcome }[]
}

/**
 * Loads the checks of a table, measures them in one scan, and lets each feature record its outcomes in one
 * transaction. No transaction is open while the source is being read. A source that cannot be reached makes
 * every check an `error` with the reason.
 * @param which `claimed` rows are recorded for their slot, and only while it is still theirs; `asked` ones for the slot
 *   that was open when the scan began, if any, which is then measured
 */
export async function runScan(
  server: Server,
  { companyId, tableId, which }: { companyId: string; tableId: string; which: 'claimed' | 'asked' },
  selections: readonly Selection[],
  choice: ScanRunOptions = {},
): Promise<ScanRun> {
  const { table, asked, isLeased } = await server.db.company(companyId, async trx => {
    const loaded = await loadChecks(server, trx, tableId, selections)
    return { ...loaded, isLeased: which === 'claimed' && (await isTableLeased(trx, tableId)) }
  })
  if (isLeased) {
    // The manual check records them; what it does not, the sweep after it claims.
    await server.db.company(companyId, trx => releaseSlots(trx, asked))
    return { checks: 0, statements: 0, results: [] }
  }
  // A replay of the past switches the source off, so that no sweep interferes.
  if (!table.source.isActive && !choice.at) {
    if (which === 'asked') throw server.plugins.catalog.sourceInactive(table.source)
    await server.db.company(companyId, trx => releaseSlots(trx, asked))
    return { checks: 0, statements: 0, results: [] }
  }
  const checks = asked.flatMap(({ check }) => ('status' in check ? [] : [check]))
  const measured = await measure(server, table, checks, {
    ...choice,
    isScheduled: which === 'claimed' || choice.respectsBreaker === true,
  }).catch(async error => {
    if (which === 'asked' || !hasCode(error, 'UNAVAILABLE')) throw error
    // All sessions of the source are in use: the next sweep claims it again.
    await server.db.company(companyId, trx => releaseSlots(trx, asked))
    return null
  })
  if (!measured) return { checks: 0, statements: 0, results: [] }
  const results = await server.db.company(companyId, async trx => {
    // Only a scan that failed on the source, or that reached it after a failure, has news of it.
    const hasNews =
      measured.unreachable !== null || (measured.reached && table.source.connectionStatus !== 'connected')
    const standing = await lockTable(server, trx, table, { hasNews, isReplay: choice.at !== undefined })
    if (standing !== 'watched') return standing === 'gone' ? [] : null
    const recorded = await recordOutcomes(trx, { table, asked, which, at: choice.at, measured })
    const findings = recorded.map(({ feature, row, result }) => feature.describe(row, result))
    await server.plugins.scans.notifyScanned(trx, table, findings)
    if (hasNews) await server.plugins.catalog.recordConnectionStatus(trx, table.source, measured.unreachable)
    return recorded
  })
  // The table is no longer watched: run again by its current state.
  if (!results) return runScan(server, { companyId, tableId, which }, selections, choice)
  return { checks: asked.length, statements: measured.statements, results }
}

/**
 * Locks what was scanned, so that a change that stops watching it waits, and then finds the alerts that the scan raised.
 * The source comes first: one that is being removed takes its rows away, and a discovery retires tables under its lock.
 * @returns `unwatched` when the source was switched off or the table was retired while it was read
 */
async function lockTable(
  server: Server,
  trx: Transaction,
  { source, table }: TableContext,
  { hasNews, isReplay }: { hasNews: boolean; isReplay: boolean },
): Promise<'watched' | 'unwatched' | 'gone'> {
  const locked = await server.plugins.catalog.lockScannedTable(trx, { source, table }, hasNews)
  if (!locked) return 'gone'
  const isOn = locked.isSourceActive || isReplay
  return isOn && locked.isTableActive === table.isActive ? 'watched' : 'unwatched'
}

async function loadChecks(
  server: Server,
  trx: Transaction,
  tableId: string,
  selections: readonly Selection[],
): Promise<{ table: TableContext; asked: LoadedCheck[] }> {
  // Sent together: each would wait for a round trip.
  const [table, ...selected] = await Promise.all([
    server.plugins.catalog.loadTable(trx, tableId),
    ...selections.map(async selection => ({ ...selection, own: await selection.rows(trx) })),
  ])
  if (!table) throw apiError('ASSET_NOT_FOUND', 'The table is gone', { asset_id: tableId })
  const asked: LoadedCheck[] = []
  for (const { feature, own } of selected) {
    const wanted = await feature.checks(own, table, trx)
    for (const [index, row] of own.entries()) {
      const id = `${feature.name} ${String(row.$id())}`
      asked.push({ feature, row, check: resolveSpec(server, id, wanted[index]!) })
    }
  }
  return { table, asked }
}

function resolveSpec(server: Server, id: string, wanted: CheckSpec | MeasureRefusal): Check | CheckOutcome {
  if ('message' in wanted) return { id, status: 'error', durationMs: 0, ...wanted }
  const { type } = wanted
  if (typeof type !== 'string') return { ...wanted, id, type }
  if (server.checks.has(type)) return { ...wanted, id, type: server.checks.get(type) }
  // Its checks cannot be measured, and the others of the table can.
  const message = `No extension provides the check type ${type}: add it to EXTENSIONS`
  return { id, status: 'error', kind: 'unsupported', message, durationMs: 0 }
}

/** What was claimed and cannot be asked now is due again: at once, or when its source is switched on. */
async function releaseSlots(trx: Transaction, asked: readonly LoadedCheck[]): Promise<void> {
  for (const [feature, own] of byFeature(asked)) {
    await feature.model
      .query(trx)
      .findByIds(own.map(({ row }) => row.$id() as string))
      .whereNotNull('runningSlot')
      .patch({ nextRunAt: trx.raw('least(next_run_at, running_slot)'), runningSlot: null } as never)
  }
}

function byFeature(asked: readonly LoadedCheck[]): Map<CheckFeature, LoadedCheck[]> {
  return Map.groupBy(asked, ({ feature }) => feature)
}

interface ScanToRecord {
  table: TableContext
  asked: readonly LoadedCheck[]
  which: 'claimed' | 'asked'
  at: Date | undefined
  measured: Measurement
}

async function recordOutcomes(trx: Transaction, { table, asked, which, at, measured }: ScanToRecord) {
  const outcomes = new Map(measured.outcomes.map(outcome => [outcome.id, outcome]))
  // Sent together: each would wait for a round trip.
  const [takenAt] = await Promise.all([
    at ?? databaseTime(trx),
    saveScanCost(trx, table, asked.length, measured.use),
  ])
  const results: ScanRun['results'] = []
  for (const [feature, own] of byFeature(asked)) {
    const before = new Map(own.map(item => [String(item.row.$id()), item]))
    const locked = await lockChecks(trx, feature, [...before.keys()])
    const taken = locked.flatMap(row => {
      const item = before.get(String(row.$id()))
      const outcome = item && ('status' in item.check ? item.check : outcomes.get(item.check.id))
      if (!outcome || (which === 'claimed' && !isSameSlot(row, item.row))) return []
      return [{ row, outcome, ...slotOf(row, item.row, { which, isReplay: at !== undefined }) }]
    })
    if (taken.length === 0) continue
    const made = await feature.record(trx, table, taken, takenAt)
    taken.forEach(({ row, outcome }, index) => results.push({ feature, row, result: made[index], outcome }))
    await endSlots(trx, feature, taken)
  }
  return results
}

/** The due time that a row is recorded for. A replay of the past has none. */
function slotOf(
  row: ScheduledCheck,
  before: ScheduledCheck,
  { which, isReplay }: { which: 'claimed' | 'asked'; isReplay: boolean },
): TakenSlot {
  if (which === 'claimed') return { slot: row.runningSlot, isNext: false }
  return isReplay ? { slot: null, isNext: false } : takenSlot(row, before)
}

/** Ends the slots that were recorded, so that neither a job that waits nor the sweep measures for them again. */
async function endSlots(
  trx: Transaction,
  { model }: CheckFeature,
  taken: readonly (TakenSlot & { row: ScheduledCheck })[],
): Promise<void> {
  const idsOf = (some: typeof taken) => some.map(({ row }) => row.$id() as string)
  const claimed = idsOf(taken.filter(({ slot, isNext }) => slot !== null && !isNext))
  const next = idsOf(taken.filter(({ isNext }) => isNext))
  for (const [ids, patch] of [
    [claimed, { runningSlot: null }],
    [next, { runningSlot: null, nextRunAt: nextOnGrid('check_interval') }],
  ] as const)
    if (ids.length > 0)
      await model
        .query(trx)
        .findByIds(ids)
        .patch(patch as never)
}

async function databaseTime(trx: Transaction): Promise<Date> {
  const [clock] = await rows<{ now: Date }>(trx, 'select now() as now')
  if (!clock) throw new Error('The database returned no time')
  return clock.now
}
