/**
 * Tags of sources, tables and columns. The rows of `tags` are the truth; `sources.tags`, `tables.tags` and
 * `tables.column_tags` are derived from them by `settle`, in the same transaction. Writers of tags lock the source
 * first, so that none derives without what another one writes.
 */
import { randomUUID } from 'node:crypto'
import type { ColumnInfo } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { tagsByName } from './classify.ts'
import { Source, Table, type Tag } from '../models.ts'
import { countTags } from './count-tags.ts'
import { lockSources } from '../locks.ts'

/** What a tag is put on: a source, a table of it, or a column of that. */
export interface TagSubject {
  sourceId: string
  tableId: string | null
  columnName: string | null
}

/** A tag as it is asked for. */
export type RequestedTag = TagSubject & Pick<Tag, 'name'>

/** A table with the columns that it has now. */
interface ClassifiedTable {
  id: string
  columns: readonly Pick<ColumnInfo, 'name' | 'kind' | 'type'>[]
}

/** The unique index of the table. */
const TAG_KEY = `(source_id, coalesce(table_id, '00000000-0000-0000-0000-000000000000'), coalesce(column_name, ''), name)`

/** Fields of tags; those left out stay as they were, or default to `business` and no description. */
export interface TagFields {
  category?: Tag['category']
  description?: string | null
}

/**
 * Puts tags on by hand, in one statement. One that is there already stays, with its new category and description; one that is
 * automatic, or was refused, becomes manual and is in force.
 * @returns their ids, and whether any of them was not in force before
 */
export async function putTags(
  trx: Transaction,
  asked: readonly RequestedTag[],
  { category, description }: TagFields = {},
): Promise<{ ids: string[]; isNew: boolean }> {
  if (asked.length === 0) return { ids: [], isNew: false }
  await lockSources(
    trx,
    asked.map(({ sourceId }) => sourceId),
  )
  const put = await rows<TagSubject & { id: string; isNew: boolean }>(
    trx,
    `insert into tags (id, company_id, source_id, table_id, column_name, name, category, description, origin)
     select r.id, :companyId, r.source_id, r.table_id, r.column_name, r.name,
       coalesce(cast(:category as text), 'business'), :description, 'manual' from ${recordset('asked')}
     on conflict ${TAG_KEY} do update set origin = 'manual', is_refused = false,
       category = coalesce(cast(:category as text), tags.category),
       description = coalesce(excluded.description, case when tags.origin = 'manual' then tags.description end),
       created_at = case when tags.is_refused then now() else tags.created_at end
     returning id, source_id, table_id, column_name, created_at = now() as is_new`,
    {
      companyId: companyOf(trx),
      asked: JSON.stringify(uniqueTags(asked).map(tag => toRecord({ ...tag, id: randomUUID() }))),
      category: category ?? null,
      description: description ?? null,
    },
  )
  await deriveTags(trx, put)
  return { ids: put.map(({ id }) => id), isNew: put.some(({ isNew }) => isNew) }
}

/** Rows of tags as JSON, bound by name. */
function recordset(binding: string): string {
  return `jsonb_to_recordset(cast(:${binding} as jsonb)) as r(id uuid, source_id uuid, table_id uuid, column_name text,
    name text, category text, description text, origin text, is_refused boolean, created_at timestamptz)`
}

function toRecord(tag: Partial<Tag>) {
  return {
    id: tag.id,
    source_id: tag.sourceId,
    table_id: tag.tableId,
    column_name: tag.columnName,
    name: tag.name,
    category: tag.category,
    description: tag.description,
    origin: tag.origin,
    is_refused: tag.isRefused,
    created_at: tag.createdAt,
  }
}

function keyOf({ tableId, columnName, name }: Pick<Tag, 'tableId' | 'columnName' | 'name'>): string {
  return JSON.stringify([tableId, columnName, name])
}

/** One statement cannot put the same tag on twice. */
function uniqueTags(asked: readonly RequestedTag[]): RequestedTag[] {
  return [...new Map(asked.map(tag => [tag.sourceId + keyOf(tag), tag])).values()]
}

/**
 * Takes a tag off. One that the column's name alone would bring back is remembered as refused; so an automatic one
 * always is.
 * @returns whether it is remembered
 */
export async function removeTag(trx: Transaction, tag: Tag): Promise<boolean> {
  await lockSources(trx, [tag.sourceId])
  const where = { companyId: companyOf(trx), id: tag.id }
  const isRefused = tag.origin === 'automatic' || (await comesBack(trx, tag))
  await (isRefused
    ? trx.raw(
        `update tags set origin = 'automatic', is_refused = true where company_id = :companyId and id = :id`,
        where,
      )
    : trx.raw('delete from tags where company_id = :companyId and id = :id', where))
  await deriveTags(trx, [tag])
  return isRefused
}

async function comesBack(trx: Transaction, { sourceId, tableId, columnName, name }: Tag): Promise<boolean> {
  if (tableId === null || columnName === null) return false
  const source = await Source.query(trx).findById(sourceId)
  const table = source?.autoTagEnabled && (await Table.query(trx).findById(tableId))
  const column = table && table.columns.find(candidate => candidate.name === columnName)
  return column !== undefined && column !== false && tagsByName(column).includes(name)
}

