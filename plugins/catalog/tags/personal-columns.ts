/** Which columns hold personal data: what is tagged so, and the columns of views that show it. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { viewColumnQueries, type AssetExtension } from '../assets/asset-extensions.ts'
import { tagsOf } from '../assets/assets.ts'
import type { Source, Table } from '../models.ts'

/** The tags that mean personal data; `pii.email`, `pii:email` and `pii-email` are kinds of `pii`. */
const PERSONAL_TAG = /^(pii([-_ ].*)?|(personal|sensitive)([-_ ](data|info|information))?)([.:/].*)?$/is

function isPersonal(tags: readonly string[] = []): boolean {
  return tags.some(tag => PERSONAL_TAG.test(tag))
}

/** A table with its source, as far as personal data goes. */
export interface TaggedTable {
  source: Pick<Source, 'tags'>
  table: Pick<Table, 'tags' | 'columnTags' | 'personalFromUpstream'> & {
    columns: readonly { name: string }[]
  }
}

/**
 * The columns of a table that are tagged as personal data; all of it where the table, or its source, is tagged so. A
 * view also has those that show the values of such columns.
 */
export function personalColumns({ source, table }: TaggedTable): ReadonlySet<string> {
  const all = isPersonal([...source.tags, ...table.tags])
  const names = new Set(table.columns.map(({ name }) => name))
  // Where names have no case, a column may come back written otherwise.
  const gone = Object.entries(table.columnTags).flatMap(([name, tags]) =>
    isPersonal(tags) && !names.has(name) ? [name.toLowerCase()] : [],
  )
  return new Set(
    [...names].filter(
      name =>
        all ||
        isPersonal(tagsOf(table, name)) ||
        Object.hasOwn(table.personalFromUpstream, name) ||
        gone.includes(name.toLowerCase()),
    ),
  )
}

/** Whether a source, or any of its tables, holds what is tagged as personal data. */
export async function hasPersonalData(trx: Transaction, source: Source): Promise<boolean> {
  const names = await rows<{ name: string }>(
    trx,
    'select distinct name from tags where company_id = ? and source_id = ? and not is_refused',
    [source.companyId, source.id],
  )
  return isPersonal(names.map(({ name }) => name))
}

/** A column that is tagged as personal data, or whose table is. */
interface PersonalColumn {
  table_id: string
  name: string
  /** What is tagged. */
  level: 'column' | 'table'
}

/**
 * Derives which columns of views show personal data, through any number of views. The callers change tags of these
 * sources, or the views of them, in the same transaction, and hold their locks. Where the columns of a view are not
 * known, those of the same name count.
 */
export async function derivePersonalColumns(
  extensions: readonly AssetExtension[],
  trx: Transaction,
  sourceIds: readonly string[],
): Promise<void> {
  const flows = viewColumnQueries(extensions)
  if (flows.length === 0 || sourceIds.length === 0) return
  const bound = { companyId: companyOf(trx), sourceIds: [...new Set(sourceIds)] }
  const start = await readTagged(trx, bound, flows)
  await trx.raw(
    `with recursive flows as not materialized (${flows.join(UNION)}),
     reached as (
       select table_id, name, level
         from jsonb_to_recordset(cast(:start as jsonb)) as s (table_id uuid, name text, level text)
       union
       select f.view_id, shown.name, r.level
         from reached r join flows f on f.company_id = :companyId and f.table_id = r.table_id
        cross join lateral (
          select f.view_column as name where f.column_name = r.name
          union all
          select c ->> 'name' from tables v cross join jsonb_array_elements(v.columns) c
           where f.column_name is null and v.company_id = :companyId and v.id = f.view_id
             and lower(c ->> 'name') = lower(r.name)) shown),
     -- Text sorts 'column' before 'table'.
     shown as (
       select table_id, jsonb_object_agg(name, level) as columns
         from (select table_id, name, min(level) as level from reached group by 1, 2) each_column
        group by 1)
     update tables t set personal_from_upstream = coalesce(n.columns, '{}')
       from tables o left join shown n on n.table_id = o.id and o.kind like '%view'
      where o.company_id = :companyId and o.source_id = any(cast(:sourceIds as uuid[])) and t.id = o.id
        and t.company_id = :companyId and t.personal_from_upstream is distinct from coalesce(n.columns, '{}')`,
    { ...bound, start: JSON.stringify(start) },
  )
}

const UNION = ' union all '

/** The personal columns of tables that views are made from, by the tags of both. Columns of other tables are not read. */
async function readTagged(
  trx: Transaction,
  bound: { companyId: string; sourceIds: string[] },
  flows: readonly string[],
): Promise<PersonalColumn[]> {
  const tagged = await rows<Pick<Table, 'id' | 'tags' | 'columnTags'> & { names: string[] }>(
    trx,
    `select id, tags, column_tags, jsonb_path_query_array(columns, '$[*].name') as names from tables t
      where company_id = :companyId and source_id = any(cast(:sourceIds as uuid[])) and is_active
        and (tags <> '{}' or column_tags <> '{}')
        and exists (select from (${flows.join(UNION)}) f where f.company_id = :companyId and f.table_id = t.id)`,
    bound,
  )
  return tagged.flatMap(({ id, tags, columnTags, names }) => {
    const table = { tags: [], columnTags, personalFromUpstream: {}, columns: names.map(name => ({ name })) }
    const columns = personalColumns({ source: { tags: [] }, table })
    const isWhole = isPersonal(tags)
    return names.flatMap((name): PersonalColumn[] => {
      if (columns.has(name)) return [{ table_id: id, name, level: 'column' }]
      return isWhole ? [{ table_id: id, name, level: 'table' }] : []
    })
  })
}
