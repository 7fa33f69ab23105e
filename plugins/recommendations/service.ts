import type { Server } from '@hapi/hapi'
import { rows, companyOf, type Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import type { Page } from '../../server/http/page.ts'
import type { Asset, Source } from '../catalog/api.ts'
import { saveDecision, savePast } from './decisions.ts'
import { readOffers, STATUSES, type Offer, type OfferStatus } from './offers.ts'
import { computePast, type ComputedPast } from './past.ts'
import { tableOfId } from './rules/suggest.ts'
import type { CheckKind, CheckTypeName } from './rules/evidence.ts'

/** Filters of recommendations, as queries and bodies have them. */
export interface RecommendationFilter {
  kind?: CheckKind[]
  type?: CheckTypeName[]
  min_confidence?: number
}

/** The test for suggestions that a filter makes. */
export function matcherOf({ kind, type, min_confidence: least = 0 }: RecommendationFilter) {
  return (suggestion: { kind: CheckKind; type: CheckTypeName; confidence: number }) =>
    (kind?.includes(suggestion.kind) ?? true) &&
    (type?.includes(suggestion.type) ?? true) &&
    suggestion.confidence >= least
}

/** The tables of an asset as `readOffers` takes them; undefined for a source, which means all. */
export function tableIdsOf({ table }: Asset): ReadonlySet<string> | undefined {
  return table && new Set([table.id])
}

/** A page of recommendations, and how many there are by status. */
export interface OfferPage {
  offers: Offer[]
  total: number
  /** Tables that the recommendations of all pages belong to. */
  tables: number
  counts: Record<OfferStatus, number>
}

/** Reads a page of the recommendations of a source or a table, by table and confidence. */
export async function listOffers(
  server: Server,
  trx: Transaction,
  asset: Asset,
  query: RecommendationFilter & Page & { status: OfferStatus[] },
): Promise<OfferPage> {
  const page: OfferPage = {
    ...{ offers: [], total: 0, tables: 0 },
    counts: Object.fromEntries(STATUSES.map(status => [status, 0])) as OfferPage['counts'],
  }
  const filter = { tableIds: tableIdsOf(asset), isWanted: matcherOf(query) }
  for await (const batch of readOffers(server, trx, asset.source, filter)) {
    for (const { status } of batch) page.counts[status] += 1
    const wanted = batch.filter(({ status }) => query.status.includes(status))
    const from = query.offset - page.total
    page.offers.push(...wanted.slice(Math.max(0, from), Math.max(0, from + query.limit)))
    page.total += wanted.length
    page.tables += new Set(wanted.map(({ table }) => table.id)).size
  }
  return page
}

/** Recommendations that ids name, of one source. */
export interface NamedOffers {
  source: Source
  offers: Offer[]
}

/** Finds recommendations by their ids, by source. @throws 404 for an id that names none */
export async function findOffers(
  server: Server,
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
    const { source } = await server.plugins.catalog.findAsset(trx, sourceId)
    const filter = {
      tableIds: new Set(some.map(({ id }) => id)),
      isWanted: ({ id }: { id: string }) => wanted.has(id),
    }
    const offers: Offer[] = []
    for await (const batch of readOffers(server, trx, source, filter)) offers.push(...batch)
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
  server: Server,
  trx: Transaction,
  { ids, reason, by }: { ids: readonly string[]; reason: string | null; by: string },
): Promise<NamedOffers[]> {
  const named = await findOffers(server, trx, ids)
  for (const { source, offers } of named)
    await saveDecision(trx, offers, { sourceId: source.id, decision: 'dismissed', reason, by })
  return named
}

/**
 * Computes the past of a recommendation, and stores it.
 * @throws 404 `NOT_FOUND`, 409 `CONFLICT` when the source is switched off, 503 `UNAVAILABLE` while it is busy
 */
export async function tryOffer(
  server: Server,
  companyId: string,
  id: string,
): Promise<{ offer: Offer; past: ComputedPast }> {
  const [named] = await server.db.company(companyId, trx => findOffers(server, trx, [id]))
  const offer = named!.offers[0]!
  const past = await computePast(server, companyId, named!.source.id, offer.table, offer.suggestion)
  await server.db.company(companyId, trx => savePast(trx, named!.source.id, offer, past))
  return { offer, past }
}
