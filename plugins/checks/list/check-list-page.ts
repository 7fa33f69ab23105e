/** Which checks a page of the list of all checks has, and how many there are: found in indexes alone. */
import type { CheckListQuery, CheckOrder, CheckSort, ListStatus } from './check-list-schemas.ts'

/** The head of a statement, and what it needs. */
export interface CheckPage {
  /** Unique for each text. */
  name: string
  /** WITH `counted`, whose `total` is that of all pages, and `page`, with the `id` of its checks and the columns of `order`. */
  text: string
  order: string[]
  bindings: Record<string, unknown>
}

/** What the statement is made of. */
interface PageParts {
  /** FROM and WHERE of what is listed; the check is `c`. */
  arms: readonly string[]
  query: CheckListQuery
  order: string[]
}

/** Which checks are looked at. */
interface ListScope {
  /** Those that are listed. */
  kinds: readonly string[]
  companyId: string
  /** Undefined for the company. */
  assetId: string | undefined
  /** Types that the term of the search names by their label. */
  typesNamed: readonly string[]
}

export function findCheckPage(
  { kinds, companyId, assetId, typesNamed }: ListScope,
  query: CheckListQuery,
): CheckPage {
  const words = query.search?.split('.') ?? []
  const filters = conditionsOf(query, words, typesNamed.length > 0)
  // An asset is a table or a source, and of the other there is nothing.
  const levels = assetId === undefined ? [''] : [' and c.table_id = :asset', ' and c.source_id = :asset']
  const arms = levels.map(
    level =>
      `from checks c where c.company_id = :company_id and c.kind = any(cast(:kinds as text[]))${level}${filters.text}`,
  )
  const { sort, order } = query
  const page = { arms, query, order: orderOf(query) }
  const isIndexed = sort === 'created_at' || sort === 'status'
  const text =
    isIndexed && words.length === 0
      ? pageInOrder(page)
      : sort === 'created_at'
        ? searchByAge(page)
        : sortAll(page)
  const scope = assetId === undefined ? 'company' : 'asset'
  return {
    // PostgreSQL takes 63 characters.
    name: [sort, order, scope, ...filters.names].join(' '),
    text: (words.length === 0 ? 'with ' : `with ${NAMED_SOURCES}, `) + text,
    order: page.order,
    bindings: {
      company_id: companyId,
      asset: assetId,
      kinds: kinds.filter(kind => query.kind === undefined || kind === query.kind),
      is_active: query.is_active,
      search: query.search,
      end: words.slice(-2).join('.'),
      types: typesNamed.map(type => type.toLowerCase()),
      ranks: query.status?.map(status => STATUS_RANKS[status]),
      limit: query.limit,
      offset: query.offset,
    },
  }
}

/** What a check `c` has of what the list is sorted by and no index has in order. Those that were never checked come last. */
const SORTED_BY: Record<Exclude<CheckSort, 'created_at' | 'status'>, string> = {
  name: 'c.search_text',
  table: 'c.table_path',
  kind: 'c.kind',
  interval: `array_position('{hourly,daily,weekly}', c.check_interval)`,
  last_checked_at: `coalesce(c.last_checked_at, '-infinity')`,
}

/** Where checks are equal in what they are sorted by, the newest come first. */
function orderOf({ sort, order }: CheckListQuery): string[] {
  if (sort === 'created_at') return ageOrder(order)
  const first = sort === 'status' ? `rank ${REVERSED[order]}` : `sorted ${order}`
  return [first, ...ageOrder('desc')]
}

const ageOrder = (order: CheckOrder) => [`created_at ${order}`, `id ${order}`]
const REVERSED = { asc: 'desc', desc: 'asc' } as const

/** The numbers of the statuses in `status_rank`: the order in which they need attention. */
const STATUS_RANKS: Record<ListStatus, number> = {
  failing: 1,
  error: 2,
  warning: 3,
  learning: 4,
  pending: 5,
  passing: 6,
}

const LIMIT = 'cast(:limit as bigint)'
const OFFSET = 'cast(:offset as bigint)'

/**
 * What an index has in the order of the list. Within each status an index has the checks by age, so that statuses are counted
 * and read one by one where they are sorted or chosen. A page is reached from the nearer end of what it is in.
 */
