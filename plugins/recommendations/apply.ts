import type { Transaction } from '../../server/database/database.ts'
import type {
  AppliedRecommendations,
  ApplyRequest,
  ChoosableRecommendation,
  TypeCounts,
  WatchLevel,
} from './applied.ts'
import { costOfBackfill, type BackfilledTable } from './backfill.ts'
import { createSuggested } from './create.ts'
import { saveDecision } from './decisions.ts'
import { readOffers, refreshOffers, sumCosts, type Offer, type OfferStatus } from './offers.ts'
import { CHECK_TYPES } from './rules/evidence.ts'
import type { RecommendationsDeps } from './deps.ts'

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

/** By whom recommendations are applied. */
type Application = Pick<ApplyRequest, 'source' | 'by' | 'isDryRun' | 'backfill'>

/**
 * Creates the recommended checks that are wanted, offered and missing. Those that exist count as applied from now on, so
 * that they stay away when a person removes them.
 */
export async function applyOffers(
  deps: RecommendationsDeps,
  trx: Transaction,
  { tableIds, isWanted, ...application }: ApplyRequest,
): Promise<AppliedRecommendations> {
  const sum = new AppliedSum()
  for await (const offers of readOffers(deps, trx, application.source, { tableIds, isWanted })) {
    const withStatus = (...statuses: OfferStatus[]) =>
      offers.filter(({ status }) => statuses.includes(status))
    sum.declined += withStatus('dismissed', 'removed').length
    sum.noisy += withStatus('noisy').length
    await applyBatch(
      deps,
      trx,
      application,
      { offered: withStatus('offered'), existing: withStatus('applied') },
      sum,
    )
  }
  return sum.result()
}

/**
 * Creates recommended checks that the caller named: also those that were declined before, since who names one decides on
 * it anew. Only what became of them since they were found is read again. The caller has locked the source.
 */
export async function applyNamed(
  deps: RecommendationsDeps,
  trx: Transaction,
  { offers, ...application }: Application & { offers: readonly Offer[] },
): Promise<AppliedRecommendations> {
  const sum = new AppliedSum()
  const current = await refreshOffers(deps, trx, application.source, offers)
  const withStatus = (...statuses: OfferStatus[]) => current.filter(({ status }) => statuses.includes(status))
  sum.noisy += withStatus('noisy').length
  const batch = { offered: withStatus('offered', 'dismissed', 'removed'), existing: withStatus('applied') }
  await applyBatch(deps, trx, application, batch, sum)
  return sum.result()
}

async function applyBatch(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, by, isDryRun, backfill }: Application,
  { offered, existing }: { offered: readonly Offer[]; existing: readonly Offer[] },
  sum: AppliedSum,
): Promise<void> {
  sum.add(offered, existing)
  if (backfill) sum.addBackfill(offered)
  if (isDryRun) return
  await createSuggested(deps, trx, source, offered, { isDryRun: false, backfill })
  const unknown = existing.filter(({ stored }) => stored?.decision !== 'applied')
  await saveDecision(trx, [...offered, ...unknown], { sourceId: source.id, decision: 'applied', by })
}

/** What became of the recommendations of some batches together. */
class AppliedSum {
  declined = 0
  noisy = 0
  readonly #created: TypeCounts = {}
  readonly #existing: TypeCounts = {}
  readonly #offers: Offer[] = []
  readonly #dated = new Map<string, BackfilledTable>()

  add(offered: readonly Offer[], existing: readonly Offer[]): void {
    addCounts(this.#created, offered)
    addCounts(this.#existing, existing)
    this.#offers.push(...offered.map(withoutEvidence))
  }

  /** Only metrics learn. */
  addBackfill(offered: readonly Offer[]): void {
    for (const { table, suggestion } of offered)
      if (suggestion.kind === 'metric') {
        const { id, columns, profile, estimatedRows } = table
        this.#dated.set(id, { id, columns, estimatedRows: profile?.rowCount ?? estimatedRows })
      }
  }

  result(): AppliedRecommendations {
    const { declined, noisy } = this
    const { statementsPerDay, rowsPerDay } = sumCosts(this.#offers)
    const schedules = this.#offers.filter(({ suggestion }) => suggestion.kind === 'freshness')
    const freshnessStatementsPerDay = sumCosts(schedules).statementsPerDay
    return {
      created: this.#created,
      existing: this.#existing,
      declined,
      noisy,
      statementsPerDay,
      freshnessStatementsPerDay,
      rowsPerDay: rowsPerDay ?? 0,
      backfill: costOfBackfill([...this.#dated.values()]),
    }
  }
}

/** What the sum of costs needs: the evidence of thousands of tables is not kept. */
function withoutEvidence({ table, suggestion, ...offer }: Offer): Offer {
  const { profile: _profile, ...rest } = table
  return {
    ...offer,
    table: { ...rest, columns: [], constraints: [] },
    suggestion: { ...suggestion, evidence: {} },
  }
}

function addCounts(counts: TypeCounts, offers: readonly Offer[]): void {
  const byType = Map.groupBy(offers, ({ suggestion }) => suggestion.type)
  for (const type of CHECK_TYPES) {
    const count = byType.get(type)?.length ?? 0
    if (count > 0) counts[type] = (counts[type] ?? 0) + count
  }
}