/** Derives what is in force on these sources and tables, in one statement a level. What did not change is not written. */
async function deriveTags(
  trx: Transaction,
  touched: readonly Pick<TagSubject, 'sourceId' | 'tableId'>[],
): Promise<void> {
  if (touched.length === 0) return
  const companyId = companyOf(trx)
  const tableIds = [...new Set(touched.flatMap(({ tableId }) => tableId ?? []))]
  const sourceIds = [
    ...new Set(touched.flatMap(({ sourceId, tableId }) => (tableId === null ? sourceId : []))),
  ]
  if (tableIds.length > 0) {
    await trx.raw(
      `update tables t set tags = coalesce(d.own, '{}'), column_tags = coalesce(d.by_column, '{}'), updated_at = now()
       from unnest(cast(:tableIds as uuid[])) as i(id) left join lateral (
         select max(n.names) filter (where n.column_name is null) as own,
           jsonb_object_agg(n.column_name, n.names) filter (where n.column_name is not null) as by_column
         from (select g.column_name, array_agg(g.name order by g.name) as names from tags g
           where g.company_id = :companyId and g.table_id = i.id and not g.is_refused group by g.column_name) n
       ) d on true
       where t.company_id = :companyId and t.id = i.id
         and (t.tags, t.column_tags) is distinct from (coalesce(d.own, '{}'), coalesce(d.by_column, '{}'))`,
      { companyId, tableIds },
    )
  }
  if (sourceIds.length > 0) {
    await trx.raw(
      `update sources s set updated_at = now(), tags = coalesce((select array_agg(g.name order by g.name) from tags g
         where g.company_id = :companyId and g.source_id = s.id and g.table_id is null and not g.is_refused), '{}')
       where s.company_id = :companyId and s.id = any(cast(:sourceIds as uuid[]))`,
      { companyId, sourceIds },
    )
  }
  await countTags(trx, [...new Set(touched.map(({ sourceId }) => sourceId))])
}

type KnownTag = Pick<Tag, 'id' | 'tableId' | 'columnName' | 'name' | 'origin' | 'isRefused'>

/**
 * Brings the automatic tags of tables up to what their columns are called now, if the source has them on: at most
 * five statements, and two where nothing changes. Manual and refused ones stay.
 */
export async function classify(trx: Transaction, source: Source, tables: readonly ClassifiedTable[]) {
  if (source.autoTagEnabled && tables.length > 0) await tagByName(trx, source.id, tables)
}

async function tagByName(trx: Transaction, sourceId: string, tables: readonly ClassifiedTable[]) {
  const companyId = companyOf(trx)
  await lockSources(trx, [sourceId])
  const stored = await rows<KnownTag>(
    trx,
    `select id, table_id, column_name, name, origin, is_refused from tags
     where company_id = :companyId and table_id = any(cast(:tableIds as uuid[])) and column_name is not null`,
    { companyId, tableIds: tables.map(({ id }) => id) },
  )
  const wanted = tables.flatMap(({ id: tableId, columns }) =>
    columns.flatMap(column =>
      tagsByName(column).map(name => ({ sourceId, tableId, columnName: column.name, name })),
    ),
  )
  const fitting = new Set(wanted.map(keyOf))
  const present = new Set(stored.map(keyOf))
  const unfitting = stored.filter(
    tag => tag.origin === 'automatic' && !tag.isRefused && !fitting.has(keyOf(tag)),
  )
  const fresh = wanted.filter(tag => !present.has(keyOf(tag)))
  if (unfitting.length > 0) {
    await trx.raw('delete from tags where company_id = ? and id = any(cast(? as uuid[]))', [
      companyId,
      unfitting.map(({ id }) => id),
    ])
  }
  if (fresh.length > 0) {
    await trx.raw(
      `insert into tags (id, company_id, source_id, table_id, column_name, name, category, description, origin)
       select r.id, :companyId, r.source_id, r.table_id, r.column_name, r.name, 'governance',
         'By the name and type of the column', 'automatic' from ${recordset('fresh')} on conflict do nothing`,
      { companyId, fresh: JSON.stringify(fresh.map(tag => toRecord({ ...tag, id: randomUUID() }))) },
    )
  }
  await deriveTags(
    trx,
    [...unfitting, ...fresh].map(({ tableId }) => ({ sourceId, tableId })),
  )
}

/** Tables whose columns are read at once. */
const MAX_CHUNK_TABLES = 1_000

/** Tags all columns of a source by their names, as when it is switched on: some statements for each 1,000 tables. */
export async function classifyAll(trx: Transaction, source: Source): Promise<void> {
  for (let after: string | null = null, isMore = true; isMore;) {
    const tables: ClassifiedTable[] = await rows<ClassifiedTable>(
      trx,
      `select id, columns from tables where company_id = :companyId and source_id = :sourceId
         and is_active and (cast(:after as uuid) is null or id > :after) order by id limit :limit`,
      { companyId: companyOf(trx), sourceId: source.id, after, limit: MAX_CHUNK_TABLES },
    )
    if (tables.length > 0) await tagByName(trx, source.id, tables)
    after = tables.at(-1)?.id ?? null
    isMore = tables.length === MAX_CHUNK_TABLES
  }
}

