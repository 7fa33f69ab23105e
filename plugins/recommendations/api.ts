import type { Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'
import type { CheckKind, CheckTypeName, EvidenceBasis } from './rules/evidence.ts'

/** How much of what is recommended a source is watched with. */
export const WATCH_LEVELS = ['light', 'standard', 'deep'] as const
export type WatchLevel = (typeof WATCH_LEVELS)[number]

/** What a choice of recommendations is made by. */
export interface ChoosableRecommendation {
  kind: CheckKind
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
}

export interface AppliedRecommendations {
  /** By type of check. */
  created: Partial<Record<CheckTypeName, number>>
  existing: Partial<Record<CheckTypeName, number>>
  /** Dismissed before, or created and removed by a person since. */
  declined: number
  /** Would have alerted on their past. */
  noisy: number
  statementsPerDay: number
  /** Those of them that check freshness. */
  freshnessStatementsPerDay: number
  rowsPerDay: number
}

/** A recommended rule that no row breaks, as the latest profile shows, and that there is not. */
export interface KeptRule {
  tableId: string
  /** The type of rule: `NOT_NULL`. */
  type: CheckTypeName
  column: string | null
  config: Record<string, unknown>
}

/** What recommendations offer other features, as `server.plugins.recommendations`. */
export interface RecommendationsApi {
  /** Creates the recommended checks that are wanted, offered and missing. What a person declined is not created again. */
  apply(trx: Transaction, request: ApplyRequest): Promise<AppliedRecommendations>
  /** The rules that the rows of tables keep and nothing checks. What a person declined is left out. */
  listKept(trx: Transaction, source: Source, tableIds: readonly string[]): Promise<KeptRule[]>
  /** Whether a level includes a recommendation. */
  isAtLevel(level: WatchLevel, recommendation: ChoosableRecommendation): boolean
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    recommendations: RecommendationsApi
  }
}
