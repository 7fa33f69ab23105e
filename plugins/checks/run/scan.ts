import type { Check, CheckOutcome, CheckWindow } from '../../../checks/check.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { dueAgain, isSameSlot, nextOnGrid, takenSlot, type TakenSlot } from '../../../server/database/due.ts'
import { apiError, hasCode } from '../../../server/http/errors.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { PartsUse } from '../../../checks/scan-parts.ts'
import { loadKnownParts, saveParts } from '../parts/known-parts.ts'
import type { ScanRunOptions } from '../types.ts'
import { saveScanCost } from '../costs/costs.ts'
import type { CheckDeps } from '../deps.ts'
import { publicIdOf, type CheckKind, type OwnMeasurement, type WantedMeasure } from '../kind.ts'
import { lockChecks } from '../locks.ts'
import { CheckRow, withoutValues, type CheckResult } from '../models.ts'
import { gridOfTable } from './grid.ts'
import { isTableLeased } from './leases.ts'
import { measure, type Measurement } from './measure.ts'
import { hasBuckets, recordBuckets } from '../windows/record-buckets.ts'
import { dueWindow, windowPlace, type WindowPlace } from '../windows/windows.ts'
import { recordChecks, type MeasuredRow } from './record.ts'
import { findSuspects } from './suspects.ts'

/** The checks that one scan takes. */
export type Selection = (trx: Transaction) => PromiseLike<CheckRow[]>

/** A check that measures itself. */
interface OwnCheck extends OwnMeasurement {
  id: string
  window?: CheckWindow
}

/** A row of a selection, with its check or why it has none. */
interface LoadedCheck {
  kind: CheckKind
  row: CheckRow
  check: Check | OwnCheck | CheckOutcome
}

/** What was made of a check. */
export interface ScannedCheck {
  kind: CheckKind
  row: CheckRow
  /** One a series. */
  results: CheckResult[]
  outcome: CheckOutcome
}

/** What a scan of one table took. */
export interface ScanRun {
  /** Checks that were asked for. */
  asked: number
  /** Statements sent to the source. */
  statements: number
  /** Parts of the table that were read and known; null where it was read whole. */
  parts: PartsUse | null
  /** Those that are gone or were recorded by another process are missing. */
  checks: ScannedCheck[]
}

const NOTHING: ScanRun = { asked: 0, statements: 0, parts: null, checks: [] }

/** What is scanned, and for whom. */
interface ScanTarget {
  companyId: string
  tableId: string
  /**
   * `claimed` rows are recorded for their slot, and only while it is still theirs; `asked` ones for the slot that was open
   * when the scan began, if any, which is then measured.
   */
  which: 'claimed' | 'asked'
}

/**
 * Loads the checks of a table, measures them in one scan, and records the outcomes of all kinds in one transaction; then,
 * one by one, those that measure themselves. No transaction is open while a source is being read. A source that cannot be
 * reached makes every check an `error` with the reason.
 */
export async function runScan(
  deps: CheckDeps,
  target: ScanTarget,
  selection: Selection,
  choice: ScanRunOptions = {},
): Promise<ScanRun> {
  const { db, catalog } = deps
  const { companyId, tableId, which } = target
  const now = choice.at ?? new Date()
  const { table, asked, checks, known, isLeased } = await db.company(companyId, async trx => {
    const context = await loadChecks(deps, trx, { tableId, selection, now })
    const measurable = context.asked.flatMap(({ check }) => ('type' in check ? [check] : []))
    const knownParts = await loadKnownParts(deps, trx, context.table, { checks: measurable, now: new Date() })
    const loaded = { ...context, checks: measurable, known: knownParts }
    return { ...loaded, isLeased: which === 'claimed' && (await isTableLeased(trx, tableId)) }
  })
  const release = () => db.company(companyId, trx => releaseSlots(trx, asked))
  if (isLeased) {
    // The manual check records them; what it does not, the sweep after it claims.
    await release()
    return NOTHING
  }
  // A replay of the past switches the source off, so that no sweep interferes.
  if (!table.source.isActive && !choice.at) {
    if (which === 'asked') throw catalog.sourceInactive(table.source)
    await release()
    return NOTHING
  }
  const own = asked.flatMap(({ check, ...item }) => ('measure' in check ? [{ ...item, check }] : []))
  const shared = asked.filter(({ check }) => !('measure' in check))
  const options = { ...choice, isScheduled: which === 'claimed' || choice.respectsBreaker === true }
  const steps: MeasureStep[] = own.map(item => ({
    asked: [item],
    run: () => measureAlone(item.check, options),
  }))
  if (shared.length > 0)
    steps.unshift({ asked: shared, run: () => measure(deps, table, checks, { ...options, known }) })
  const run: ScanRun = { asked: asked.length, statements: 0, parts: null, checks: [] }
  for (const step of steps) {
    const measured = await step.run().catch(async error => {
      if (which === 'asked' || !hasCode(error, 'UNAVAILABLE')) throw error
      // All sessions of a source are in use: the next sweep claims it again.
      await db.company(companyId, trx => releaseSlots(trx, step.asked))
      return null
    })
    if (!measured) continue
    const recorded = await db.company(companyId, trx =>
      recordScan(deps, trx, { table, asked: step.asked, which, at: choice.at, measured }),
    )
    // The table is no longer watched: run again by its current state.
    if (!recorded) return runScan(deps, target, selection, choice)
    run.statements += measured.statements
    run.parts = measured.parts?.use ?? run.parts
    run.checks.push(...recorded)
  }
  return run
}

