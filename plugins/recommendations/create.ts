import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'
import type { MissingChecks } from '../checks/api.ts'
import type { TableEvidence } from './rules/evidence.ts'
import type { IdentifiedSuggestion } from './rules/suggest.ts'
import type { RecommendationsDeps } from './deps.ts'
import { createMissing } from './missing.ts'

/** A suggestion with its table. */
export interface TableSuggestion {
  table: TableEvidence
  suggestion: IdentifiedSuggestion
}

/**
 * Creates suggested checks that are missing. The caller has locked the source.
 * @param options.isDryRun creates nothing, and returns what would be created
 * @param options.backfill whether those that learn are given the past of their tables
 * @returns the suggestions that were missing, and those that the engine or the column refuses
 */
export async function createSuggested<Suggested extends TableSuggestion>(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  suggested: readonly Suggested[],
  { isDryRun, backfill = false }: { isDryRun: boolean; backfill?: boolean },
): Promise<MissingChecks<Suggested>> {
  const planned = suggested.map(each => {
    const { table, suggestion } = each
    const { kind, type, config, settings, parent, column: name } = suggestion
    const column = table.columns.find(({ name: columnName }) => columnName === name)
    return { kind, type, config, settings, parent, table, column, suggested: each }
  })
  const { missing, refused } = await createMissing(deps, trx, { source, planned, isDryRun, backfill })
  const suggestedOf = (checks: Iterable<{ suggested: Suggested }>) =>
    new Set([...checks].map(check => check.suggested))
  return { missing: suggestedOf(missing), refused: suggestedOf(refused) }
}

/** What the checks of a table cost already. */
export interface WatchedTables {
  /** Tables that are scanned. */
  scanned: Set<string>
  /** Whether the freshness of any table of the source is checked. */
  isFreshnessChecked: boolean
}

/** Which of some tables of a source are scanned by active checks. */
export async function readWatched(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  tableIds: readonly string[],
): Promise<WatchedTables> {
  const queries = deps.catalog.coverageQueries()
  const textsOf = (...kinds: string[]) =>
    queries.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text)
  const bindings = { companyId: companyOf(trx), sourceId: source.id, tableIds }
  const ofSource = `where company_id = :companyId and source_id = :sourceId`
  const texts = { scans: textsOf('metrics', 'validity'), freshness: textsOf('freshness') }
  const scanned =
    texts.scans.length === 0
      ? []
      : await rows<{ tableId: string }>(
          trx,
          `select distinct table_id from (${texts.scans.join(' union all ')}) c ${ofSource} and table_id = any(cast(:tableIds as uuid[]))`,
          bindings,
        )
  const checked =
    texts.freshness.length === 0
      ? []
      : await rows(
          trx,
          `select 1 as one from (${texts.freshness.join(' union all ')}) c ${ofSource} limit 1`,
          bindings,
        )
  return {
    scanned: new Set(scanned.map(({ tableId }) => tableId)),
    isFreshnessChecked: checked.length > 0,
  }
}
