/** Jobs of kinds whose checks are measured for many tables of a source at once, and the sweep that asks for them. */
import Joi from 'joi'
import type { PartialModelObject } from 'objection'
import type { Transaction } from '../../server/database/database.ts'
import { claimDue, dueAgain, type Due } from '../../server/database/due.ts'
import { hasCode } from '../../server/http/errors.ts'
import type { Job, JobKind } from '../../server/jobs/jobs.ts'
import { runKind, workRun } from '../../server/jobs/run-job.ts'
import type { CheckDeps } from './deps.ts'
import type { SlotRange, SourceKind } from './kind.ts'
import { CheckRow } from './models.ts'

/** One hour in which statements may start, plus the longest statement. */
export const SOURCE_JOB_SECONDS = 7_500
/** Jobs at once of a company over all processes: slow sources must not take all workers. */
export const SOURCE_JOBS_PER_COMPANY = 2
const CLAIM_ROWS = 50_000

interface SourceJobData {
  company_id: string
  source_id: string
  slots: SlotRange
}

const time = Joi.string().isoDate().required()

/** Checks of a kind that one sweep claimed in a source. Claims of another sweep belong to its own job. */
export function sourceJobKind(kind: string): JobKind<SourceJobData> {
  return runKind({
    name: `${kind}.check`,
    data: {
      source_id: Joi.string().guid().required(),
      slots: Joi.object({ from: time, to: time }).required(),
    },
    expireSeconds: SOURCE_JOB_SECONDS,
    perGroup: SOURCE_JOBS_PER_COMPANY,
  })
}

/** The job that checks what a sweep claimed in a source. */
export function makeSourceJob(
  { db }: Pick<CheckDeps, 'db'>,
  kind: Pick<SourceKind, 'name' | 'checkSource'>,
): Job {
  const job = workRun(sourceJobKind(kind.name), {
    async work({ company_id: companyId, source_id: sourceId, slots: claimed }, { signal }) {
      try {
        return await kind.checkSource({ companyId, sourceId, claimed, signal })
      } catch (error) {
        // All sessions of the source are in use, or it was paused after the sweep.
        if (!hasCode(error, 'UNAVAILABLE') && !hasCode(error, 'CONFLICT')) throw error
        await db.company(companyId, trx => endSlots(trx, kind.name, { sourceId, claimed }, dueAgain()))
        return {}
      }
    },
    fail: (trx, { source_id: sourceId, slots: claimed }) =>
      endSlots(trx, kind.name, { sourceId, claimed }, { runningSlot: null }),
  })
  return job as Job
}

/** Changes the checks of a source that one sweep claimed and that have no result yet. */
async function endSlots(
  trx: Transaction,
  kind: string,
  { sourceId, claimed: { from, to } }: { sourceId: string; claimed: SlotRange },
  columns: PartialModelObject<CheckRow>,
): Promise<void> {
  await CheckRow.query(trx).where({ kind, sourceId }).whereBetween('runningSlot', [from, to]).patch(columns)
}

/**
 * Claims what is due of each kind and sends one job a source, which reads its tables together. A check whose job waits or
 * runs is not claimed again, unless that was lost.
 */
export async function dispatchSources({
  db,
  jobs,
  sourceKinds,
}: Pick<CheckDeps, 'db' | 'jobs' | 'sourceKinds'>) {
  let sources = 0
  for (const kind of sourceKinds.keys())
    sources += await db.system(async trx => {
      const due = await claimDue(
        trx,
        'checks',
        { interval: 'check_interval', source: 'source_id' },
        { limit: CLAIM_ROWS, patience: SOURCE_JOB_SECONDS, kinds: [kind] },
      )
      const items = [...Map.groupBy(due, ({ sourceId }) => sourceId)].map(([sourceId, claimed]) => {
        const { companyId } = claimed[0]!
        const data = { company_id: companyId, source_id: sourceId, slots: slotsOf(claimed) }
        return { data, group: companyId }
      })
      await jobs.sendAll(sourceJobKind(kind), items, { trx })
      return items.length
    })
  return { sources }
}

/** The range of due times; 1 ms is added to the end because a Date drops microseconds. */
function slotsOf(claimed: readonly Due[]): SlotRange {
  const times = claimed.map(({ slot }) => slot.getTime()).toSorted((one, other) => one - other)
  return { from: new Date(times[0]!).toISOString(), to: new Date(times.at(-1)! + 1).toISOString() }
}
