/** Which checks of a whole table follow from the numbers of its parts. */
import { createHash } from 'node:crypto'
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { Sql } from '../../connectors/sql.ts'
import type { Check, Rollup } from '../check.ts'
import { aggregateOf, companionsOf, rollupsOf, type RolledColumns } from '../history/rollups.ts'
import { rowCount } from '../measures.ts'
import { planChecks, type Engine, type PlannedCheck } from '../plan.ts'
import { findFilterProblem, readFilter } from '../rows/filter.ts'

/** A check whose numbers of all rows follow from those of each part. */
export interface MergedCheck {
  item: PlannedCheck
  /** The key of how many rows it is about. */
  total: string
  /** By the names of its measures; columns are keys. */
  measures: Record<string, RolledColumns>
}

/** What is measured of each part, by keys that are equal for equal SQL. */
export type PartMeasures = Map<string, Sql>

const MERGING: ReadonlySet<Rollup> = new Set(['count', 'sum', 'min', 'max', 'mean', 'standard_deviation'])

/** Raised when numbers that were kept are no longer those that are measured, though the SQL is the same. */
const STATE_VERSION = 1

/** Identifies a number of a part in what is kept of it. */
function keyOf(sql: Sql): string {
  return createHash('sha256').update(`${STATE_VERSION} ${sql.key}`).digest('base64url').slice(0, 22)
}

/** Changes with the columns of a table: what is kept of its parts is void then, though their versions may be the same. */
export function fingerprintOf({ columns }: Pick<TableInfo, 'columns'>): string {
  const all = columns.map(({ name, type, rawType, base, kind }) => [name, type, rawType, base, kind])
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, 22)
}

/**
 * Whether the numbers of a check depend on nothing but the rows, as far as its type, its column and its filter say. Those of
 * a column whose type users may change, such as an enumeration, do not.
 */
export async function isMergeable(
  { type, column, filter, groupBy = [], window }: Omit<Check, 'id'>,
  table: TableInfo,
  dialect: Dialect,
): Promise<boolean> {
  if (!type.mergesParts || type.userSql || type.ownStatement || groupBy.length > 0 || window) return false
  const info = column === undefined ? undefined : table.columns.find(({ name }) => name === column)
  if (info?.kind === 'other') return false
  if (filter === undefined) return true
  if ((await findFilterProblem(filter, { dialect, table })) !== null) return false
  const { columns, isTimeless } = readFilter(filter, { dialect, table }).text
  const isPlain = (name: string) =>
    table.columns.some(each => each.name.toLowerCase() === name.toLowerCase() && each.kind !== 'other')
  return isTimeless && columns.every(isPlain)
}

/** Writes the checks whose measures all merge, and what these need of each part. */
export async function planMerged(
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
): Promise<{ merged: MergedCheck[]; measures: PartMeasures }> {
  const candidates: Check[] = []
  for (const check of checks) if (await isMergeable(check, table, engine.dialect)) candidates.push(check)
  // Always in the aggregates, so that what is kept does not depend on which other checks there are.
  const modes = new Map(candidates.map(({ id }) => [id, 'aggregates'] as const))
  const { planned } = await planChecks(engine, table, candidates, modes)
  const measures: PartMeasures = new Map([[ROWS_KEY, rowCount]])
  const add = (sql: Sql) => {
    const key = keyOf(sql)
    measures.set(key, sql)
    return key
  }
  const merged = planned.filter(isMerging).map((item): MergedCheck => {
    const rolled = Object.entries(rollupsOf(item.check.type, item)).map(([name, rollup]) => {
      const { weight, mean } = companionsOf(item, rollup)
      const columns: RolledColumns = {
        rollup,
        column: add(aggregateOf(item, name)),
        ...(weight && { weight: add(weight) }),
        ...(mean && { mean: add(mean) }),
      }
      return [name, columns] as const
    })
    return { item, total: add(item.rowCount ?? rowCount), measures: Object.fromEntries(rolled) }
  })
  return { merged, measures }
}

/** The key of how many rows a part has. */
export const ROWS_KEY = keyOf(rowCount)

function isMerging(item: PlannedCheck): boolean {
  const rollups = rollupsOf(item.check.type, item)
  return Object.entries(item.measures).every(([name, measure]) => {
    const rollup = rollups[name]
    return measure instanceof Sql && rollup !== undefined && MERGING.has(rollup)
  })
}
