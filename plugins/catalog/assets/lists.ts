import { rows, type Transaction } from '../../../server/database/database.ts'
import { newestFirst, type Page } from '../../../server/http/page.ts'
import { TABLE_KINDS } from '../../../connectors/catalog.ts'
import type { Asset } from './assets.ts'
import { SchemaChange, Source, Table } from '../models.ts'

/** Which assets are listed; of several schemas or tags, any will do. */
export interface AssetListQuery extends Page {
  /** The name of a source: it and its tables. */
  source?: string
  /** Whether `source` is also an engine: where no source has the name, those of the engine and their tables. */
  isEngine?: boolean
  /** `source` and kinds of tables. */
  asset_type?: string[]
  search?: string
  schema?: string[]
  /** Tags of the asset; of a table also those of its source and of its columns. */
  tag?: string[]
  sort: 'created_at' | 'name' | 'status'
  /** The newest first, or names from a to z and what needs attention first, by default. */
  order?: 'asc' | 'desc'
}

/** One page of a list: its records in order, and how many there are on all pages. */
export interface AssetPage {
  sources: Source[]
  tables: { source: Source; table: Table }[]
  total: number
}

/** What the record of a table in a list is made of: not its columns, which may be thousands. */
const LISTED_COLUMNS = [
  ...[
    'id',
    'sourceId',
    'catalogName',
    'schemaName',
    'name',
    'qualifiedName',
    'kind',
    'comment',
    'description',
  ],
  ...['constraints', 'tags', 'columnCount', 'estimatedRows', 'isActive', 'absence', 'readError'],
  ...['createdAt', 'updatedAt'],
]

/**
 * One page of sources and the tables in use, sources first, each in the order of the query.
 * @param ofFeatures conditions on tables called `a` in SQL; with any, no sources are listed
 * @param worstFirst conditions on tables called `a` in SQL, by which they are sorted by status: those of the first come first
 */
export async function listAssets(
  trx: Transaction,
  companyId: string,
  query: AssetListQuery,
  ofFeatures: readonly string[] = [],
  worstFirst: readonly string[] = [],
): Promise<AssetPage> {
  const { asset_type: types, tag, limit, offset } = query
  const taggedSources = tag ? await findTaggedSources(trx, companyId, tag) : []
  const ofSources =
    (types?.includes('source') ?? true) && !query.schema && ofFeatures.length === 0
      ? await readPage(
          trx,
          'sources',
          { companyId, query, taggedSources, ofFeatures, worstFirst, conditions: sourceConditions(query) },
          query,
        )
      : EMPTY_PAGE
  const rest = {
    limit: limit - ofSources.ids.length,
    offset: Math.max(0, offset - ofSources.total),
  }
  const ofTables =
    kindsOf(query)?.length === 0
      ? EMPTY_PAGE
      : await readPage(
          trx,
          'tables',
          await tableFilter(trx, { companyId, query, taggedSources, ofFeatures, worstFirst }),
          rest,
        )
  return {
    ...(await loadPage(trx, ofSources.ids, ofTables.ids)),
    total: ofSources.total + ofTables.total,
  }
}

/** The kinds of tables that are listed; undefined for all, empty for sources alone. */
function kindsOf({ asset_type: types }: AssetSearch['query']): string[] | undefined {
  const kinds = types?.filter(type => type !== 'source')
  // All kinds need no condition, so that their tables are counted without looking at each.
  return kinds?.length === TABLE_KINDS.length ? undefined : kinds
}

interface IdPage {
  ids: string[]
  total: number
}

const EMPTY_PAGE: IdPage = { ids: [], total: 0 }

/** What a list is asked for. */
interface AssetSearch {
  companyId: string
  query: Omit<AssetListQuery, keyof Page>
  /** The sources that carry one of the tags themselves. */
  taggedSources: readonly string[]
  /** Conditions of other features on tables. */
  ofFeatures: readonly string[]
  /** Conditions on tables that need attention, the worst first. */
  worstFirst: readonly string[]
}

/** SQL conditions on rows called `a`, with what they name. */
interface AssetFilter extends AssetSearch {
  conditions: string[]
  /** What counts them without looking at each. */
  counted?: string
  /** The only tables that can be meant, when that is known. */
  rare?: string[] | null
}

/**
 * Counts and pages in one statement, so that both are of one moment; nothing but indexes is read. Where every entry of
 * the list's own index has to be looked at, each is looked at once: the page reads as far as its last entry, and the
 * count goes on from there. Else the count and the page have an index each.
 */
