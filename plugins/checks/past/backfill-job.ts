/** The past of checks that were made in bulk: computed after they are made, table by table, by one grouped statement each. */
import Joi from 'joi'
import type { Transaction } from '../../../server/database/database.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { putOffIfBusy, SESSION_WAIT_MS, type Job, type JobKind } from '../../../server/jobs/jobs.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { CheckDeps } from '../deps.ts'
import type { CheckKind } from '../kind.ts'
import { lockCheck } from '../locks.ts'
import { CheckRow, queryChecks } from '../models.ts'
import { storePast } from '../store.ts'
import { computePasts, type PastCheck } from './computed.ts'
import { relearn } from './states.ts'

interface BackfillData {
  company_id: string
  source_id: string
}

const id = Joi.string().guid().required()

/** Computes the past of the checks of a source that wait for theirs. One of a source waits or runs. */
export const backfillJob: JobKind<BackfillData> = {
  name: 'checks.backfill',
  data: Joi.object({ company_id: id, source_id: id }),
  queue: { retries: 3, expireSeconds: 14_400 },
  concurrency: { isShared: true, local: 4, perGroup: 1 },
}

export const makeBackfillJob = (deps: CheckDeps): Job<BackfillData> => ({
  ...backfillJob,
  async work({ company_id: companyId, source_id: sourceId }, { signal }) {
    const tables = await deps.db.company(companyId, trx => findWaitingTables(trx, sourceId))
    let [checks, points] = [0, 0]
    for (const tableId of tables) {
      signal.throwIfAborted()
      try {
        const done = await backfillTable(deps, companyId, tableId, signal)
        checks += done.checks
        points += done.points
      } catch (error) {
        // What was stored stays; the next try goes on with the tables that are left.
        putOffIfBusy(error)
        // A source that is switched off: the next backfill of it has them, too.
        if (hasCode(error, 'CONFLICT')) break
        throw error
      }
    }
    return { tables: tables.length, checks, points }
  },
})

/** Sends a job that computes the past of checks of a source that wait for it. */
export async function sendBackfill(
  { jobs }: Pick<CheckDeps, 'jobs'>,
  trx: Transaction,
  { companyId, id: sourceId }: { companyId: string; id: string },
): Promise<void> {
  const data = { company_id: companyId, source_id: sourceId }
  await jobs.send(backfillJob, data, { trx, group: sourceId, key: sourceId })
}

async function findWaitingTables(trx: Transaction, sourceId: string): Promise<string[]> {
  const found = await CheckRow.query(trx)
    .distinct('tableId')
    .where({ sourceId })
    .whereNotNull('backfillDays')
    .orderBy('tableId')
  return found.map(({ tableId }) => tableId)
}

/** A check that waits for its past. */
interface WaitingCheck extends PastCheck {
  kind: CheckKind
  row: CheckRow
}

async function backfillTable(
  deps: CheckDeps,
  companyId: string,
  tableId: string,
  signal: AbortSignal,
): Promise<{ checks: number; points: number }> {
  const { db } = deps
  const { table, waiting } = await db.company(companyId, trx => loadWaiting(deps, trx, tableId))
  if (!table || waiting.length === 0) return { checks: 0, points: 0 }
  let points = 0
  const byRange = Map.groupBy(waiting, ({ row }) => `${row.backfillDays} ${intervalOf(row)}`)
  for (const some of byRange.values()) {
    const { row } = some[0]!
    const range = { days: row.backfillDays!, interval: intervalOf(row) }
    const pasts = await computePasts(deps, table, some, range, { signal, slotWaitMs: SESSION_WAIT_MS })
    await db.company(companyId, async trx => {
      for (const [place, check] of some.entries()) {
        const past = pasts[place]!
        // One that could not be read now waits for the next backfill of the source.
        if ('points' in past) points += await storeOne(trx, check, past.points)
        else if (past.isFinal) await storeOne(trx, check, [])
      }
    })
  }
  return { checks: waiting.length, points }
}

const intervalOf = ({ checkInterval }: CheckRow & { checkInterval?: 'hourly' | 'daily' | 'weekly' }) =>
  checkInterval ?? 'daily'

async function loadWaiting(
  { catalog, kinds, types }: CheckDeps,
  trx: Transaction,
  tableId: string,
): Promise<{ table: TableContext | undefined; waiting: WaitingCheck[] }> {
  const table = await catalog.loadTable(trx, tableId)
  const waiting: WaitingCheck[] = []
  if (!table) return { table, waiting }
  for (const kind of kinds.values()) {
    const rows = await queryChecks(kind.model, trx)
      .where({ tableId })
      .whereNotNull('backfillDays')
      .orderBy('checks.id')
    const wanted = rows.length === 0 ? [] : await kind.specs(rows, table, trx)
    for (const [place, row] of rows.entries()) {
      const spec = wanted[place]!
      if (!('type' in spec)) continue
      const type = typeof spec.type === 'string' ? types.get(spec.type) : spec.type
      const check = { ...spec, type, ...(row.filter !== null && { filter: row.filter }) }
      waiting.push({ kind, row, check, window: row })
    }
  }
  return { table, waiting }
}

/** Stores a past, unless the check is gone or has it. What was measured meanwhile is learned after it. @returns its points */
async function storeOne(
  trx: Transaction,
  { kind, row }: WaitingCheck,
  points: Parameters<typeof storePast>[3]['points'],
): Promise<number> {
  const locked = await lockCheck(trx, kind.model, { id: row.id })
  if (!locked || locked.backfillDays === null) return 0
  await queryChecks(kind.model, trx).findById(row.id).patch({ backfillDays: null })
  if (points.length === 0) return 0
  await storePast(trx, kind, locked, { points })
  if (locked.lastCheckedAt !== null) await relearn(trx, [locked])
  return points.length
}
