import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { databaseNow } from '../../server/database/now.ts'
import { apiError } from '../../server/http/errors.ts'
import type { Source } from '../catalog/api.ts'
import type { AppliedRecommendations, WatchLevel } from '../recommendations/api.ts'
import { WatchPolicy } from './models.ts'
import { matchingTables, type WatchedTable } from './tables.ts'

/** Which tables a policy watches, and with what. */
export interface PolicyTerms {
  level: WatchLevel
  include_patterns: string[]
  exclude_patterns: string[]
}

/** Stores what a source is watched with, in place of an earlier policy. */
export async function savePolicy(trx: Transaction, source: Source, terms: PolicyTerms): Promise<void> {
  await WatchPolicy.query(trx)
    .insert({
      sourceId: source.id,
      level: terms.level,
      includePatterns: terms.include_patterns,
      excludePatterns: terms.exclude_patterns,
      appliedAt: databaseNow(),
      updatedAt: databaseNow(),
    })
    .onConflict('sourceId')
    .merge()
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

/** The tables of a policy, and what became of its checks. */
export interface PolicyResult {
  tables: WatchedTable[]
  applied: AppliedRecommendations
}

/** Creates what the terms of a policy lack. The caller has locked the source. */
export async function applyTerms(
  server: Server,
  trx: Transaction,
  { source, terms, by, isDryRun }: { source: Source; terms: PolicyTerms; by: string; isDryRun: boolean },
): Promise<PolicyResult> {
  const { recommendations } = server.plugins
  const tables = await matchingTables(server, trx, source, terms)
  const applied = await recommendations.apply(trx, {
    ...{ source, by, isDryRun },
    tableIds: new Set(tables.map(({ id }) => id)),
    isWanted: recommendation => recommendations.isAtLevel(terms.level, recommendation),
  })
  return { tables, applied }
}

/** Applies the stored policy of a source. @returns null without one, or when its source is gone or was not discovered */
export async function applyPolicy(
  server: Server,
  trx: Transaction,
  sourceId: string,
): Promise<(PolicyResult & { policy: WatchPolicy; source: Source }) | null> {
  // Locked first: a request that holds the lock may replace the policy meanwhile.
  const source = await server.plugins.catalog.lockSource(trx, sourceId)
  const policy = await WatchPolicy.query(trx).findById(sourceId)
  if (!policy || !source.lastDiscoveryAt) return null
  const { level, includePatterns, excludePatterns } = policy
  const terms = { level, include_patterns: includePatterns, exclude_patterns: excludePatterns }
  const result = await applyTerms(server, trx, { source, terms, by: 'policy', isDryRun: false })
  await WatchPolicy.query(trx).findById(sourceId).patch({ appliedAt: databaseNow(), requestedAt: null })
  return { ...result, policy, source }
}