async function readPage(
  trx: Transaction,
  from: 'sources' | 'tables',
  { companyId, query, taggedSources, ofFeatures, worstFirst, conditions, counted, rare }: AssetFilter,
  { limit, offset }: Page,
): Promise<IdPage> {
  const matching = `from ${from} a where ${['a.company_id = :companyId', ...conditions].join(' and ')}`
  const isByAge = query.sort === 'created_at' && query.order !== 'asc'
  const inOrder = `order by ${orderOf(from, query, worstFirst)} limit :limit offset :offset`
  const { source, schema, search, tag } = query
  const kinds = kindsOf(query)
  const isNamesOnly = [source, kinds, schema].every(value => value === undefined)
  const isCostly =
    tag !== undefined || ofFeatures.length > 0 || (search !== undefined && !rare && !isNamesOnly)
  const isOnePass = isByAge && isCostly
  const [page] = await rows<IdPage>(
    trx,
    isOnePass
      ? // A page that is not full ends the list, and an empty one does not show where.
        `with page as materialized (select a.id, a.created_at ${matching} ${inOrder}),
           listed as (select count(*) as entries from page),
           last_entry as (select id, created_at from page order by created_at, id limit 1)
         select array(select id from page) as ids,
           cast(case when entries > 0 then :offset + entries else 0 end
             + case when entries < :limit and (entries > 0 or :offset = 0) then 0
                 when entries > 0 then (select count(*) ${matching}
                   and (a.created_at, a.id) < (select created_at, id from last_entry))
                 else (select count(*) ${matching}) end as int) as total
         from listed`
      : // A page past the end would be looked for among all entries.
        `with counted as materialized (select (${counted ?? `select count(*)::int ${matching}`}) as total)
         select total, case when total > :offset then array(select a.id ${matching} ${inOrder}) else '{}' end as ids
         from counted`,
    {
      companyId,
      source: query.source ?? null,
      kinds: kinds ?? null,
      search: query.search ?? null,
      schemas: query.schema ?? null,
      tags: query.tag ?? null,
      taggedSources: [...taggedSources],
      rare: rare ?? null,
      limit,
      offset,
    },
  )
  return page ?? EMPTY_PAGE
}

/** Names in the order of their code points, which compares them fast. */
function orderOf(
  from: 'sources' | 'tables',
  { sort, order }: AssetSearch['query'],
  worstFirst: readonly string[],
): string {
  const direction = order ?? (sort === 'created_at' ? 'desc' : 'asc')
  if (sort === 'created_at') return `a.created_at ${direction}, a.id ${direction}`
  const byName = `${from === 'tables' ? 'a.lower_name' : 'lower(a.name)'} collate "C"`
  if (sort === 'name' || from === 'sources') return `${byName} ${direction}, a.id ${direction}`
  const ranks = worstFirst.map((condition, rank) => `when ${condition} then ${rank}`)
  return `case ${ranks.join(' ')} else ${ranks.length} end ${direction}, ${byName}, a.id`
}

/** Sources called `name` in SQL that have the given name; of an engine, where none has it. */
const namedSources = (name: string, isEngine: boolean | undefined) =>
  isEngine
    ? `(${name}.name = :source or ${name}.source_type = :source
        and not exists (select from sources n where n.company_id = :companyId and n.name = :source))`
    : `${name}.name = :source`

function sourceConditions({ source, isEngine, search, tag }: AssetSearch['query']): string[] {
  return [
    ...(source === undefined ? [] : [namedSources('a', isEngine)]),
    ...(search === undefined ? [] : ['strpos(lower(a.name), lower(:search)) > 0']),
    ...(tag ? ['a.id = any(cast(:taggedSources as uuid[]))'] : []),
  ]
}

async function findTaggedSources(trx: Transaction, companyId: string, tags: string[]): Promise<string[]> {
  const tagged = await rows<{ sourceId: string }>(
    trx,
    `select distinct source_id from ${TAGS_QUERY} and table_id is null`,
    { companyId, tags },
  )
  return tagged.map(({ sourceId }) => sourceId)
}

const TAGS_QUERY = 'tags where company_id = :companyId and not is_refused and name = any(:tags)'

/** All tables of a company, or of one source, as the discoveries counted them. */
const countTables = ({ source, isEngine }: AssetSearch['query']) =>
  `select coalesce(sum(s.table_count), 0)::int from sources s
    where s.company_id = :companyId ${source === undefined ? '' : `and ${namedSources('s', isEngine)}`}`

/** Tables that are looked at one by one; where a term is in more names, reading all of them is no slower. */
const MAX_RARE_TABLES = 500

