import type { SuitedColumn } from '../../../checks/suited-columns.ts'
import type { Source } from '../../catalog/api.ts'

/** A table, or a column of it, that is to have a check. */
export interface MissingCheckTarget {
  table: { id: string; name: string }
  column?: SuitedColumn
  /** The config of its type; defaults to an empty one. It is not validated on the engine. */
  config?: Record<string, unknown>
}

/** Checks of one type to create where there are none. The caller has locked the source, so that none is created twice. */
export interface MissingCheckRequest {
  source: Source
  type: string
  /** Fields of the checks that are not the defaults of a new one, by their names in the API. */
  fields?: Record<string, unknown>
  interval: 'hourly' | 'daily' | 'weekly'
  targets: readonly MissingCheckTarget[]
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
}

export interface MissingCheckResult {
  created: MissingCheckTarget[]
  /** Targets that had a check of the type, active or not. */
  existing: number
  /** Targets that a check of the type is refused for. */
  unsuited: MissingCheckTarget[]
}

/** How a feature finds and stores checks of the type of a request. */
export interface MissingCheckStore {
  find(tableIds: readonly string[]): PromiseLike<{ tableId: string; columnName: string | null }[]>
  insert(targets: readonly MissingCheckTarget[]): Promise<unknown>
}
