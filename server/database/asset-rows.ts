/** Rows that belong to a source or one of its tables, and that the API finds by public id or number. */
import type { Model, QueryBuilder } from 'objection'
import type { CompanyRow } from './database.ts'

/** Limits a query of `model` to an asset: a source, or one of its tables. */
export function whereAsset<Row extends Model>(
  query: QueryBuilder<Row, Row[]>,
  model: Pick<typeof CompanyRow, 'tableName'>,
  { source, table }: { source: { id: string }; table?: { id: string } },
): QueryBuilder<Row, Row[]> {
  return table
    ? query.where(`${model.tableName}.tableId`, table.id)
    : query.where(`${model.tableName}.sourceId`, source.id)
}

/** Whether a row belongs to an asset; bindings `:companyId`, `:sourceId` and `:tableId`, which may be null. */
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
