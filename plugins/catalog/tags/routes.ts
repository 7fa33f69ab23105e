import type { ServerRoute } from '@hapi/hapi'
import { formatName } from '../../../connectors/catalog.ts'
import { access, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { newestFirst, pageOf, pagination } from '../../../server/http/page.ts'
import type { AssetExtension } from '../assets/asset-extensions.ts'
import type { Additions } from '../deps.ts'
import { findAsset, UUID, type Asset } from '../assets/assets.ts'
import { Tag } from '../models.ts'
import { replies } from '../assets/replies.ts'
import * as schemas from './schemas.ts'
import { subjectsAt, subjectsOf, type NamedSubject } from './subjects.ts'
import { derivePersonalColumns } from './personal-columns.ts'
import { putTags, removeTag, type RequestedTag, type TagFields, type TagSubject } from './tags.ts'

const route = routesOf('tags')

/** The routes of tags on sources, tables and columns. */
export const tagRoutes = ({ extensions }: Additions): ServerRoute[] => [
  route('POST', '/api/v1/sdk/tags', access.write, {
    description: 'Tag a source, a table or a column; 200 with the tag where it has it already',
    notes:
      'For one tag on one object. Use `apply` for several tags of one asset, `bulk-apply` for one tag on several assets.',
    validate: { payload: schemas.newTag },
    response: replies.tag,
    handler: async (request, h) => {
      const { data, isNew } = await inCompany(request, async trx => {
        const { name, asset_id: assetId } = request.payload
        const made = await create(extensions, trx, request.payload)
        if (made.isNew) await auditApplied(request, trx, { names: [name], asset_ids: [assetId], applied: 1 })
        return made
      })
      return h.response({ data }).code(isNew ? 201 : 200)
    },
  }),
  route('GET', '/api/v1/sdk/tags', access.read, {
    description: 'List tags; those of a source with those of its tables and columns',
    notes: 'Tags that people put on and those that were found by name, with their origin.',
    validate: { query: schemas.tagList },
    response: replies.tags,
    handler: request => inCompany(request, async trx => ({ data: await list(trx, request.query) })),
  }),
  route('POST', '/api/v1/sdk/tags/apply', access.write, {
    id: 'applyTags',
    description: 'Put several tags on several tables or columns of an asset',
    notes:
      'What cannot be tagged is listed in `errors`; the rest is tagged. A tag that an object has already counts as applied.',
    validate: { payload: schemas.applyTags },
    response: replies.tagsApplied,
    handler: request =>
      inCompany(request, async trx => {
        const { tag_names: names, asset_id: assetId } = request.payload
        const data = await apply(extensions, trx, request.payload)
        await auditApplied(request, trx, { names, asset_ids: [assetId], applied: data.applied })
        return { data }
      }),
  }),
  route('POST', '/api/v1/sdk/tags/bulk-apply', access.write, {
    id: 'bulkApplyTag',
    description: 'Put a tag on several sources and tables',
    notes:
      'What cannot be tagged is listed in `errors`; the rest is tagged. A tag that an asset has already counts as applied.',
    validate: { payload: schemas.bulkApplyTag },
    response: replies.tagsApplied,
    handler: request =>
      inCompany(request, async trx => {
        const { tag_name: name, asset_ids: ids } = request.payload
        const data = await bulkApply(extensions, trx, request.payload)
        await auditApplied(request, trx, { names: [name], asset_ids: ids, applied: data.applied })
        return { data }
      }),
  }),
  route('DELETE', '/api/v1/sdk/tags/{id}', access.write, {
    description: 'Take a tag off; an automatic one does not come back',
    notes: 'Use the id that `GET /api/v1/sdk/tags` lists.',
    validate: { params: schemas.tagParams },
    response: replies.tagRemoved,
    handler: request => inCompany(request, async trx => ({ data: await remove(extensions, trx, request) })),
  }),
]

/** Subjects that an entry of the audit log names; all are counted. */
const MAX_AUDITED_ASSETS = 20

async function auditApplied(
  request: AnyRequest,
  trx: Transaction,
  applied: { names: string[]; asset_ids: string[]; applied: number },
): Promise<void> {
  if (applied.applied === 0) return
  const [only, ...others] = applied.asset_ids
  const asset = only !== undefined && others.length === 0 ? await findAsset(trx, only) : undefined
  await auditRequest(request, trx, {
    action: 'tag.applied',
    target: asset && targetOf(asset.source.id, asset.table?.id),
    details: { ...applied, asset_ids: applied.asset_ids.slice(0, MAX_AUDITED_ASSETS) },
  })
}

function targetOf(sourceId: string, tableId?: string | null): { type: string; id: string } {
  return tableId ? { type: 'table', id: tableId } : { type: 'source', id: sourceId }
}

async function create(extensions: readonly AssetExtension[], trx: Transaction, body: schemas.TagRequest) {
  const { asset_id: assetId, name, object_path: path, object_type: type, category, description } = body
  const asset = await findAsset(trx, assetId)
  const [named] = path === undefined ? [wholeAsset(asset, type)] : await subjectsAt(trx, asset, [path], type)
  if (!named) throw invalidField('object_path', 'names nothing')
  if ('error' in named) {
    const { error, candidates } = named
    throw invalidInput([
      { field: 'object_path', error, ...(candidates.length > 0 && { candidates: [...candidates] }) },
    ])
  }
  const { ids, isNew } = await putTags(trx, [{ ...named, name }], {
    category,
    description: description || null,
  })
  await assertTagLimit(trx, ids)
  await derivePersonalColumns(extensions, trx, [named.sourceId])
  const [tag] = await present(trx, ids)
  if (!tag) throw new Error('A tag was put on and is not stored')
  return { data: tag, isNew }
}

function wholeAsset({ source, table }: Asset, type: 'table' | 'column'): TagSubject {
  if (type === 'table') return { sourceId: source.id, tableId: table?.id ?? null, columnName: null }
  throw invalidField(
    'object_path',
    'is required for a column: its table and its name, as in schema.table.column',
  )
}

/** What came of several tags: one that is there already counts as applied. */
interface ApplyResult {
  applied: number
  failed: number
  total: number
  errors: { object_path: string; name: string; error: string }[]
}

async function apply(
  extensions: readonly AssetExtension[],
  trx: Transaction,
  body: schemas.Application,
): Promise<ApplyResult> {
  const asset = await findAsset(trx, body.asset_id)
  const named = await subjectsAt(trx, asset, body.object_paths, body.object_type)
  return putEachTag(extensions, trx, body.tag_names, body.object_paths, named, { category: body.category })
}

async function bulkApply(
  extensions: readonly AssetExtension[],
  trx: Transaction,
  body: schemas.BulkApplication,
): Promise<ApplyResult> {
  const named = await subjectsOf(trx, body.asset_ids)
  return putEachTag(extensions, trx, [body.tag_name], body.asset_ids, named, { category: body.category })
}

/** Errors that are listed, of up to 25,000; all are counted. */
const MAX_ERRORS = 100

/** Applies tags to what was found, and returns errors for the rest. */
async function putEachTag(
  extensions: readonly AssetExtension[],
  trx: Transaction,
  names: readonly string[],
  paths: readonly string[],
  subjects: readonly NamedSubject[],
  fields: TagFields,
): Promise<ApplyResult> {
  const asked: RequestedTag[] = []
  const errors: ApplyResult['errors'] = []
  for (const [index, subject] of subjects.entries()) {
    for (const name of names) {
      if ('error' in subject) errors.push({ object_path: paths[index] ?? '', name, error: subject.error })
      else asked.push({ ...subject, name })
    }
  }
  const { ids } = await putTags(trx, asked, fields)
  await assertTagLimit(trx, ids)
  const sourceIds = asked.map(({ sourceId }) => sourceId)
  await derivePersonalColumns(extensions, trx, sourceIds)
  return {
    applied: asked.length,
    failed: errors.length,
    total: asked.length + errors.length,
    errors: errors.slice(0, MAX_ERRORS),
  }
}

/** Tags of one source, table or column; each is in every record and every list of it. */
const MAX_TAGS = 100

/** @throws 409 `CONFLICT` where what these tags are on carries too many; the transaction is undone with it */
async function assertTagLimit(trx: Transaction, ids: readonly string[]): Promise<void> {
  const [full] = await rows<{ count: number; place: (string | null)[] }>(
    trx,
    `with touched as (
       select distinct source_id, coalesce(table_id, :none) as table_id, coalesce(column_name, '') as column_name
       from tags where company_id = :companyId and id = any(cast(:ids as uuid[]))),
     full_one as (
       select t.source_id, t.table_id, t.column_name, count(*)::int as count
       from touched t join tags g on g.source_id = t.source_id and coalesce(g.table_id, :none) = t.table_id
         and coalesce(g.column_name, '') = t.column_name and g.company_id = :companyId and not g.is_refused
       group by 1, 2, 3 having count(*) > :most limit 1)
     select f.count, array[s.name, t.catalog_name, t.schema_name, t.name, nullif(f.column_name, '')] as place
     from full_one f join sources s on s.id = f.source_id and s.company_id = :companyId
     left join tables t on t.id = f.table_id and t.company_id = :companyId`,
    { companyId: companyOf(trx), ids, none: '00000000-0000-0000-0000-000000000000', most: MAX_TAGS },
  )
  if (!full) return
  const name = formatName(full.place.filter(part => part !== null))
  throw apiError(
    'CONFLICT',
    `${name} would carry ${full.count} tags, and at most ${MAX_TAGS} are possible: take some off, or name fewer`,
    { object_path: name, max_tags: MAX_TAGS },
  )
}

/** Not of a table that was removed. */
const IS_OF_ACTIVE_TABLE = `(tags.table_id is null or tags.table_id in (
  select id from tables t where t.company_id = tags.company_id and t.is_active))`

async function list(trx: Transaction, query: schemas.TagListQuery) {
  const { asset_id: assetId, category, name, origin, limit, offset } = query
  const asset = assetId === undefined ? undefined : await findAsset(trx, assetId)
  const given = {
    sourceId: asset?.source.id,
    tableId: asset?.table?.id,
    category,
    name: name?.normalize('NFC'),
    origin,
  }
  const found = Tag.query(trx)
    .select('id')
    .where({
      isRefused: false,
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    })
    .orderBy(newestFirst('createdAt', 'id'))
  // A table that was removed is asked for by itself.
  if (!asset?.table) void found.whereRaw(IS_OF_ACTIVE_TABLE)
  const { results, total } = await pageOf(found, { limit, offset })
  return {
    tags: await present(
      trx,
      results.map(({ id }) => id),
    ),
    pagination: pagination(total, { limit, offset }),
  }
}

async function remove(extensions: readonly AssetExtension[], trx: Transaction, request: AnyRequest) {
  const id = param(request, 'id')
  const tag = UUID.test(id) ? await Tag.query(trx).findById(id).where('isRefused', false) : undefined
  if (!tag) throw apiError('TAG_NOT_FOUND', 'There is no such tag, or it is not yours', { tag_id: id })
  const isRefused = await removeTag(trx, tag)
  await derivePersonalColumns(extensions, trx, [tag.sourceId])
  await auditRequest(request, trx, {
    action: 'tag.removed',
    target: targetOf(tag.sourceId, tag.tableId),
    details: { name: tag.name, column: tag.columnName },
  })
  const message = isRefused
    ? `Tag ${tag.name} was taken off, and will not be put on again by itself`
    : `Tag ${tag.name} was taken off`
  return { success: true, message }
}

type TagWithTable = Tag & Record<'catalogName' | 'schemaName' | 'tableName', string | null>

/** The records of tags, in the order of their ids. */
async function present(trx: Transaction, ids: readonly string[]) {
  const found = await rows<TagWithTable>(
    trx,
    `select g.*, t.catalog_name, t.schema_name, t.name as table_name
     from tags g left join tables t on t.id = g.table_id and t.company_id = g.company_id
     where g.company_id = :companyId and g.id = any(cast(:ids as uuid[]))
     order by array_position(cast(:ids as uuid[]), g.id)`,
    { companyId: companyOf(trx), ids },
  )
  return found.map(presentTag)
}

function presentTag(tag: TagWithTable) {
  const { tableId, columnName, catalogName, schemaName, tableName } = tag
  const path = [catalogName, schemaName, tableName, columnName].filter(part => part !== null)
  return {
    id: tag.id,
    name: tag.name,
    category: tag.category,
    description: tag.description,
    origin: tag.origin,
    asset_id: tableId ?? tag.sourceId,
    source_id: tag.sourceId,
    object_path: tableId === null ? null : formatName(path),
    object_type: tableId === null ? 'source' : columnName === null ? 'table' : 'column',
    created_at: tag.createdAt,
  }
}