/** Takes the automatic tags of a source off, as when it is switched off. What was refused stays refused. */
export async function forgetAutomatic(trx: Transaction, source: Source): Promise<void> {
  await lockSources(trx, [source.id])
  const removed = await rows<Pick<TagSubject, 'sourceId' | 'tableId'>>(
    trx,
    `delete from tags where company_id = :companyId and source_id = :sourceId and origin = 'automatic'
       and not is_refused returning source_id, table_id`,
    { companyId: companyOf(trx), sourceId: source.id },
  )
  await deriveTags(trx, removed)
}

/** A table by the identity that its engine gave it. */
interface FormerTable {
  id: string
  identity: string
}

/** The tables among these that carry tags, with the identity they have until a discovery stores what it found. */
export async function taggedTables(trx: Transaction, ids: readonly string[]): Promise<FormerTable[]> {
  if (ids.length === 0) return []
  return rows<FormerTable>(
    trx,
    `select id, identity from tables t where company_id = :companyId and id = any(cast(:ids as uuid[]))
       and is_active and identity is not null and exists (select from tags g where g.table_id = t.id)`,
    { companyId: companyOf(trx), ids },
  )
}

/**
 * Gives tables that were renamed, by the engine's own identity, the tags that they had: a rename
 * must not show what was hidden, be it that another table took the name at once. To be called in the transaction that
 * stored them.
 * @param former what `taggedTables` gave of all that was stored anew or not found, before
 */
export async function inheritTags(trx: Transaction, source: Source, former: readonly FormerTable[]) {
  if (former.length === 0) return
  const heirs = await rows<Pick<TagSubject, 'sourceId' | 'tableId'>>(
    trx,
    `insert into tags (id, company_id, source_id, table_id, column_name, name, category, description, origin,
       is_refused, created_at)
     select gen_random_uuid(), g.company_id, g.source_id, t.id, g.column_name, g.name, g.category, g.description,
       g.origin, g.is_refused, g.created_at
     from jsonb_to_recordset(cast(:former as jsonb)) as o(id uuid, identity text)
     join tables t on t.company_id = :companyId and t.source_id = :sourceId and t.identity = o.identity
       and t.id <> o.id and t.is_active
     join tags g on g.company_id = :companyId and g.table_id = o.id
     on conflict do nothing returning source_id, table_id`,
    { companyId: companyOf(trx), sourceId: source.id, former: JSON.stringify(former) },
  )
  await deriveTags(trx, heirs)
}

/** A column that has another name now. */
interface ColumnRename {
  tableId: string
  from: string
  to: string
}

/** A tag that is on its way, with the column's catalog entry by either name. */
type MovingTag = Tag & { to: string; info: ColumnInfo | null }

/**
 * Lets tags follow columns that were renamed, also where two changed names. What is tagged automatically and would not
 * be by its new name becomes manual: the column still holds what it held. Goes before `classify`, which takes the tags
 * of names that are gone off.
 */
export async function moveTags(trx: Transaction, renames: readonly ColumnRename[]): Promise<void> {
  if (renames.length === 0) return
  const companyId = companyOf(trx)
  const moving = await rows<MovingTag>(
    trx,
    `delete from tags g
     using jsonb_to_recordset(cast(:renames as jsonb)) as r("tableId" uuid, "from" text, "to" text)
     where g.company_id = :companyId and g.table_id = r."tableId" and g.column_name = r."from"
     returning g.*, r."to", (select c from tables t, jsonb_array_elements(t.columns) c
       where t.company_id = :companyId and t.id = g.table_id and c ->> 'name' in (r."from", r."to")
       order by c ->> 'name' = r."from" limit 1) as info`,
    { companyId, renames: JSON.stringify(renames) },
  )
  if (moving.length === 0) return
  await trx.raw(
    `insert into tags (id, company_id, source_id, table_id, column_name, name, category, description, origin,
       is_refused, created_at)
     select r.id, :companyId, r.source_id, r.table_id, r.column_name, r.name, r.category, r.description, r.origin,
       r.is_refused, r.created_at from ${recordset('moved')}
     on conflict ${TAG_KEY} do update set is_refused = tags.is_refused and excluded.is_refused,
       origin = case when 'manual' in (tags.origin, excluded.origin) then 'manual' else 'automatic' end`,
    { companyId, moved: JSON.stringify(moving.map(tag => toRecord(renameColumnOf(tag)))) },
  )
  await deriveTags(trx, moving)
}

function renameColumnOf({ to, info, ...tag }: MovingTag): Partial<Tag> {
  const fits = info !== null && tagsByName({ ...info, name: to }).includes(tag.name)
  if (tag.origin === 'manual' || tag.isRefused || fits) return { ...tag, columnName: to }
  const description = `Kept from the former name of the column, ${tag.columnName}`
  return { ...tag, columnName: to, origin: 'manual', description }
}