/** Checks that are measured and recorded together. */
interface MeasureStep {
  asked: LoadedCheck[]
  run(): Promise<Measurement>
}

async function measureAlone(
  { id, measure: measureIt, window }: OwnCheck,
  { signal, isScheduled, sampleLimit = 0, slotWaitMs }: ScanRunOptions & { isScheduled: boolean },
): Promise<Measurement> {
  const { outcome, statements } = await measureIt({ signal, isScheduled, sampleLimit, slotWaitMs, window })
  // What its sessions used stands with their sources, and whether these are there is for the shared scan to say.
  return {
    outcomes: [{ id, ...outcome }],
    statements,
    reached: false,
    unreachable: null,
    use: null,
    parts: null,
  }
}

interface ScanToRecord {
  table: TableContext
  asked: readonly LoadedCheck[]
  which: 'claimed' | 'asked'
  at: Date | undefined
  measured: Measurement
}

/** @returns null when the source was switched off or the table was retired while it was read */
async function recordScan(
  deps: CheckDeps,
  trx: Transaction,
  scan: ScanToRecord,
): Promise<ScannedCheck[] | null> {
  const { catalog, listeners } = deps
  const { table, measured, at } = scan
  // Only a scan that failed on the source, or that reached it after a failure, has news of it.
  const hasNews =
    measured.unreachable !== null || (measured.reached && table.source.connectionStatus !== 'connected')
  // So that a change that stops watching it waits, and then finds the alerts that the scan raised. The source comes first:
  // one that is being removed takes its rows away, and a discovery retires tables under its lock.
  const locked = await catalog.lockScannedTable(trx, table, hasNews)
  if (!locked) return []
  const isOn = locked.isSourceActive || at !== undefined
  if (!isOn || locked.isTableActive !== table.table.isActive) return null
  const recorded = await recordOutcomes(deps, trx, scan)
  const findings = recorded.map(({ kind, row, results, outcome }) => ({
    id: publicIdOf(kind, row),
    ...kind.describe(row, results, outcome),
  }))
  for (const listener of listeners) await listener(trx, table, findings)
  if (hasNews) await catalog.recordConnectionStatus(trx, table.source, measured.unreachable)
  return recorded
}

async function loadChecks(
  { catalog, kinds, types, timezone }: Pick<CheckDeps, 'catalog' | 'kinds' | 'types' | 'timezone'>,
  trx: Transaction,
  { tableId, selection, now }: { tableId: string; selection: Selection; now: Date },
): Promise<{ table: TableContext; asked: LoadedCheck[] }> {
  // Sent together: each would wait for a round trip.
  const [table, selected] = await Promise.all([catalog.loadTable(trx, tableId), selection(trx)])
  if (!table) throw apiError('ASSET_NOT_FOUND', 'The table is gone', { asset_id: tableId })
  const byKind = Map.groupBy(selected, row => row.kind)
  const asked: LoadedCheck[] = []
  const place = windowPlace(catalog, table, { timezone, now })
  const suspects = await findSuspects({ types }, trx, selected)
  for (const kind of kinds.values()) {
    const own = (byKind.get(kind.name) ?? []).map(row =>
      Object.assign(row, { ...withoutValues(kind.model), ...row }),
    )
    if (own.length === 0) continue
    const wanted = await kind.specs(own, table, trx)
    for (const [index, row] of own.entries())
      asked.push({ kind, row, check: suspected(resolveSpec(types, row, wanted[index]!, place), suspects) })
  }
  return { table, asked }
}

function suspected(check: LoadedCheck['check'], suspects: ReadonlySet<string>): LoadedCheck['check'] {
  return 'type' in check && suspects.has(check.id) ? { ...check, isSuspect: true } : check
}

function resolveSpec(
  types: CheckDeps['types'],
  row: CheckRow,
  wanted: WantedMeasure,
  place: WindowPlace | null,
): LoadedCheck['check'] {
  const { id, filter } = row
  if ('message' in wanted) return { id, status: 'error', durationMs: 0, ...wanted }
  const window = place ? dueWindow(row, place) : undefined
  if ('measure' in wanted)
    return { id, measure: options => wanted.measure(options), ...(window && { window }) }
  const { type } = wanted
  const spec = { ...wanted, id, ...(filter !== null && { filter }), ...(window && { window }) }
  if (typeof type !== 'string') return { ...spec, type }
  if (types.has(type)) return { ...spec, type: types.get(type) }
  // Its checks cannot be measured, and the others of the table can.
  const message = `No extension provides the check type ${type}: add it to EXTENSIONS`
  return { id, status: 'error', kind: 'unsupported', message, durationMs: 0 }
}