function pageInOrder({ arms, query, order }: PageParts): string {
  const { sort, status } = query
  const isRanked = sort === 'status' || status !== undefined
  const counts = arms.map(matching =>
    isRanked
      ? `select c.status_rank as rank, count(*) as n ${matching} group by c.status_rank`
      : `select 0 as rank, count(*) as n ${matching}`,
  )
  // Sorted by age, several statuses mix: each may have all of the page.
  const isMixed = sort === 'created_at' && (status?.length ?? 0) > 1
  const direction = sort === 'status' ? 'desc' : query.order
  /** What a page has of a part, read from one end of it: `last` entries at most, without the `first`. */
  const entries = (towards: CheckOrder, first: string, last: string) => {
    const byAge = ageOrder(towards).join(', ')
    const ofArms = arms.map(
      matching => `(select c.created_at, c.id, r.rank ${matching}
        ${isRanked ? 'and c.status_rank = r.rank' : ''} order by ${byAge} limit ${last})`,
    )
    return `select * from (${ofArms.join(' union all ')}) c order by ${byAge} limit r.last - r.first offset ${first}`
  }
  return `counted as materialized (
      select rank, n, cast(sum(n) over () as int) as total,
        cast(sum(n) over (order by rank ${sort === 'status' ? REVERSED[query.order] : 'asc'}) - n as bigint) as before
      from (select rank, cast(sum(n) as bigint) as n from (${counts.join(' union all ')}) c group by rank) c),
    part as materialized (
      select rank, n, ${isMixed ? '0' : `greatest(${OFFSET} - before, 0)`} as first,
        least(n, ${LIMIT} + ${OFFSET} ${isMixed ? '' : '- before'}) as last
      from counted where total > ${OFFSET}),
    page as (
      select * from (
        select p.* from part r cross join lateral (${entries(direction, 'r.first', 'r.last')}) p
        where r.first < r.last and r.first <= r.n / 2
        union all
        select p.* from part r cross join lateral (${entries(REVERSED[direction], 'r.n - r.last', 'r.n - r.first')}) p
        where r.first < r.last and r.first > r.n / 2) p
      order by ${order.join(', ')} limit ${LIMIT} ${isMixed ? `offset ${OFFSET}` : ''})`
}

/** Looks at each check once: the page reads as far as its last check, and the count goes on from there. */
function searchByAge({ arms, query, order }: PageParts): string {
  const inOrder = order.join(', ')
  const entries = arms.map(
    matching => `(select c.created_at, c.id ${matching} order by ${inOrder} limit ${LIMIT} + ${OFFSET})`,
  )
  const count = (rest = '') => arms.map(matching => `(select count(*) ${matching} ${rest})`).join(' + ')
  const beyond = `and (c.created_at, c.id) ${query.order === 'desc' ? '<' : '>'}
    (select created_at, id from last_entry)`
  return `page as materialized (
      select *, 0 as rank from (${entries.join(' union all ')}) c order by ${inOrder} limit ${LIMIT} offset ${OFFSET}),
    last_entry as materialized (
      select created_at, id from page order by created_at ${REVERSED[query.order]}, id ${REVERSED[query.order]} limit 1),
    -- A page that is not full ends the list, and an empty one does not show where.
    counted as materialized (
      select cast(case when n = 0 and ${OFFSET} > 0 then ${count()}
        else case when n > 0 then ${OFFSET} + n else 0 end
          + case when n = ${LIMIT} then ${count(beyond)} else 0 end end as int) as total
      from (select count(*) as n from page) listed)`
}

/** All that is found is sorted, where no index has what is looked at in the order of the list. */
function sortAll({ arms, query: { sort }, order }: PageParts): string {
  const by =
    sort === 'created_at' || sort === 'status' ? 'c.status_rank as rank' : `${SORTED_BY[sort]} as sorted`
  const found = arms.map(matching => `select c.created_at, c.id, ${by} ${matching}`)
  return `found as materialized (${found.join(' union all ')}),
    counted as materialized (select cast(count(*) as int) as total from found),
    page as (select * from found order by ${order.join(', ')} limit ${LIMIT} offset ${OFFSET})`
}

/** The conditions that a query asks for, and their names. */
function conditionsOf(
  query: CheckListQuery,
  words: readonly string[],
  isTyped: boolean,
): { names: string[]; text: string } {
  const conditions = {
    ...(query.is_active !== undefined && { active: 'c.is_active = :is_active' }),
    ...(query.status && {
      [query.status.length === 1 ? 'rank' : 'ranks']: 'c.status_rank = any(cast(:ranks as smallint[]))',
    }),
    ...(words.length > 0 && {
      [`search ${Math.min(words.length, 3)}${isTyped ? ' typed' : ''}`]: searchCondition(words, isTyped),
    }),
  }
  const text = Object.values(conditions).map(condition => ` and ${condition}`)
  return { names: Object.keys(conditions), text: text.join('') }
}

const TERM = '(select lower(cast(:search as text)))'

const NAMED_SOURCES = `named_sources as materialized (
  select s.id from sources s where s.company_id = :company_id and strpos(lower(s.name), ${TERM}) > 0)`

/** A term is in the name, type, column or table, or it names the source; with dots it is in the path of the table. */
function searchCondition(words: readonly string[], isTyped: boolean): string {
  const byPath = `strpos(c.table_path, (select lower(cast(:end as text)))) > 0`
  // Paths end with the schema and the table; what comes before is looked up.
  const byName = `${byPath} and (select strpos(lower(t.qualified_name), ${TERM}) > 0 from tables t
    where t.company_id = :company_id and t.id = c.table_id)`
  // The text has the type, and an index the text.
  const byType = `or exists (select from unnest(cast(:types as text[])) type where strpos(c.search_text, type) > 0)`
  return `(strpos(c.search_text, ${TERM}) > 0 ${isTyped ? byType : ''} ${['', `or ${byPath}`, `or ${byName}`][Math.min(words.length, 3) - 1]}
    or c.source_id in (select id from named_sources))`
}
