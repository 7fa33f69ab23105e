import Joi from 'joi'
import { CHECK_ERROR_KINDS, ConnectorError } from '../../../connectors/errors.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { putOffIfBusy, SESSION_WAIT_MS, type Job } from '../../../server/jobs/jobs.ts'
import { runJob } from '../../../server/jobs/run-job.ts'
import { applyPolicy, failRun } from './batches.ts'
import type { WatchedTable } from './tables.ts'
import { depsOf, type RecommendationsDeps } from '../deps.ts'

interface PolicyJobData {
  company_id: string
  source_id: string
}

/** Seconds until a source is looked at again that was busy: each time, its policy is applied anew. */
const BUSY_SECONDS = 30

/**
 * Applies the policy of a source to what was discovered, changed and profiled since, and profiles tables that never were, or that
 * have doubled since.
 * What a process that crashes has applied is not applied again. One of a source waits or runs.
 */
export const applyJob = runJob<PolicyJobData>({
  name: 'watch.apply',
  data: { source_id: Joi.string().guid().required() },
  expireSeconds: 14_400,
  async work({ company_id: companyId, source_id: sourceId }, { server, signal }) {
    const deps = depsOf(server)
    const apply = () => applyPolicy(deps, companyId, sourceId, signal)
    const applied = await apply()
    if (!applied) return { status: 'no policy' }
    const { policy, looked, created } = applied
    if (policy.level === 'light') return { looked, created }
    const profiled = await profileGrownTables(deps, companyId, sourceId, applied.matched, signal)
    const again = profiled > 0 ? await apply() : null
    return { looked: looked + (again?.looked ?? 0), profiled, created: created + (again?.created ?? 0) }
  },
  fail: (trx, { source_id: sourceId }, error, { server }) => failRun(depsOf(server), trx, sourceId, error),
  isFinal: () => false,
})

/** Sends a job that applies the policy of a source, unless one waits or runs. */
export async function sendApply(
  { jobs }: RecommendationsDeps,
  trx: Transaction,
  { companyId, sourceId }: { companyId: string; sourceId: string },
): Promise<void> {
  await jobs.send(
    applyJob,
    { company_id: companyId, source_id: sourceId },
    { trx, group: sourceId, key: sourceId },
  )
}

/**
 * Profiles tables that never were, or were young, one after the other. A table that cannot be profiled waits for the next
 * discovery.
 */
async function profileGrownTables(
  deps: RecommendationsDeps,
  companyId: string,
  sourceId: string,
  tables: readonly WatchedTable[],
  signal: AbortSignal,
): Promise<number> {
  const { profiles } = deps
  const missing = await deps.db.company(companyId, trx => findGrown(trx, tables))
  let profiled = 0
  for (const tableId of missing) {
    try {
      const result = await profiles.profileAsset(
        { companyId, sourceId, tableId },
        { signal, slotWaitMs: SESSION_WAIT_MS },
      )
      profiled += result?.profiled ?? 0
    } catch (error) {
      signal.throwIfAborted()
      // The next try profiles the tables that are left.
      putOffIfBusy(error, BUSY_SECONDS)
      // A source that is switched off has none of its tables profiled now.
      if (hasCode(error, 'CONFLICT')) return profiled
      if (!hasCode(error, 'ASSET_NOT_FOUND') && !isOfTable(error)) throw error
    }
  }
  return profiled
}

/** Whether the next table may succeed: an error of unknown kind, as of a damaged table, ends no run of the others. */
function isOfTable(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'other' || CHECK_ERROR_KINDS.has(error.kind))
}

/** Rows above which a profile says of a table what one of twice as many would. */
const MAX_YOUNG_ROWS = 10_000

/** Tables without a profile, and those of few rows that have, as the last discovery estimates, twice as many now. */
async function findGrown(trx: Transaction, tables: readonly WatchedTable[]): Promise<string[]> {
  const grown = await rows<{ id: string }>(
    trx,
    `select t.id from tables t where t.company_id = :companyId and t.id = any(cast(:ids as uuid[])) and t.is_active
       and not exists (select from profiles p where p.company_id = t.company_id and p.table_id = t.id
         and (p.row_count >= :most or t.estimated_rows is null or t.estimated_rows < 2 * p.row_count))
     order by t.qualified_name`,
    { companyId: companyOf(trx), ids: tables.map(table => table.id), most: MAX_YOUNG_ROWS },
  )
  return grown.map(table => table.id)
}

/** The longest time between that of a profile and the end of the transaction that stores it. */
const PROFILE_SLACK = '10 seconds'

/** A job that was sent and did not begin for this long is taken for lost. */
const REQUEST_PATIENCE = '15 minutes'

const CLAIM_DUE_POLICIES = `
  update watch_policies w set requested_at = now() from sources s
  where s.company_id = w.company_id and s.id = w.source_id and s.is_active and s.last_discovery_at is not null
    and (w.requested_at is null or w.requested_at < now() - interval '${REQUEST_PATIENCE}')
    and (w.applied_at is null or s.last_discovery_at > w.applied_at
      or exists (select from profiles p where p.company_id = w.company_id and p.source_id = w.source_id
        and p.profiled_at > w.applied_at - interval '${PROFILE_SLACK}'))
  returning w.company_id, w.source_id`

/** Finds policies that were not applied since the last discovery or profile of their source. */
export const dispatchPolicies: Job = {
  name: 'watch.dispatch',
  data: Joi.object({}),
  every: '* * * * *',
  async work(_data, { server }) {
    const deps = depsOf(server)
    return deps.db.system(async trx => {
      const due = await rows<{ companyId: string; sourceId: string }>(trx, CLAIM_DUE_POLICIES)
      for (const policy of due) await sendApply(deps, trx, policy)
      return { sources: due.length }
    })
  },
}