/** What was claimed and cannot be asked now is due again: at once, or when its source is switched on. */
async function releaseSlots(trx: Transaction, asked: readonly LoadedCheck[]): Promise<void> {
  await CheckRow.query(trx)
    .findByIds(asked.map(({ row }) => row.id))
    .whereNotNull('runningSlot')
    .patch(dueAgain())
}

async function recordOutcomes(
  deps: CheckDeps,
  trx: Transaction,
  { table, asked, which, at, measured }: ScanToRecord,
): Promise<ScannedCheck[]> {
  const outcomes = new Map(measured.outcomes.map(outcome => [outcome.id, outcome]))
  // Sent together: each would wait for a round trip.
  const [takenAt] = await Promise.all([
    at ?? databaseTime(trx),
    saveScanCost(trx, table, { checks: asked.length, use: measured.use, parts: measured.parts?.use }),
  ])
  if (measured.parts) await saveParts(deps, trx, table, measured.parts)
  const scanned: ScannedCheck[] = []
  for (const [kind, own] of Map.groupBy(asked, item => item.kind)) {
    const before = new Map(own.map(item => [item.row.id, item]))
    const locked = await lockChecks(trx, kind.model, [...before.keys()])
    const taken = locked.flatMap(row => {
      const item = before.get(row.id)
      const outcome = item && ('status' in item.check ? item.check : outcomes.get(item.check.id))
      if (!outcome || (which === 'claimed' && !isSameSlot(row, item.row))) return []
      return [{ row, outcome, ...slotOf(row, item.row, { which, isReplay: at !== undefined }) }]
    })
    if (taken.length === 0) continue
    scanned.push(...(await recordTaken(deps, trx, kind, { table, taken, takenAt })))
    await endSlots(trx, taken)
  }
  return scanned
}

/** Records checks of one kind, those with a window bucket by bucket; of these, what was made of the newest is returned. */
async function recordTaken(
  deps: CheckDeps,
  trx: Transaction,
  kind: CheckKind,
  { table, taken, takenAt }: { table: TableContext; taken: readonly MeasuredRow[]; takenAt: Date },
): Promise<ScannedCheck[]> {
  const windowed = taken.filter(hasBuckets)
  const whole = taken.filter(item => !hasBuckets(item))
  const results =
    whole.length === 0
      ? []
      : await recordChecks(deps, trx, kind, { table, measured: whole, at: takenAt, takenAt })
  const ofBuckets =
    windowed.length === 0 ? [] : await recordBuckets(deps, trx, kind, { table, measured: windowed, takenAt })
  return [
    ...whole.map(({ row, outcome }, place) => ({ kind, row, results: results[place]!, outcome })),
    ...windowed.map(({ row }, place) => ({ kind, row, ...ofBuckets[place]! })),
  ]
}

/** The due time that a row is recorded for. A replay of the past has none. */
function slotOf(
  row: CheckRow,
  before: CheckRow,
  { which, isReplay }: { which: 'claimed' | 'asked'; isReplay: boolean },
): TakenSlot {
  if (which === 'claimed') return { slot: row.runningSlot, isNext: false }
  return isReplay ? { slot: null, isNext: false } : takenSlot(row, before)
}

/** Ends the slots that were recorded, so that neither a job that waits nor the sweep measures for them again. */
async function endSlots(trx: Transaction, taken: readonly (TakenSlot & { row: CheckRow })[]): Promise<void> {
  const claimed = taken.filter(({ slot, isNext }) => slot !== null && !isNext)
  const next = taken.filter(({ isNext }) => isNext)
  const end = (some: typeof taken, columns: object) =>
    CheckRow.query(trx)
      .findByIds(some.map(({ row }) => row.id))
      .patch({ runningSlot: null, ...columns })
  if (claimed.length > 0) await end(claimed, {})
  const first = next.filter(({ row }) => row.lastCheckedAt === null)
  const later = next.filter(({ row }) => row.lastCheckedAt !== null)
  const gridOf = gridOfTable('checks')
  if (first.length > 0) await end(first, { nextRunAt: nextOnGrid('check_interval', gridOf) })
  if (later.length > 0) await end(later, { nextRunAt: nextOnGrid('check_interval') })
}

async function databaseTime(trx: Transaction): Promise<Date> {
  const [clock] = await rows<{ now: Date }>(trx, 'select now() as now')
  if (!clock) throw new Error('The database returned no time')
  return clock.now
}
