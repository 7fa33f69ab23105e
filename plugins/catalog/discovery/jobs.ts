import Joi from 'joi'
import { v7 } from 'uuid'
import { claimDue } from '../../../server/database/due.ts'
import {
  putOffIfBusy,
  SESSION_WAIT_MS,
  type Job,
  type JobKind,
  type Jobs,
} from '../../../server/jobs/jobs.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import type { CatalogDeps } from '../deps.ts'
import { TAKE_PROBE } from '../sources/breaker.ts'
import { abandonDiscovery, runDiscovery } from './discovery.ts'
import { Run, Source } from '../models.ts'
import { lockSourceIfFree } from '../locks.ts'

const RETRIES = 3

/** One discovery that was asked for. */
export const discoverJob: JobKind<{ company_id: string; run_id: string }> = {
  name: 'catalog.discover',
  data: Joi.object({ company_id: Joi.string().guid().required(), run_id: Joi.string().guid().required() }),
  queue: { expireSeconds: 3_600, retries: RETRIES },
  concurrency: { isShared: true, local: 4, perGroup: 2 },
}

/** The jobs that discover sources. */
export function discoveryJobs(deps: CatalogDeps): Job[] {
  const discover: Job<{ company_id: string; run_id: string }> = {
    ...discoverJob,
    async work({ company_id: companyId, run_id: runId }, { attempt, signal }) {
      try {
        return await summarizeRun(
          runDiscovery(deps, companyId, runId, { signal, slotWaitMs: SESSION_WAIT_MS }),
        )
      } catch (error) {
        putOffIfBusy(error)
        if (attempt > RETRIES) await abandonDiscovery(deps.db, companyId, runId)
        throw error
      }
    },
  }
  const dispatch: Job = {
    name: 'catalog.dispatch',
    data: Joi.object({}),
    every: '* * * * *',
    work: () => dispatchDiscoveries(deps),
  }
  return [discover, dispatch]
}

/** Asks for a discovery; while one waits or runs, that one is the answer. */
export async function requestDiscovery(jobs: Jobs, trx: Transaction, source: Source): Promise<Run> {
  const id = v7()
  const made = await rows(
    trx,
    `insert into runs (id, company_id, workflow_name, source_id, asset_id)
     values (:id, :companyId, 'discovery', :sourceId, :sourceId)
     on conflict do nothing returning id`,
    { id, companyId: source.companyId, sourceId: source.id },
  )
  if (made.length > 0) {
    await Source.query(trx).findById(source.id).patch({ discoveryState: 'queued', retryAt: null })
    const data = { company_id: source.companyId, run_id: id }
    await jobs.send(discoverJob, data, { trx, group: source.companyId })
  }
  const [run] = await Run.query(trx)
    .where({ sourceId: source.id, workflowName: 'discovery' })
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
  if (!run) throw new Error('A discovery was asked for and is not stored')
  return run
}

/**
 * Asks for the discoveries that are due. What was claimed stays marked until it is asked for, so that a crash in
 * between loses none; so does what is due while its source is left alone.
 */
export async function dispatchDiscoveries({
  db,
  jobs,
}: Pick<CatalogDeps, 'db' | 'jobs'>): Promise<{ requested: number }> {
  const due = await db.system(async trx => {
    await claimDue(trx, 'sources', { interval: 'discovery_interval', source: 'id' })
    await claimRetries(trx)
    await failLostRuns(trx)
    return rows<{ id: string; companyId: string }>(
      trx,
      `select id, company_id from sources where running_slot is not null
         and (dial_after is null or greatest(dial_after, trial_until) <= now())`,
    )
  })
  for (const { id, companyId } of due) {
    await db.company(companyId, async trx => {
      // One whose discovery is being recorded waits for the next sweep, and makes no other wait.
      const source = await lockSourceIfFree(trx, id)
      if (!source?.runningSlot) return
      if (source.dialAfter && (await rows(trx, TAKE_PROBE, { companyId, sourceId: id })).length === 0) return
      await requestDiscovery(jobs, trx, source)
      await Source.query(trx).findById(id).patch({ runningSlot: null })
    })
  }
  return { requested: due.length }
}

/** What an operator sees of a discovery in its queue; which tables could not be read is with the run. */
async function summarizeRun(discovering: ReturnType<typeof runDiscovery>) {
  const discovered = await discovering
  if (!discovered) return { status: 'not completed' }
  const { unread: _unread, ...counts } = discovered
  return { status: 'completed', ...counts }
}

/** Discoveries that failed and whose time to be tried again has come. */
async function claimRetries(trx: Transaction): Promise<void> {
  await trx.raw(
    `update sources set running_slot = coalesce(running_slot, retry_at), retry_at = null
     where id in (select id from sources where is_active and retry_at <= now() for no key update skip locked)`,
  )
}

/** Fails runs whose job crashed with its process each time: an unfinished run blocks all later discoveries of its source. */
async function failLostRuns(trx: Transaction): Promise<void> {
  await trx.raw(
    `with lost as (
       select r.id, s.id as source_id from runs r join sources s on s.id = r.source_id
       where r.status in ('pending', 'running') and r.created_at < now() - interval '5 hours'
       for no key update of s skip locked),
     marked as (
       update sources set discovery_state = 'failed'
       where discovery_state in ('queued', 'running') and id in (
         select l.source_id from lost l join runs r using (id) where r.workflow_name = 'discovery'))
     update runs set status = 'failed', completed_at = now(),
       error = '{"code": "other", "message": "The job was lost; start it again"}'
     where id in (select id from lost) and status in ('pending', 'running')`,
  )
}
