/** Rows that belong to a source or one of its tables, and that the API finds by public id or number. */
import type { Model, QueryBuilder } from 'objection'
import { companyOf, rows, type CompanyRow, type Transaction } from './database.ts'

/** Limits a query of `model` to an asset: a source, or one of its tables. */
export function whereAsset<Row extends Model>(
  query: QueryBuilder<Row, Row[]>,
  model: typeof CompanyRow,
  { source, table }: { source: { id: string }; table?: { id: string } },
): QueryBuilder<Row, Row[]> {
  return table
    ? query.where(`${model.tableName}.tableId`, table.id)
    : query.where(`${model.tableName}.sourceId`, source.id)
}

/** Number of rows of an asset, and of the active ones by their last status. */
interface StatusTotals {
  total: number
  active: number
  pass: number
  warning: number
  fail: number
  error: number
}

/**
 * Counts the checks of an asset by their last status.
 * @param status the column that holds it, in any case
 * @param more columns of the same statement; it has `:companyId`, `:sourceId` and `:tableId`
 */
export async function countByStatus<More extends object>(
  trx: Transaction,
  { tableName }: typeof CompanyRow,
  status: string,
  { source, table }: { source: { id: string }; table?: { id: string } },
  more: string[] = [],
): Promise<StatusTotals & More> {
  const counts = ['pass', 'warning', 'fail', 'error'].map(
    word => `count(*) filter (where is_active and lower(${status}) = '${word}')::int as ${word}`,
  )
  const columns = [
    'count(*)::int as total',
    'count(*) filter (where is_active)::int as active',
    ...counts,
    ...more,
  ]
  const [counted] = await rows<StatusTotals & More>(
    trx,
    `select ${columns.join(', ')} from ${tableName} where ${IS_OF_ASSET}`,
    { companyId: companyOf(trx), sourceId: source.id, tableId: table?.id ?? null },
  )
  return counted!
}

/** Whether a row belongs to an asset; bindings as in `countByStatus`. */
export const IS_OF_ASSET = `company_id = :companyId and source_id = :sourceId
  and (cast(:tableId as uuid) is null or table_id = :tableId)`

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/**
 * Finds a row by `<prefix><uuid>` or by its number; undefined when `id` is neither, or there is no such row.
 * @param columns that hold the UUID and the number, with their table
 */
export async function findByPublicId<Row extends Model>(
  query: QueryBuilder<Row, Row[]>,
  columns: { uuid: string; number: string; prefix?: string },
  id: string,
): Promise<Row | undefined> {
  const [, uuid] = new RegExp(`^${columns.prefix ?? ''}(${UUID})$`, 'i').exec(id) ?? []
  if (uuid !== undefined) return query.findOne(columns.uuid, uuid.toLowerCase())
  return /^\d{1,15}$/.test(id) ? query.findOne(columns.number, id) : undefined
}
