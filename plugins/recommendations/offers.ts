import type { Transaction } from '../../server/database/database.ts'
import { parseDuration } from '../../server/settings/durations.ts'
import type { Source } from '../catalog/api.ts'
import { createSuggested, readWatched, type TableSuggestion, type WatchedTables } from './create.ts'
import { readEvidence, readTables } from './evidence.ts'
import { StoredRecommendation } from './models.ts'
import type { CheckKindName, TableEvidence } from './rules/evidence.ts'
import { indexParents } from './rules/references.ts'
import { suggestChecks, type IdentifiedSuggestion } from './rules/suggest.ts'
import type { RecommendationsDeps } from './deps.ts'

/**
 * What became of a recommendation: `removed` was applied, and its check is gone; `noisy` would have alerted on its past.
 */
export const STATUSES = ['offered', 'applied', 'dismissed', 'removed', 'noisy'] as const
export type OfferStatus = (typeof STATUSES)[number]

/** What a check adds at the source each day. */
export interface OfferCost {
  statementsPerDay: number
  /** Rows that it reads beside those that are read anyway; null where the size of the table is not known. */
  rowsPerDay: number | null
  /** Whether it shares the statement of a scan. */
  isShared: boolean
}

/** A recommended check with what was decided on it. */
export interface Offer extends TableSuggestion {
  status: OfferStatus
  /** Whether there is no such check. */
  isMissing: boolean
  cost: OfferCost
  stored: StoredRecommendation | undefined
}

/** Which recommendations are wanted. */
export interface OfferFilter {
  /** Only of these tables. */
  tableIds?: ReadonlySet<string> | undefined
  /** Only of this kind, so that nothing is computed of the others. */
  kind?: CheckKindName
  isWanted(suggestion: IdentifiedSuggestion): boolean
}

/**
 * Recommends checks for the active tables of a source, some tables at a time. Nothing is stored: the catalog, profiles and
 * decisions make what is recommended.
 * @param note receives the tables, those without recommendations too
 */
export async function* readOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  { tableIds, kind, isWanted }: OfferFilter,
  note?: (tables: readonly TableEvidence[]) => void,
): AsyncGenerator<Offer[]> {
  const all = await readTables(trx, source, tableIds)
  const isKindWanted = (name: CheckKindName) => kind === undefined || kind === name
  // Only references look at other tables of the source, and only comparisons at those of other sources.
  const parents = indexParents(isKindWanted('referential') ? all : [])
  const others = { parents, hasReplicas: isKindWanted('comparison') }
  const tables = tableIds ? all.filter(({ id }) => tableIds.has(id)) : all
  for await (const batch of readEvidence(deps, trx, source, tables, others)) {
    note?.(batch.tables)
    const ids = batch.tables.map(({ id }) => id)
    const watched = await readWatched(deps, trx, source, ids)
    const suggested = batch.tables.flatMap(table =>
      suggestChecks(table, parents, batch.parentProfiles, kind)
        .filter(suggestion => isAllowed(source, suggestion.kind) && isWanted(suggestion))
        .map(suggestion => ({ table, suggestion })),
    )
    const { missing, refused } = await createSuggested(deps, trx, source, suggested, { isDryRun: true })
    const stored = await readStored(trx, ids)
    yield suggested
      .filter(each => !refused.has(each))
      .map(each => {
        const decided = stored.get(each.suggestion.id)
        const isMissing = missing.has(each)
        const status = statusOf(isMissing, decided)
        return { ...each, status, isMissing, cost: costOf(source, each, watched), stored: decided }
      })
  }
}

/** The same recommendations as they stand now: their checks and decisions are read anew, and not what speaks for them. */
export async function refreshOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  offers: readonly Offer[],
): Promise<Offer[]> {
  const { missing, refused } = await createSuggested(deps, trx, source, offers, { isDryRun: true })
  const stored = await readStored(trx, [...new Set(offers.map(({ table }) => table.id))])
  return offers.flatMap(offer => {
    const { id } = offer.suggestion
    const [decided, isMissing] = [stored.get(id), missing.has(offer)]
    return refused.has(offer)
      ? []
      : [{ ...offer, stored: decided, isMissing, status: statusOf(isMissing, decided) }]
  })
}

/** Rows of such a source may not be read. */
function isAllowed({ queryAccessLevel }: Source, kind: CheckKindName): boolean {
  return queryAccessLevel !== 'schema_only' || kind === 'freshness'
}

/** Only what a decision or a computed past says of some tables. */
async function readStored(trx: Transaction, tableIds: readonly string[]) {
  const stored = await StoredRecommendation.query(trx).whereRaw('table_id = any(cast(? as uuid[]))', [
    tableIds,
  ])
  return new Map(stored.map(row => [row.id, row]))
}

/** @param isMissing whether there is no such check */
export function statusOf(isMissing: boolean, stored: StoredRecommendation | undefined): OfferStatus {
  if (!isMissing) return 'applied'
  if (stored?.decision === 'dismissed') return 'dismissed'
  if (stored?.decision === 'applied') return 'removed'
  return (stored?.past?.alerts ?? 0) > 0 ? 'noisy' : 'offered'
}

const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3_600

/** Freshness is checked every hour, unless the source has another default. */
function freshnessChecksPerDay({ freshnessDefaults }: Source): number {
  return Math.ceil(DAY_SECONDS / (parseDuration(freshnessDefaults?.check_interval ?? '') ?? HOUR_SECONDS))
}

function costOf(source: Source, { table, suggestion }: TableSuggestion, watched: WatchedTables): OfferCost {
  const rows = rowsOf(table)
  if (suggestion.kind === 'freshness') {
    const checks = freshnessChecksPerDay(source)
    const rowsPerDay = suggestion.column === null ? 0 : rows === null ? null : rows * checks
    const statementsPerDay = watched.isFreshnessChecked ? 0 : checks
    return { statementsPerDay, rowsPerDay, isShared: true }
  }
  if (suggestion.kind === 'referential') return { statementsPerDay: 1, rowsPerDay: rows, isShared: false }
  // One pass on each side.
  if (suggestion.kind === 'comparison')
    return { statementsPerDay: 2, rowsPerDay: rows === null ? null : 2 * rows, isShared: false }
  const isScanned = watched.scanned.has(table.id)
  return { statementsPerDay: isScanned ? 0 : 1, rowsPerDay: isScanned ? 0 : rows, isShared: true }
}

function rowsOf({ profile, estimatedRows }: TableEvidence): number | null {
  return profile?.rowCount ?? estimatedRows
}

/** What several checks add together: those of one table share a scan, and freshness of one source a statement. */
export function sumCosts(offers: readonly Offer[]): OfferCost {
  const scanned = new Map<string, Offer>()
  const own: Offer[] = []
  let isFreshnessCounted = false
  for (const offer of offers) {
    const { kind } = offer.suggestion
    if (kind === 'referential' || kind === 'comparison') own.push(offer)
    else if (kind !== 'freshness') scanned.set(offer.table.id, offer)
    else {
      const { cost } = offer
      own.push(isFreshnessCounted ? { ...offer, cost: { ...cost, statementsPerDay: 0 } } : offer)
      isFreshnessCounted = true
    }
  }
  const costs = [...own, ...scanned.values()].map(({ cost }) => cost)
  return {
    statementsPerDay: costs.reduce((sum, { statementsPerDay }) => sum + statementsPerDay, 0),
    rowsPerDay: costs.reduce((sum, { rowsPerDay }) => sum + (rowsPerDay ?? 0), 0),
    isShared: true,
  }
}
