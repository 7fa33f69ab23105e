import { formatName, parseName, type TableInfo } from '../../../connectors/catalog.ts'
import {
  companyOf,
  rows,
  type Found,
  type Readings,
  type Transaction,
} from '../../../server/database/database.ts'
import { caller, type AnyRequest } from '../../../server/http/access.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import { didYouMean, quoteName } from '../../../server/http/nearest.ts'
import { Source, Table } from '../models.ts'
import { nearTables } from '../discovery/near-tables.ts'
import { nearAssets } from './near-assets.ts'

/** An id of an asset or a tag, as against a name. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An asset of either level. */
export interface Asset {
  source: Source
  table?: Table
}

/**
 * A source, or a table with its source, by UUID or qualified name.
 * @throws 404 `ASSET_NOT_FOUND`, the same for what never was and what is another company's
 */
export async function findAsset(trx: Transaction, assetId: string): Promise<Asset> {
  const isId = UUID.test(assetId)
  const asset = isId ? await byId(trx, assetId.toLowerCase()) : await byName(trx, assetId)
  if (asset) return asset
  throw assetNotFound(assetId, isId ? [] : await nearAssets(trx, assetId))
}

/**
 * Reads what of the caller's company belongs to an asset of either level, of which its UUID or qualified name is known: by UUID all at
 * once, and then whether it is there at all where nothing was found.
 * @param readings find no rows where nothing belongs to it
 * @throws 404 `ASSET_NOT_FOUND`
 */
export async function readByAsset<T extends object[]>(
  request: AnyRequest,
  assetId: string,
  readings: (id: string) => Readings<T>,
): Promise<Found<T>> {
  const { db } = request.server
  const { companyId } = caller(request)
  const id = UUID.test(assetId)
    ? assetId.toLowerCase()
    : await db.company(companyId, trx => assetIdOf(trx, assetId))
  const answers = await db.read(companyId, readings(id))
  // What something belongs to is there.
  if (answers.some(rows => rows.length > 0)) return answers
  const exists = { name: 'asset', text: EXISTS, bindings: { company_id: companyId, id } }
  const [existing] = await db.read<[object]>(companyId, [exists])
  if (existing.length === 0) throw assetNotFound(assetId)
  return answers
}

const EXISTS = `
  select 1 from tables where company_id = :company_id and id = :id
  union all select 1 from sources where company_id = :company_id and id = :id`

/**
 * The UUID of an asset by its UUID or qualified name. What a UUID names may be gone: what was recorded of it is kept.
 * @throws 404 `ASSET_NOT_FOUND` for a name that no asset has
 */
export async function assetIdOf(trx: Transaction, assetId: string): Promise<string> {
  if (UUID.test(assetId)) return assetId.toLowerCase()
  const { source, table } = await findAsset(trx, assetId)
  return (table ?? source).id
}

function assetNotFound(assetId: string, candidates: readonly string[] = []): Error {
  const message = `There is no such asset, or it is not yours${didYouMean(candidates)}`
  return apiError('ASSET_NOT_FOUND', message, {
    asset_id: assetId,
    ...(candidates.length > 0 && { candidates }),
    suggestion:
      'Use the UUID, or the qualified name <source>.<database>.<schema>.<table>; double-quote parts with dots',
  })
}

