/** A policy is applied to some tables a transaction, so that a crash loses one batch and the source is locked for seconds. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { audit } from '../../../server/http/audit.ts'
import { hasCode } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import { countCreated, sumApplied, type AppliedRecommendations } from '../applied.ts'
import { presentBackfill } from '../backfill.ts'
import { WatchPolicy } from '../models.ts'
import { presentOutcome } from './outcome.ts'
import { applyTerms, termsOf } from './policy.ts'
import { matchingTables, type WatchedTable } from './tables.ts'
import type { RecommendationsDeps } from '../deps.ts'

/** Tables of one transaction, and the most that a request watches itself. */
export const TABLES_PER_BATCH = 500

/** The tables that a policy is to look at, and those that it watches. */
interface DueTables {
  /** The database's time before they were read. */
  at: Date
  due: readonly WatchedTable[]
  matched: readonly WatchedTable[]
}

/**
 * Finds the tables that were discovered, changed or profiled since a policy was applied to them, in the order of names.
 * Times and ids are compared for equality: what commits late has an early time.
 * @param among defaults to all of the source
 */
async function findDue(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  policy: WatchPolicy,
  among?: readonly WatchedTable[],
): Promise<DueTables> {
  const matched = among ?? (await matchingTables(deps, trx, source, termsOf(policy)))
  const changed = await rows<{ id: string; at: Date }>(
    trx,
    `select t.id from tables t
     join watch_policies o on o.company_id = :companyId and o.source_id = :sourceId
     left join watched_tables w on w.company_id = :companyId and w.table_id = t.id
     left join lateral (
       select id from profiles p where p.company_id = :companyId and p.table_id = t.id
       order by profiled_at desc, id desc limit 1) p on true
     where t.company_id = :companyId and t.source_id = :sourceId and t.is_active
       ${among ? 'and t.id = any(cast(:ids as uuid[]))' : ''}
       and (w.table_id is null or w.policy_at <> o.updated_at or w.table_at <> t.updated_at
         or w.profile_id is distinct from p.id)`,
    { companyId: companyOf(trx), sourceId: source.id, ids: (among ?? []).map(({ id }) => id) },
  )
  const [now] = await rows<{ at: Date }>(trx, 'select now() as at')
  const due = new Set(changed.map(({ id }) => id))
  return { at: now!.at, due: matched.filter(({ id }) => due.has(id)), matched }
}

/** Notes what a policy sees of tables. Before it is applied: what changes meanwhile is looked at again. */
export async function markWatched(
  trx: Transaction,
  source: Source,
  tables: readonly WatchedTable[],
): Promise<void> {
  await trx.raw(
    `insert into watched_tables (table_id, company_id, source_id, policy_at, table_at, profile_id)
     select t.id, t.company_id, t.source_id, o.updated_at, t.updated_at, (
       select id from profiles p where p.company_id = t.company_id and p.table_id = t.id
       order by profiled_at desc, id desc limit 1)
     from tables t join watch_policies o on o.company_id = t.company_id and o.source_id = t.source_id
     where t.company_id = :companyId and t.source_id = :sourceId and t.id = any(cast(:ids as uuid[])) order by t.id
     on conflict (table_id) do update
       set policy_at = excluded.policy_at, table_at = excluded.table_at, profile_id = excluded.profile_id`,
    { companyId: companyOf(trx), sourceId: source.id, ids: tables.map(({ id }) => id) },
  )
}

/** What became of a policy that was applied to all tables that were due. */
export interface PolicyResult {
  policy: WatchPolicy
  matched: readonly WatchedTable[]
  /** Tables that it looked at. */
  looked: number
  created: number
}

/**
 * Applies the stored policy of a source to the tables that are due, batch after batch, until none is. A policy that is
 * replaced meanwhile is the one that is applied from then on.
 * @returns null without one, or when its source is gone or was not discovered, or when the job that a client follows was
 *   cancelled
 */
export async function applyPolicy(
  deps: RecommendationsDeps,
  companyId: string,
  sourceId: string,
  signal: AbortSignal,
): Promise<PolicyResult | null> {
  let [looked, created] = [0, 0]
  for (;;) {
    const state = await deps.db.company(companyId, async trx => {
      const watched = await loadPolicy(deps, trx, sourceId, false)
      return watched && { ...watched, ...(await findDue(deps, trx, watched.source, watched.policy)) }
    })
    if (!state) return null
    if (state.due.length === 0) {
      const isDone = await deps.db.company(companyId, trx => finishPolicy(deps, trx, sourceId, state.at))
      return isDone ? { policy: state.policy, matched: state.matched, looked, created } : null
    }
    for (let from = 0; from < state.due.length; from += TABLES_PER_BATCH) {
      signal.throwIfAborted()
      const some = state.due.slice(from, from + TABLES_PER_BATCH)
      const percent = Math.floor((100 * from) / state.due.length)
      const made = await deps.db.company(companyId, trx => applyBatch(deps, trx, sourceId, some, percent))
      if (!made) return null
      looked += some.length
      created += made.created
    }
  }
}

