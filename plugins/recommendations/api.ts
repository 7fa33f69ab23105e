import type { Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'
import type { CheckTypeName } from './rules/evidence.ts'

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
  /** The rules that the rows of tables keep and nothing checks. What a person declined is left out. */
  listKept(trx: Transaction, source: Source, tableIds: readonly string[]): Promise<KeptRule[]>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    recommendations: RecommendationsApi
  }
}
