import { api } from '../../lib/api.ts'
import type { PageOfList } from '../../parts/paging.tsx'

export const KINDS = ['validity', 'metric', 'referential', 'comparison', 'freshness'] as const
export const STATUSES = ['applied', 'dismissed', 'removed', 'noisy'] as const
/** In per cent. */
export const CONFIDENCES = [80, 90] as const

/** Filters of the list, as the address has them. */
export function readFilters(query: URLSearchParams) {
  const kind = KINDS.find(known => known === query.get('kind'))
  const status = STATUSES.find(known => known === query.get('status'))
  const confidence = CONFIDENCES.find(known => String(known) === query.get('confidence'))
  return {
    ...(kind && { kind: [kind] }),
    ...(confidence && { min_confidence: confidence / 100 }),
    status: [status ?? ('offered' as const)],
  }
}

interface ListQuery extends ReturnType<typeof readFilters> {
  asset_id: string
  limit: number
  offset: number
}

/** A page of the recommendations of a source. */
export async function loadRecommendations(query: ListQuery, signal: AbortSignal) {
  return (await api.get('/api/v1/sdk/recommendations', { query, signal })).data
}

export type RecommendationList = Awaited<ReturnType<typeof loadRecommendations>> & { pagination: PageOfList }
export type Recommendation = RecommendationList['recommendations'][number]

/** Creates recommended checks. */
export async function applyRecommendations(
  body: (
    { ids: string[] } | { asset_id: string; kind?: Recommendation['kind'][]; min_confidence?: number }
  ) & {
    backfill?: boolean
  },
  isDryRun = false,
) {
  return (await api.post('/api/v1/sdk/recommendations/apply', { body: { ...body, dry_run: isDryRun } })).data
}

export async function dismissRecommendations(ids: string[]) {
  return (await api.post('/api/v1/sdk/recommendations/dismiss', { body: { ids } })).data.changed
}

export async function restoreRecommendations(ids: string[]) {
  return (await api.post('/api/v1/sdk/recommendations/restore', { body: { ids } })).data.changed
}

/** Tries a recommended check on the past of its table. */
export async function testRecommendation(id: string, signal: AbortSignal): Promise<Recommendation> {
  return (await api.post('/api/v1/sdk/recommendations/{id}/past', { path: { id }, signal })).data
}