/** Which of some UUIDs are assets, of either level. */
export async function knownAssets(trx: Transaction, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const assets = await rows<{ id: string }>(
    trx,
    `select id from sources where company_id = :companyId and id = any(cast(:ids as uuid[]))
     union all select id from tables where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return assets.map(({ id }) => id)
}

/** Asks for both levels at once: whichever it is, it is known after one wait. */
async function byId(trx: Transaction, id: string): Promise<Asset | undefined> {
  const [source, table] = await Promise.all([
    Source.query(trx)
      .where(either => {
        void either.where('id', id).orWhere('id', Table.query(trx).findById(id).select('sourceId'))
      })
      .first(),
    Table.query(trx).findById(id),
  ])
  if (source?.id === id) return { source }
  return source && table && { source, table }
}

async function byName(trx: Transaction, name: string): Promise<Asset | undefined> {
  const parts = parseName(name)
  if (parts?.length === 1) {
    const source = await Source.query(trx).findOne('name', parts[0] ?? '')
    if (source) return { source }
  }
  const table = await Table.query(trx).where('qualifiedName', name).orderBy('isActive', 'desc').first()
  return withSource(trx, table)
}

async function withSource(trx: Transaction, table: Table | undefined): Promise<Asset | undefined> {
  const source = table && (await Source.query(trx).findById(table.sourceId))
  return source && table ? { source, table } : undefined
}

/**
 * A table of an asset by `catalog.schema.table`; `schema.table` and `table` will do when they name one. Within an
 * asset that is a table, only that table.
 * @throws 400 `VALIDATION_ERROR` on `table_path`, with the candidates: those that it names, else those that are near
 */
export async function findTable(trx: Transaction, asset: Asset, path: string): Promise<Table> {
  const { source } = asset
  const parts = parseName(path)
  if (!parts || parts.length > 3) {
    throw invalidField(
      'table_path',
      'must be catalog.schema.table, with parts that hold dots in double quotes',
    )
  }
  const [name = '', schema, catalog] = parts.toReversed()
  const matches = await Table.query(trx)
    .where({
      sourceId: source.id,
      isActive: true,
      name,
      ...(schema !== undefined && { schemaName: schema }),
      ...(catalog !== undefined && { catalogName: catalog }),
    })
    .orderBy('qualifiedName')
    .limit(20)
  const [table] = matches
  if (!table) {
    const candidates = await nearTables(trx, source, name)
    const error = describeMissingTable(source, path, candidates)
    throw invalidInput([{ field: 'table_path', error, ...(candidates.length > 0 && { candidates }) }])
  }
  if (matches.length > 1) {
    const candidates = matches.map(({ qualifiedName }) => qualifiedName)
    const error = `table_path ${quoteName(path)} names several tables: write catalog.schema.table`
    throw invalidInput([{ field: 'table_path', error, candidates }])
  }
  if (asset.table && asset.table.id !== table.id) {
    throw invalidField('table_path', `is another table than the asset, ${asset.table.qualifiedName}`)
  }
  return table
}

/** The sentence for a table that is not in the catalog. @param candidates tables that are near */
export function describeMissingTable(
  { name, lastDiscoveryAt }: Pick<Source, 'name' | 'lastDiscoveryAt'>,
  path: string,
  candidates: readonly string[] = [],
): string {
  const hint =
    candidates.length > 0
      ? didYouMean(candidates)
      : lastDiscoveryAt
        ? ': check the spelling, or run a discovery'
        : ': run a discovery first'
  return `there is no table ${quoteName(path)} in the source ${formatName([name])}${hint}`
}

/** The tags that concern some columns of a table, or none of them: theirs, the table's and the source's, sorted. */
export function tagsOfColumns(
  source: Pick<Source, 'tags'>,
  table: Pick<Table, 'tags' | 'columnTags'>,
  columns: readonly (string | null | undefined)[] = [],
): string[] {
  const theirs = columns.flatMap(name => (name == null ? [] : tagsOf(table, name)))
  return [...new Set([...source.tags, ...table.tags, ...theirs])].sort()
}

/** The tags of a column, which may be called anything, `constructor` too. */
export function tagsOf({ columnTags }: Pick<Table, 'columnTags'>, column: string): readonly string[] {
  return Object.hasOwn(columnTags, column) ? (columnTags[column] ?? []) : []
}

/** A stored table as connectors and checks see it. */
export function tableInfo(table: Table): TableInfo {
  return {
    catalog: table.catalogName,
    schema: table.schemaName,
    name: table.name,
    kind: table.kind,
    comment: table.comment,
    columns: table.columns,
    constraints: table.constraints,
    ...(table.identity !== null && { identity: table.identity }),
    ...(table.estimatedRows !== null && { estimatedRows: Number(table.estimatedRows) }),
    ...(table.partitioning && { partitioning: table.partitioning }),
  }
}
