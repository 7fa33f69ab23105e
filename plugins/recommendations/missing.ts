/** The one way in which recommendations and watching create checks: those that tables and columns lack. */
import type { SuitedColumn } from '../../checks/suited-columns.ts'
import type { Transaction } from '../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../server/database/due.ts'
import type { Source } from '../catalog/api.ts'
import type { MissingCheckTarget } from '../checks/api.ts'
import type { RecommendationsDeps } from './deps.ts'
import type { CheckTypeName, Suggestion } from './rules/evidence.ts'

/** All checks that are created here run together, so that a table is scanned once for them. */
const CHECK_INTERVAL = 'daily'
export const RUNS_PER_DAY = INTERVAL_SECONDS['1d'] / INTERVAL_SECONDS[CHECK_INTERVAL]

/** A check that a table, or a column of it, is to have unless it has one of the type, active or not. */
export interface LackingCheck extends Partial<Pick<Suggestion, 'config' | 'settings' | 'parent'>> {
  kind: Suggestion['kind']
  type: CheckTypeName
  /** A schedule is created where it is known that there is none. */
  table: MissingCheckTarget['table'] & { freshness?: { isScheduled: boolean } }
  column?: SuitedColumn | undefined
}

interface MissingRequest<Wanted extends LackingCheck> {
  source: Source
  wanted: readonly Wanted[]
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
}

/** Which wanted checks were missing, and which the engine or the column refuses; the others were there. */
export interface MissingResult<Wanted> {
  missing: Set<Wanted>
  refused: Set<Wanted>
}

/** Creates checks that are missing. The caller has locked the source. */
export async function createMissing<Wanted extends LackingCheck>(
  deps: RecommendationsDeps,
  trx: Transaction,
  { source, wanted, isDryRun }: MissingRequest<Wanted>,
): Promise<MissingResult<Wanted>> {
  const missing = new Set<Wanted>()
  const refused = new Set<Wanted>()
  const groups = Map.groupBy(wanted, ({ type, settings = {} }) => JSON.stringify([type, settings]))
  for (const group of groups.values()) {
    const { kind, type, settings: fields } = group[0]!
    const request = { source, wanted: group, isDryRun }
    if (kind === 'freshness')
      for (const check of await createSchedules(deps, trx, request)) missing.add(check)
    else if (kind === 'referential')
      for (const check of await createReferences(deps, trx, request)) missing.add(check)
    else {
      const byTarget = new Map<MissingCheckTarget, Wanted>(
        group.map(check => [{ table: check.table, column: check.column, config: check.config }, check]),
      )
      const targets = [...byTarget.keys()]
      const made = await deps[kind === 'metric' ? 'metrics' : 'validity'].createMissing(trx, {
        source,
        type,
        fields,
        interval: CHECK_INTERVAL,
        targets,
        isDryRun,
      })
      for (const target of made.created) missing.add(byTarget.get(target)!)
      for (const target of made.unsuited) refused.add(byTarget.get(target)!)
    }
  }
  return { missing, refused }
}

async function createSchedules<Wanted extends LackingCheck>(
  { freshness }: RecommendationsDeps,
  trx: Transaction,
  { source, wanted, isDryRun }: MissingRequest<Wanted>,
): Promise<Wanted[]> {
  const missing = wanted.filter(({ table }) => table.freshness?.isScheduled === false)
  if (isDryRun || missing.length === 0) return missing
  await freshness.createSchedules(trx, {
    asset_id: source.id,
    include_patterns: [],
    exclude_patterns: [],
    only_with_signal: true,
    dry_run: false,
    is_active: true,
    table_ids: new Set(missing.map(({ table }) => table.id)),
    columns: new Map(missing.flatMap(({ table, column }) => (column ? [[table.id, column.name]] : []))),
  })
  return missing
}

async function createReferences<Wanted extends LackingCheck>(
  { referential }: RecommendationsDeps,
  trx: Transaction,
  { source, wanted, isDryRun }: MissingRequest<Wanted>,
): Promise<Wanted[]> {
  const byReference = new Map(
    wanted.map(check => {
      const { table, column, parent } = check
      const reference = {
        child: { id: table.id, name: table.name, column: column!.name },
        parent: { id: parent!.tableId, name: parent!.table.name, column: parent!.column },
      }
      return [reference, check]
    }),
  )
  const references = [...byReference.keys()]
  const missing = await referential.createMissing(trx, {
    source,
    interval: CHECK_INTERVAL,
    references,
    isDryRun,
  })
  return missing.map(reference => byReference.get(reference)!)
}
