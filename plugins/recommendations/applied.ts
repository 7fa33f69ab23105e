/** What becomes of recommended checks that are created. */
import type { Source } from '../catalog/api.ts'
import type { BackfillCost } from './backfill.ts'
import { CHECK_TYPES, type CheckKindName, type CheckTypeName, type EvidenceBasis } from './rules/evidence.ts'

/** How much of what is recommended a source is watched with. */
export const WATCH_LEVELS = ['light', 'standard', 'deep'] as const
export type WatchLevel = (typeof WATCH_LEVELS)[number]

/** What a choice of recommendations is made by. */
export interface ChoosableRecommendation {
  kind: CheckKindName
  type: CheckTypeName
  column: string | null
  confidence: number
  basis: readonly EvidenceBasis[]
}

/** Which recommended checks of a source to create. The caller has locked the source. */
export interface ApplyRequest {
  source: Source
  /** Defaults to all active tables. */
  tableIds?: ReadonlySet<string> | undefined
  isWanted(recommendation: ChoosableRecommendation): boolean
  /** `user:<id>`, `key:<id>` or `policy`. */
  by: string
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
  /** Whether those that learn are given the past of their tables, by a job. */
  backfill: boolean
}

/** Numbers of checks by their type. */
export type TypeCounts = Partial<Record<CheckTypeName, number>>

export interface AppliedRecommendations {
  created: TypeCounts
  existing: TypeCounts
  /** Dismissed before, or created and removed by a person since. */
  declined: number
  /** Would have alerted on their past. */
  noisy: number
  statementsPerDay: number
  /** Those of them that check freshness. */
  freshnessStatementsPerDay: number
  rowsPerDay: number
  /** What computing the past of what is created reads; absent in outcomes of earlier versions. */
  backfill?: BackfillCost
}

/** What was applied to several sources, or in several batches, as one. */
export function sumApplied(all: readonly AppliedRecommendations[]): AppliedRecommendations {
  const sum = (of: (applied: AppliedRecommendations) => number) =>
    all.reduce((total, applied) => total + of(applied), 0)
  const counts = (of: 'created' | 'existing'): TypeCounts =>
    Object.fromEntries(
      CHECK_TYPES.flatMap(type => {
        const count = sum(applied => applied[of][type] ?? 0)
        return count > 0 ? [[type, count]] : []
      }),
    )
  return {
    created: counts('created'),
    existing: counts('existing'),
    declined: sum(({ declined }) => declined),
    noisy: sum(({ noisy }) => noisy),
    statementsPerDay: sum(({ statementsPerDay }) => statementsPerDay),
    freshnessStatementsPerDay: sum(({ freshnessStatementsPerDay }) => freshnessStatementsPerDay),
    rowsPerDay: sum(({ rowsPerDay }) => rowsPerDay),
    backfill: {
      tables: sum(({ backfill }) => backfill?.tables ?? 0),
      rows: all.some(({ backfill }) => backfill?.rows === null)
        ? null
        : sum(({ backfill }) => backfill?.rows ?? 0),
    },
  }
}

/** The number of checks that were created, whatever their type. */
export function countCreated({ created }: Pick<AppliedRecommendations, 'created'>): number {
  return Object.values(created).reduce((sum, count) => sum + count, 0)
}
