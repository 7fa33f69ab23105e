import type { Transaction } from '../../../server/database/database.ts'
import { databaseNow, timeOf } from '../../../server/database/now.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import type { AppliedRecommendations, WatchLevel } from '../applied.ts'
import { applyOffers, isAtLevel } from '../apply.ts'
import { WatchPolicy } from '../models.ts'
import type { WatchedTable } from './tables.ts'
import type { RecommendationsDeps } from '../deps.ts'

/** Which tables a policy watches, and with what. */
export interface PolicyTerms {
  level: WatchLevel
  include_patterns: string[]
  exclude_patterns: string[]
  backfill: boolean
}

/**
 * Stores what a source is watched with, in place of an earlier policy.
 * @param applied.runId the run that applies it and a client follows; null when the caller applies it now
 */
export async function savePolicy(
  trx: Transaction,
  source: Source,
  terms: PolicyTerms,
  { runId }: { runId: string | null },
): Promise<WatchPolicy> {
  return WatchPolicy.query(trx)
    .insert({
      sourceId: source.id,
      level: terms.level,
      includePatterns: terms.include_patterns,
      excludePatterns: terms.exclude_patterns,
      backfill: terms.backfill,
      appliedAt: runId === null ? databaseNow() : null,
      requestedAt: runId === null ? null : databaseNow(),
      // Each policy has a time of its own, also two of one transaction.
      updatedAt: timeOf('clock_timestamp()'),
      runId,
      outcome: null,
    })
    .onConflict('sourceId')
    .merge()
    .returning('*')
}

export function termsOf({ level, includePatterns, excludePatterns, backfill }: WatchPolicy): PolicyTerms {
  return { level, include_patterns: includePatterns, exclude_patterns: excludePatterns, backfill }
}

/** The policy of a source; undefined without one. */
export function findPolicy(trx: Transaction, { id }: Source): PromiseLike<WatchPolicy | undefined> {
  return WatchPolicy.query(trx).findById(id)
}

/** Removes the policy of a source; its checks stay. @throws 404 `NOT_FOUND` without one */
export async function removePolicy(trx: Transaction, { id, name }: Source): Promise<WatchPolicy> {
  const policy = await WatchPolicy.query(trx).findById(id)
  if (!policy)
    throw apiError('NOT_FOUND', `${name} has no policy: POST /api/v1/sdk/assets/${id}/watch sets one`)
  await WatchPolicy.query(trx).deleteById(id)
  return policy
}

/** Creates what terms of a policy lack on tables. The caller has locked the source. */
export function applyTerms(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, terms, tables, by, isDryRun }: TermsRequest,
): Promise<AppliedRecommendations> {
  return applyOffers(deps, trx, {
    source,
    by,
    isDryRun,
    backfill: terms.backfill,
    tableIds: new Set(tables.map(({ id }) => id)),
    isWanted: recommendation => isAtLevel(terms.level, recommendation),
  })
}

interface TermsRequest {
  source: Source
  terms: Pick<PolicyTerms, 'level' | 'backfill'>
  tables: readonly WatchedTable[]
  /** As decisions on recommendations name a caller. */
  by: string
  isDryRun: boolean
}