async function tableFilter(trx: Transaction, asked: AssetSearch): Promise<AssetFilter> {
  const { query, taggedSources, ofFeatures } = asked
  const { source, isEngine, search, schema, tag } = query
  const kinds = kindsOf(query)
  // One source is compared with, so that its index gives the order of the list.
  const compared = isEngine ? 'in' : '='
  const rare = search === undefined ? null : await findRareTables(trx, search)
  const conditions = [
    'a.is_active',
    ...(source === undefined
      ? []
      : [
          `a.source_id ${compared} (select s.id from sources s
             where s.company_id = :companyId and ${namedSources('s', isEngine)})`,
        ]),
    ...(kinds === undefined ? [] : ['a.kind = any(:kinds)']),
    ...(schema ? ['a.schema_name = any(:schemas)'] : []),
    ...(tag ? [tagCondition(taggedSources)] : []),
    ...(search === undefined
      ? []
      : [rare ? 'a.id = any(:rare)' : 'strpos(a.lower_name, lower(:search)) > 0']),
    ...ofFeatures,
  ]
  const isNarrowed = ofFeatures.length > 0 || (kinds ?? search ?? schema ?? tag) !== undefined
  return { ...asked, conditions, rare, ...(!isNarrowed && { counted: countTables(query) }) }
}

/** Without an `or`, PostgreSQL can join, which takes a fifth less time than a lookup for each table. */
function tagCondition(taggedSources: readonly string[]): string {
  const tagged = `a.id in (select table_id from ${TAGS_QUERY} and table_id is not null)`
  return taggedSources.length === 0
    ? tagged
    : `(a.source_id = any(cast(:taggedSources as uuid[])) or ${tagged})`
}

/** The tables whose names hold a term; null when they are many, or not known without reading all names. */
async function findRareTables(trx: Transaction, search: string): Promise<string[] | null> {
  const [rare] = await rows<{ ids: string[] | null }>(trx, 'select rare_tables(?, ?) as ids', [
    search,
    MAX_RARE_TABLES,
  ])
  return rare?.ids ?? null
}

/** The rows of a page, in its order; what was removed since it was made is left out. */
async function loadPage(trx: Transaction, sourceIds: readonly string[], tableIds: readonly string[]) {
  const tables =
    tableIds.length === 0
      ? []
      : await Table.query(trx)
          .whereIn('id', [...tableIds])
          .select(LISTED_COLUMNS)
  const needed = new Set([...sourceIds, ...tables.map(({ sourceId }) => sourceId)])
  const sources = new Map(
    (await Source.query(trx).whereIn('id', [...needed])).map(source => [source.id, source]),
  )
  const tableOf = new Map(tables.map(table => [table.id, table]))
  return {
    sources: sourceIds.flatMap(id => sources.get(id) ?? []),
    tables: tableIds.flatMap(id => {
      const table = tableOf.get(id)
      const source = table && sources.get(table.sourceId)
      return source && table ? [{ source, table }] : []
    }),
  }
}

/** One page of the changes of a source or a table in the last days, newest first. */
export async function listChanges(
  trx: Transaction,
  { source, table }: Asset,
  { days, type, limit, offset }: Page & { days: number; type?: string },
): Promise<{ changes: SchemaChange[]; total: number }> {
  const matching = `from schema_changes where company_id = :companyId
    and ${table ? 'table_id' : 'source_id'} = :asset and detected_at >= now() - make_interval(days => :days)
    ${type === undefined ? '' : 'and change_type = :type'}`
  // The rows that are skipped are skipped in the index.
  const [page] = await rows<{ total: number; ids: string[] | null; from: string; to: string }>(
    trx,
    // Times as text: a date of JavaScript has no microseconds.
    `select (select count(*)::int ${matching}) as total, array_agg(id) as ids, cast(min(detected_at) as text) as from,
       cast(max(detected_at) as text) as to
     from (select id, detected_at ${matching} order by detected_at desc, id desc limit :limit offset :offset) page`,
    {
      companyId: source.companyId,
      asset: table?.id ?? source.id,
      days,
      type: type ?? null,
      limit,
      offset,
      first: offset + 1,
      last: offset + limit,
    },
  )
  if (!page?.ids) return { changes: [], total: page?.total ?? 0 }
  const changes = await SchemaChange.query(trx)
    .whereIn('id', page.ids)
    .where('detectedAt', '>=', page.from)
    .where('detectedAt', '<=', page.to)
    .orderBy(newestFirst('detectedAt', 'id'))
  return { changes, total: page.total }
}
