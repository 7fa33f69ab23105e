import { rows, companyOf, type Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import type { Asset, Source } from '../catalog/api.ts'
import type { KeptRule } from './api.ts'
import { saveDecision, savePast } from './decisions.ts'
import { readOffers, statusOf, type Offer } from './offers.ts'
import { computePast } from './past.ts'
import type { RecommendationFilter } from './schemas.ts'
import { tableOfId, type IdentifiedSuggestion } from './rules/suggest.ts'
import type { CheckKindName, CheckTypeName } from './rules/evidence.ts'
import type { RecommendationsDeps } from './deps.ts'

/** The test for suggestions that a filter makes. */
export function matcherOf({ kind, type, min_confidence: least = 0 }: RecommendationFilter) {
  return (suggestion: { kind: CheckKindName; type: CheckTypeName; confidence: number }) =>
    (kind?.includes(suggestion.kind) ?? true) &&
    (type?.includes(suggestion.type) ?? true) &&
    suggestion.confidence >= least
}

/** The tables of an asset as `readOffers` takes them; undefined for a source, which means all. */
export function tableIdsOf({ table }: Asset): ReadonlySet<string> | undefined {
  return table && new Set([table.id])
}

/** The rules that the rows of tables keep and nothing checks. */
export async function listKept(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  tableIds: readonly string[],
): Promise<KeptRule[]> {
  const kept: KeptRule[] = []
  const filter = {
    tableIds: new Set(tableIds),
    isWanted: ({ kind, isQuietByProfile }: IdentifiedSuggestion) => kind === 'validity' && isQuietByProfile,
  }
  for await (const batch of readOffers(deps, trx, source, filter))
    for (const { status, table, suggestion } of batch)
      if (status === 'offered')
        kept.push({
          tableId: table.id,
          type: suggestion.type,
          column: suggestion.column,
          config: suggestion.config,
        })
  return kept
}

/** Recommendations that ids name, of one source. */
export interface NamedOffers {
  source: Source
  offers: Offer[]
}

/** Finds recommendations by their ids, by source. @throws 404 for an id that names none */
export async function findOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  ids: readonly string[],
): Promise<NamedOffers[]> {
  const tableIds = [...new Set(ids.flatMap(id => tableOfId(id) ?? []))]
  const tables = await rows<{ id: string; sourceId: string }>(
    trx,
    `select id, source_id from tables
     where company_id = :companyId and id = any(cast(:tableIds as uuid[])) and is_active order by source_id, id`,
    { companyId: companyOf(trx), tableIds },
  )
  const named: NamedOffers[] = []
  const wanted = new Set(ids)
  const missing = new Set(ids)
  for (const [sourceId, some] of Map.groupBy(tables, table => table.sourceId)) {
    const { source } = await deps.catalog.findAsset(trx, sourceId)
    const filter = {
      tableIds: new Set(some.map(({ id }) => id)),
      isWanted: ({ id }: { id: string }) => wanted.has(id),
    }
    const offers: Offer[] = []
    for await (const batch of readOffers(deps, trx, source, filter)) offers.push(...batch)
    for (const { suggestion } of offers) missing.delete(suggestion.id)
    named.push({ source, offers })
  }
  if (missing.size === 0) return named
  const message =
    'There is no such recommendation: what is known of its table may have changed since, so list them again'
  throw apiError('NOT_FOUND', message)
}

/** Dismisses recommendations, for good. */
export async function dismissOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  { ids, reason, by }: { ids: readonly string[]; reason: string | null; by: string },
): Promise<NamedOffers[]> {
  const named = await findOffers(deps, trx, ids)
  for (const { source, offers } of named)
    await saveDecision(trx, offers, { sourceId: source.id, decision: 'dismissed', reason, by })
  return named
}

/**
 * Computes the pasts of recommendations, and stores them. No transaction is open meanwhile.
 * @returns the recommendations with their pasts, by source
 * @throws 404 `NOT_FOUND`, 409 `CONFLICT` when the source is switched off, 503 `UNAVAILABLE` while it is busy
 */
export async function tryOffers(
  deps: RecommendationsDeps,
  companyId: string,
  ids: readonly string[],
): Promise<NamedOffers[]> {
  const named = await deps.db.company(companyId, trx => findOffers(deps, trx, ids))
  const tried: NamedOffers[] = []
  for (const { source, offers } of named) {
    const withPasts: Offer[] = []
    for (const offer of offers) {
      const past = await computePast(deps, companyId, source.id, offer.table, offer.suggestion)
      const stored = await deps.db.company(companyId, trx => savePast(trx, source.id, offer, past))
      withPasts.push({ ...offer, stored, status: statusOf(offer.isMissing, stored) })
    }
    tried.push({ source, offers: withPasts })
  }
  return tried
}
