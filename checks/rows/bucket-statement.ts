/** One statement for all buckets of the checks of a part, and what it says of each bucket. */
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql } from '../../connectors/sql.ts'
import type { CheckOutcome } from '../check.ts'
import { toNumber } from '../measures.ts'
import { readOutcome } from '../outcomes.ts'
import type { Engine, PlannedCheck } from '../plan.ts'
import { MAX_GROUPS, TOTAL_COLUMN, writeStatement, type ScanStatement } from '../statement.ts'
import { bucketCondition, bucketNumber } from './bucket-conditions.ts'
import type { Bucket } from './buckets.ts'
import type { ScanPart } from './part.ts'

/** The statement of a part: of all its rows, or by buckets. */
export interface PartStatement extends ScanStatement {
  /** The statement of each bucket, of checks that have a SELECT for each. */
  branches?: ScanStatement[]
}

/** The output column with the number of a bucket. */
const BUCKET_COLUMN = 'b'
/** In its place, the measures of no rows: what a bucket without rows has. */
const NO_ROWS = -1

/**
 * Writes the SELECT of a part. With a window, the rows of all buckets are read once and grouped by bucket; beside them
 * stand the measures of no rows, which cost nothing. Measures that are no aggregates have a SELECT for each bucket, all in
 * one statement, which together read the rows of the buckets once where the table is partitioned or indexed by its time.
 */
export function writePart(part: ScanPart, table: TableInfo, engine: Pick<Engine, 'dialect'>): PartStatement {
  const { window, checks } = part
  if (!window) return writeStatement(part, table, engine)
  const { dialect } = engine
  const { column, buckets } = window
  if (checks.some(({ branches }) => branches)) return writeBranches(part, buckets, table, engine)
  const [first, last] = [buckets[0]!, buckets.at(-1)!]
  const range = bucketCondition(column, { from: first.from, to: last.to }, dialect)
  // A single bucket needs no number: all rows that are read are its own.
  if (buckets.length === 1) return writeStatement(part, table, engine, { range })
  const number = [[BUCKET_COLUMN, bucketNumber(column, buckets, dialect)]] as const
  const bucketCount = buckets.length
  const grouped = writeStatement(part, table, engine, { range, buckets: number, bucketCount })
  if (part.groupBy.length > 0 || checks.some(isRanked)) return grouped
  // The range alone would have a table read again that neither partitions nor an index serve.
  const nothing = sql`1 = 0 and ${bucketCondition(column, { from: first.from, to: first.from }, dialect)}`
  const empty = writeStatement(part, table, engine, { range: nothing })
  const named = sql`select ${raw(String(NO_ROWS))} as ${dialect.quote(BUCKET_COLUMN)}, e.* from (${empty.select}) e`
  return { select: sql`${grouped.select} union all ${named}`, columns: grouped.columns }
}

function writeBranches(
  part: ScanPart,
  buckets: readonly Bucket[],
  table: TableInfo,
  engine: Pick<Engine, 'dialect'>,
): PartStatement {
  const branches = buckets.map((_, place) =>
    writeStatement(
      { checks: part.checks.map(({ branches: own = [] }) => own[place]!), groupBy: [] },
      table,
      engine,
    ),
  )
  const name = engine.dialect.quote(BUCKET_COLUMN)
  const selects = branches.map(
    ({ select }, place) => sql`select ${raw(String(place))} as ${name}, q.* from (${select}) q`,
  )
  return { select: join(selects, ' union all '), columns: new Map(), branches }
}

/** Whether a check is a percentile by ranks: beside it, other measures of no rows are zero. */
function isRanked({ measures }: PlannedCheck): boolean {
  return Object.values(measures).some(measure => 'fraction' in measure)
}

/** The outcome of one check from the rows of its SELECT; of a check with a window, of each of its buckets. */
export function readPartOutcome(
  item: PlannedCheck,
  part: ScanPart,
  statement: PartStatement,
  rows: Row[],
  durationMs: number,
): CheckOutcome {
  const { id, window } = item.check
  if (!window) return readOutcome(item, part, statement, rows, durationMs)
  const isByColumns = part.groupBy.length > 0
  if (isByColumns && rows.length > part.window!.buckets.length * MAX_GROUPS) {
    const message = `group_by makes more than ${MAX_GROUPS.toLocaleString('en')} groups in a bucket: group by columns with fewer values.`
    return { id, status: 'error', kind: 'too-many-groups', message, durationMs }
  }
  const isSingle = part.window!.buckets.length === 1
  const places = new Map(part.window!.buckets.map(({ from }, place) => [from, place]))
  const byPlace = Map.groupBy(rows, row => toNumber(row[BUCKET_COLUMN]) ?? NO_ROWS)
  const empty = isByColumns ? [] : (byPlace.get(NO_ROWS) ?? [zeros(statement)])
  const buckets = window.buckets.map((bucket, place) => {
    const number = places.get(bucket.from)!
    const branch = item.branches?.[place]
    const own = isSingle && !branch ? rows : (byPlace.get(number) ?? empty)
    const outcome = branch
      ? readOutcome(branch, { checks: [branch], groupBy: [] }, statement.branches![number]!, own, durationMs)
      : readOutcome(item, part, statement, own, durationMs)
    return { bucket, outcome }
  })
  // Buckets fail alone, so that one value that is no number does not hide the others.
  const isFailed = buckets.every(({ outcome }) => outcome.status === 'error')
  return isFailed ? buckets.at(-1)!.outcome : { id, status: 'windowed', buckets, durationMs }
}

/** The measures of no rows of a statement of percentiles by ranks: no rows, and no percentile. */
function zeros({ columns }: ScanStatement): Row {
  return Object.fromEntries([...columns.values()].map(name => [name, name === TOTAL_COLUMN ? 0 : null]))
}
