import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import type { AppliedRecommendations, ApplyRequest, ChoosableRecommendation, WatchLevel } from './api.ts'
import { createSuggested } from './create.ts'
import { saveDecision } from './decisions.ts'
import { readOffers, sumCosts, type Offer } from './offers.ts'
import { CHECK_TYPES, type CheckTypeName } from './rules/evidence.ts'
import type { IdentifiedSuggestion } from './rules/suggest.ts'

/** The confidence from which the level `standard` includes what was found by profiles. */
const STANDARD_CONFIDENCE = 0.8

/** Whether a level includes a recommendation. */
export function isAtLevel(level: WatchLevel, { type, confidence, basis }: ChoosableRecommendation): boolean {
  if (level === 'deep' || type === 'row_count' || type === 'freshness') return true
  const isKey =
    (type === 'NOT_NULL' || type === 'UNIQUE') && basis.includes('constraints') && confidence >= 0.99
  if (level === 'light' || isKey) return isKey
  return confidence >= STANDARD_CONFIDENCE && (basis.includes('constraints') || basis.includes('profiles'))
}

/**
 * Creates the recommended checks that are wanted, offered and missing. Those that exist count as applied from now on, so
 * that they stay away when a person removes them.
 */
export async function applyOffers(
  server: Server,
  trx: Transaction,
  { source, tableIds, isWanted, ids, by, isDryRun }: ApplyRequest,
): Promise<AppliedRecommendations> {
  const result: AppliedRecommendations = {
    ...{ created: {}, existing: {}, declined: 0, noisy: 0, statementsPerDay: 0, rowsPerDay: 0 },
    freshnessStatementsPerDay: 0,
  }
  const created: Offer[] = []
  const filter = {
    tableIds,
    isWanted: (suggestion: IdentifiedSuggestion) => (ids?.has(suggestion.id) ?? true) && isWanted(suggestion),
  }
  for await (const offers of readOffers(server, trx, source, filter)) {
    const declined = offers.filter(({ status }) => status === 'dismissed' || status === 'removed')
    // Who names one decides on it anew.
    const offered = [...offers.filter(({ status }) => status === 'offered'), ...(ids ? declined : [])]
    const existing = offers.filter(({ status }) => status === 'applied')
    if (!ids) result.declined += declined.length
    result.noisy += offers.filter(({ status }) => status === 'noisy').length
    addCounts(result.created, offered)
    addCounts(result.existing, existing)
    created.push(...offered.map(withoutEvidence))
    if (isDryRun) continue
    await createSuggested(server, trx, source, offered, false)
    const unknown = existing.filter(({ stored }) => stored?.decision !== 'applied')
    await saveDecision(trx, [...offered, ...unknown], { sourceId: source.id, decision: 'applied', by })
  }
  const { statementsPerDay, rowsPerDay } = sumCosts(created)
  const schedules = created.filter(({ suggestion }) => suggestion.kind === 'freshness')
  const freshnessStatementsPerDay = sumCosts(schedules).statementsPerDay
  return { ...result, statementsPerDay, freshnessStatementsPerDay, rowsPerDay: rowsPerDay ?? 0 }
}

/** What the sum of costs needs: the evidence of thousands of tables is not kept. */
function withoutEvidence({ table, suggestion, ...offer }: Offer): Offer {
  const { profile: _profile, ...known } = table
  return {
    ...offer,
    table: { ...known, columns: [], constraints: [] },
    suggestion: { ...suggestion, evidence: {} },
  }
}

function addCounts(counts: Partial<Record<CheckTypeName, number>>, offers: readonly Offer[]): void {
  const found = Map.groupBy(offers, ({ suggestion }) => suggestion.type)
  for (const type of CHECK_TYPES) {
    const count = found.get(type)?.length ?? 0
    if (count > 0) counts[type] = (counts[type] ?? 0) + count
  }
}