/** A policy with its source. @returns null when either is gone, or the source was not discovered yet */
async function loadPolicy(
  { catalog }: RecommendationsDeps,
  trx: Transaction,
  sourceId: string,
  isLocked: boolean,
): Promise<{ source: Source; policy: WatchPolicy } | null> {
  try {
    const source = isLocked
      ? await catalog.lockSource(trx, sourceId)
      : (await catalog.findAsset(trx, sourceId)).source
    const policy = await WatchPolicy.query(trx).findById(sourceId)
    return policy && source.lastDiscoveryAt ? { source, policy } : null
  } catch (error) {
    if (hasCode(error, 'ASSET_NOT_FOUND')) return null
    throw error
  }
}

/** Applies a policy to some tables. @returns null when there is nothing to go on with */
async function applyBatch(
  deps: RecommendationsDeps,
  trx: Transaction,
  sourceId: string,
  tables: readonly WatchedTable[],
  percent: number,
): Promise<{ created: number } | null> {
  // Locked first: a request that holds the lock may replace the policy meanwhile.
  const watched = await loadPolicy(deps, trx, sourceId, true)
  if (!watched) return null
  const { source, policy } = watched
  const { catalog } = deps
  if (policy.runId !== null && !(await catalog.recordProgress(trx, policy.runId, percent))) {
    await forgetRun(trx, sourceId)
    return null
  }
  const isMatch = catalog.patternMatcher(termsOf(policy))
  const { due } = await findDue(deps, trx, source, policy, tables.filter(isMatch))
  if (due.length === 0) return { created: 0 }
  const applied = await applyToTables(deps, trx, { source, policy, tables: due, by: 'policy' })
  if (policy.runId !== null)
    await WatchPolicy.query(trx)
      .findById(sourceId)
      .patch({ outcome: sumApplied([policy.outcome ?? [], applied].flat()) })
  const created = countCreated(applied)
  if (created > 0)
    await audit(
      trx,
      { companyId: source.companyId, actor: 'system' },
      {
        action: 'watch.applied',
        target: { type: 'source', id: sourceId },
        details: { level: policy.level, created: applied.created },
      },
    )
  return { created }
}

/** Creates what a stored policy lacks on tables. The caller has locked the source. */
export async function applyToTables(
  deps: RecommendationsDeps,
  trx: Transaction,
  {
    source,
    policy,
    tables,
    by,
  }: { source: Source; policy: WatchPolicy; tables: readonly WatchedTable[]; by: string },
): Promise<AppliedRecommendations> {
  await markWatched(trx, source, tables)
  return applyTerms(deps, trx, { source, terms: termsOf(policy), tables, by, isDryRun: false })
}

/** A run that was cancelled: what is left waits for the next discovery. */
async function forgetRun(trx: Transaction, sourceId: string): Promise<void> {
  const at = { appliedAt: new Date(), requestedAt: null }
  await WatchPolicy.query(trx)
    .findById(sourceId)
    .patch({ ...at, runId: null, outcome: null })
}

/** Ends an application, and the run that a client follows. @returns false when the policy is gone */
async function finishPolicy(
  deps: RecommendationsDeps,
  trx: Transaction,
  sourceId: string,
  at: Date,
): Promise<boolean> {
  const watched = await loadPolicy(deps, trx, sourceId, true)
  if (!watched) return false
  const { source, policy } = watched
  await WatchPolicy.query(trx)
    .findById(sourceId)
    .patch({ appliedAt: at, requestedAt: null, runId: null, outcome: null })
  if (policy.runId === null) return true
  const matched = await matchingTables(deps, trx, source, termsOf(policy))
  const result = presentOutcome(source, policy.level, matched.length, policy.outcome)
  const { backfill, ...rest } = result
  const presented = { ...rest, backfill: presentBackfill(backfill, null) }
  await deps.catalog.finishRun(trx, policy.runId, { result: presented })
  return true
}

/** Ends the run that a client follows with an error. */
export async function failRun(
  deps: RecommendationsDeps,
  trx: Transaction,
  sourceId: string,
  error: Error,
): Promise<void> {
  const policy = await WatchPolicy.query(trx).findById(sourceId)
  if (!policy?.runId) return
  await deps.catalog.finishRun(trx, policy.runId, { error })
  await WatchPolicy.query(trx).findById(sourceId).patch({ runId: null, outcome: null })
}
