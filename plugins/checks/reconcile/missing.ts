/** The mode of the reconciler that only adds: checks that tables, or columns of them, lack. */
import type { SuitedColumn } from '../../../checks/suited-columns.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { TableWindow } from '../../../server/http/check-schemas.ts'
import type { Source } from '../../catalog/api.ts'
import { findSuitabilityRefusal } from '../create/configure.ts'
import type { CheckFields, CheckSubject, DeclaredChecks, CheckedTable } from '../declared/declared-checks.ts'
import type { CheckDeps } from '../deps.ts'
import { subjectOf } from './same-check.ts'
import type { WantedCheck } from './wanted-check.ts'

/** A check that a table is to have, unless it has one of the type there already, active or not. Groups are other checks. */
export interface LackedCheck extends Pick<WantedCheck, 'kind'> {
  table: CheckedTable
  /** Those of the body that creates it, without its table; the column and the config are taken as they are. */
  fields: CheckFields
  /** The column, where the type may not suit it. */
  column?: SuitedColumn | undefined
  /** The second table of a check of two. */
  otherTable?: CheckedTable
}

/** What tables are to have. */
export interface MissingRequest<Wanted extends LackedCheck> {
  source: Source
  wanted: readonly Wanted[]
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
  /** Days of the past that those that learn wait for, where their table has a column with times; null for none. */
  backfillDays?: number | null
}

/** Which wanted checks were missing, and which the engine or the column refuses; the others were there. */
export interface MissingChecks<Wanted> {
  missing: Set<Wanted>
  refused: Set<Wanted>
}

/** Creates the checks that are missing, by statements of many. The caller has locked the source. */
export async function addMissing<Wanted extends LackedCheck>(
  { catalog, types }: Pick<CheckDeps, 'catalog' | 'types'>,
  kinds: readonly DeclaredChecks[],
  trx: Transaction,
  { source, wanted, isDryRun, backfillDays = null }: MissingRequest<Wanted>,
): Promise<MissingChecks<Wanted>> {
  const subjects = new Map(wanted.map(check => [check, wantedSubject(check)]))
  const windows = await catalog.automaticWindows(trx, [...new Set(wanted.map(({ table }) => table.id))])
  const isRefused = (check: Wanted) => {
    const { type } = subjects.get(check)!
    // Types of no registry, such as that of references, suit all columns.
    return types.has(type) && findSuitabilityRefusal(catalog, types.get(type), source, check.column) !== null
  }
  const { refused = [], suited = [] } = Object.groupBy(wanted, check =>
    isRefused(check) ? 'refused' : 'suited',
  )
  const existing = await findExisting(trx, source, [...subjects.values()])
  const isThere = (check: Wanted) => {
    const { whole, windowed } = existing
    const key = keyOf(check.kind, subjects.get(check)!)
    // A check of all rows serves where one of a window is wanted, but not the other way round.
    return whole.has(key) || (windows.has(check.table.id) && windowed.has(key))
  }
  const missing = suited.filter(check => !isThere(check))
  if (!isDryRun)
    for (const [kind, some] of Map.groupBy(missing, check => check.kind)) {
      const { complete, insertAll } = kinds.find(declared => declared.kind === kind)!.lacking!
      const toStore = some.map(({ table, fields, otherTable }) => ({
        table: { source, table },
        fields: complete(table, withTableWindow(kind, fields, windows.get(table.id)), otherTable),
        ...(otherTable && { otherTable }),
      }))
      await insertAll(trx, toStore, backfillDays)
    }
  return { missing: new Set(missing), refused: new Set(refused) }
}

/** Kinds whose checks take a window. */
const WINDOWED_KINDS: ReadonlySet<string> = new Set(['validity', 'metric'])

function withTableWindow(kind: string, fields: CheckFields, window: TableWindow | undefined): CheckFields {
  const isStated = fields.window !== undefined || fields.time_column !== undefined
  return window && WINDOWED_KINDS.has(kind) && !isStated ? { ...fields, ...window } : fields
}

function wantedSubject({ kind, table, fields }: LackedCheck): CheckSubject {
  return subjectOf({ kind, tableId: table.id, fields })!
}

function keyOf(kind: string, { tableId, type, column }: CheckSubject): string {
  return JSON.stringify([tableId, kind, type, column])
}

/** What the checks of some tables are about, of those types. */
async function findExisting(
  trx: Transaction,
  source: Source,
  subjects: readonly CheckSubject[],
): Promise<Record<'whole' | 'windowed', Set<string>>> {
  if (subjects.length === 0) return { whole: new Set(), windowed: new Set() }
  const existing = await rows<CheckSubject & { kind: string; isWindowed: boolean }>(
    trx,
    `select table_id, kind, type, column_name as column, window_size is not null as is_windowed from checks
     where company_id = :companyId and source_id = :sourceId and group_by_columns = '{}'
       and filter is null and settings ->> 'rightFilter' is null
       and table_id = any(cast(:tableIds as uuid[])) and type = any(cast(:types as text[]))`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      tableIds: [...new Set(subjects.map(({ tableId }) => tableId))],
      types: [...new Set(subjects.map(({ type }) => type))],
    },
  )
  const keysOf = (isWindowed: boolean) =>
    new Set(
      existing.flatMap(({ kind, isWindowed: is, ...subject }) =>
        is === isWindowed ? [keyOf(kind, subject)] : [],
      ),
    )
  return { whole: keysOf(false), windowed: keysOf(true) }
}
