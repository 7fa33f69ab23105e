import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'
import type { MissingCheckTarget } from '../scans/api.ts'
import type { TableEvidence } from './rules/evidence.ts'
import type { IdentifiedSuggestion } from './rules/suggest.ts'
import type { RecommendationsDeps } from './deps.ts'

/** A suggestion with its table. */
export interface TableSuggestion {
  table: TableEvidence
  suggestion: IdentifiedSuggestion
}

/** All recommended checks run together, so that a table is scanned once for them. */
const CHECK_INTERVAL = 'daily'

/** Where suggested checks are missing, and where their type is refused. */
export interface MissingSuggestions {
  missing: Set<string>
  refused: Set<string>
}

/**
 * Creates suggested checks that are missing, by the same functions as requests for many tables. The caller has locked the
 * source. A column with a check of the type, active or not, lacks none.
 * @param isDryRun creates nothing, and returns what would be created
 * @returns the ids of the suggestions that were missing, and of those that the engine or the column refuses
 */
export async function createSuggested(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  suggested: readonly TableSuggestion[],
  isDryRun: boolean,
): Promise<MissingSuggestions> {
  const found: MissingSuggestions = { missing: new Set(), refused: new Set() }
  const { metrics, validity } = deps
  const groups = Map.groupBy(suggested, ({ suggestion: { type, settings } }) =>
    JSON.stringify([type, settings]),
  )
  for (const group of groups.values()) {
    const { kind, type, settings } = group[0]!.suggestion
    if (kind === 'freshness') await scheduleMissing(deps, trx, { source, group, isDryRun }, found)
    else if (kind === 'referential') await referMissing(deps, trx, { source, group, isDryRun }, found)
    else {
      const ids = new Map<MissingCheckTarget, string>(
        group.map(({ table, suggestion }) => [targetOf(table, suggestion), suggestion.id]),
      )
      const feature = kind === 'metric' ? metrics : validity
      const { created, unsuited } = await feature.createMissing(trx, {
        source,
        type,
        fields: settings,
        interval: CHECK_INTERVAL,
        targets: [...ids.keys()],
        isDryRun,
      })
      for (const target of created) found.missing.add(ids.get(target)!)
      for (const target of unsuited) found.refused.add(ids.get(target)!)
    }
  }
  return found
}

function targetOf(table: TableEvidence, { column: name, config }: IdentifiedSuggestion): MissingCheckTarget {
  const column = table.columns.find(each => each.name === name)
  return { table, ...(column && { column }), config }
}

interface SuggestionGroup {
  source: Source
  group: readonly TableSuggestion[]
  isDryRun: boolean
}

async function scheduleMissing(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, group, isDryRun }: SuggestionGroup,
  { missing }: MissingSuggestions,
): Promise<void> {
  const unscheduled = group.filter(({ table }) => table.freshness?.isScheduled === false)
  for (const { suggestion } of unscheduled) missing.add(suggestion.id)
  if (isDryRun || unscheduled.length === 0) return
  await deps.freshness.createSchedules(trx, {
    asset_id: source.id,
    include_patterns: [],
    exclude_patterns: [],
    only_with_signal: true,
    dry_run: false,
    is_active: true,
    table_ids: new Set(unscheduled.map(({ table }) => table.id)),
    columns: new Map(
      unscheduled.flatMap(({ table, suggestion: { column } }) =>
        column === null ? [] : [[table.id, column]],
      ),
    ),
  })
}

async function referMissing(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, group, isDryRun }: SuggestionGroup,
  { missing }: MissingSuggestions,
): Promise<void> {
  const ids = new Map(
    group.map(({ table, suggestion: { id, column, parent } }) => [
      {
        child: { id: table.id, name: table.name, column: column! },
        parent: { id: parent!.tableId, name: parent!.table.name, column: parent!.column },
      },
      id,
    ]),
  )
  const references = [...ids.keys()]
  const request = { source, interval: CHECK_INTERVAL, references, isDryRun } as const
  for (const reference of await deps.referential.createMissing(trx, request)) missing.add(ids.get(reference)!)
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
  const of = `where company_id = :companyId and source_id = :sourceId`
  const texts = { scans: textsOf('metrics', 'validity'), freshness: textsOf('freshness') }
  const scanned =
    texts.scans.length === 0
      ? []
      : await rows<{ tableId: string }>(
          trx,
          `select distinct table_id from (${texts.scans.join(' union all ')}) c ${of} and table_id = any(cast(:tableIds as uuid[]))`,
          bindings,
        )
  const checked =
    texts.freshness.length === 0
      ? []
      : await rows(
          trx,
          `select 1 as one from (${texts.freshness.join(' union all ')}) c ${of} limit 1`,
          bindings,
        )
  return {
    scanned: new Set(scanned.map(({ tableId }) => tableId)),
    isFreshnessChecked: checked.length > 0,
  }
}
