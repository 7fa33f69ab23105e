/** Pages of recommendations: of a source by its stored counts, of a table as they are. */
import type { Transaction } from '../../server/database/database.ts'
import type { Page } from '../../server/http/page.ts'
import type { Asset, Source } from '../catalog/api.ts'
import { countJob } from './count-jobs.ts'
import {
  countTables,
  countUncounted,
  findUncounted,
  hasUncountedUntil,
  readWindow,
  TABLES_PER_COUNT,
  type CountWindow,
} from './counts.ts'
import { readOffers, STATUSES, type Offer, type OfferStatus } from './offers.ts'
import { KIND_OF_TYPE } from './rules/evidence.ts'
import { matcherOf } from './service.ts'
import type { RecommendationFilter } from './schemas.ts'
import type { RecommendationsDeps } from './deps.ts'

/** What a list asks for. */
type ListQuery = RecommendationFilter & Page & { status: OfferStatus[] }

/** A page of recommendations, and how many there are by status. */
export interface OfferPage {
  offers: Offer[]
  total: number
  /** Tables that the recommendations of all pages belong to. */
  tables: number
  counts: Record<OfferStatus, number>
  /** Tables that are in no count yet. */
  uncounted: number
}

/** Reads a page of the recommendations of a source or a table, by table and confidence. */
export async function listOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, table }: Asset,
  query: ListQuery,
): Promise<OfferPage> {
  return table ? listOfTable(deps, trx, { source, table }, query) : listOfSource(deps, trx, source, query)
}

async function listOfTable(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, table }: Required<Asset>,
  query: ListQuery,
): Promise<OfferPage> {
  const offers: Offer[] = []
  const filter = { tableIds: new Set([table.id]), isWanted: matcherOf(query) }
  for await (const batch of readOffers(deps, trx, source, filter)) offers.push(...batch)
  const wanted = offers.filter(({ status }) => query.status.includes(status))
  const count = (status: OfferStatus) => offers.filter(offer => offer.status === status).length
  return {
    offers: wanted.slice(query.offset, query.offset + query.limit),
    total: wanted.length,
    tables: wanted.length > 0 ? 1 : 0,
    counts: Object.fromEntries(STATUSES.map(status => [status, count(status)])) as OfferPage['counts'],
    uncounted: 0,
  }
}

/** Times that a page is read again when its tables have other counts than those that are stored. */
const MAX_CORRECTIONS = 2

/** A page computes its own tables alone, and corrects their counts where what they follow from changed unnoticed. */
async function listOfSource(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  query: ListQuery,
): Promise<OfferPage> {
  const isWanted = matcherOf(query)
  for (let corrections = 0; ; corrections += 1) {
    const uncounted = await countForPage(deps, trx, source, query)
    const window = await readWindow(trx, source, countFilterOf(query))
    const ids = window.tables.map(({ id }) => id)
    const offers: Offer[] = []
    if (ids.length > 0)
      for await (const batch of readOffers(deps, trx, source, { tableIds: new Set(ids), isWanted }))
        offers.push(...batch.filter(({ status }) => query.status.includes(status)))
    const byTable = Map.groupBy(offers, ({ table }) => table.id)
    const wrong = window.tables.filter(({ id, wanted }) => (byTable.get(id)?.length ?? 0) !== wanted)
    if (wrong.length === 0 || corrections === MAX_CORRECTIONS)
      return pageOf(window, byTable, query, uncounted)
    await countTables(
      deps,
      trx,
      source,
      wrong.map(({ id }) => id),
    )
  }
}

function pageOf(
  { tables, total, tableCount, counts }: CountWindow,
  byTable: ReadonlyMap<string, Offer[]>,
  { limit, offset }: Page,
  uncounted: number,
): OfferPage {
  const offers = tables.flatMap(({ id, before }) =>
    (byTable.get(id) ?? []).slice(Math.max(0, offset - before), Math.max(0, offset + limit - before)),
  )
  return { offers, total, tables: tableCount, counts, uncounted }
}

function countFilterOf({ kind, type, min_confidence: minConfidence = 0, status, limit, offset }: ListQuery) {
  const types = Object.entries(KIND_OF_TYPE).flatMap(([name, its]) =>
    (kind?.includes(its) ?? true) && (type?.some(each => each === name) ?? true) ? [name] : [],
  ) as (keyof typeof KIND_OF_TYPE)[]
  const isNarrowed = kind !== undefined || type !== undefined
  return { ...(isNarrowed && { types }), minConfidence, status, limit, offset }
}

/**
 * Counts the tables that changed, if they are few; of many only as many as the page needs, and a job counts the others.
 * @returns how many were not counted
 */
async function countForPage(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  query: ListQuery,
): Promise<number> {
  for (;;) {
    const some = await findUncounted(trx, source, TABLES_PER_COUNT + 1)
    if (some.length === 0) return 0
    if (some.length > TABLES_PER_COUNT) {
      const { total, tables } = await readWindow(trx, source, countFilterOf(query))
      const isFull = total > query.offset + query.limit
      if (isFull && !(await hasUncountedUntil(trx, source, tables.at(-1)!.id))) break
    }
    await countTables(deps, trx, source, some.slice(0, TABLES_PER_COUNT))
  }
  const uncounted = await countUncounted(trx, source)
  const data = { company_id: source.companyId, source_id: source.id }
  await deps.jobs.send(countJob, data, { trx, group: source.id, key: source.id })
  return uncounted
}
