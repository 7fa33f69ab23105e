import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { CatalogApi } from '../catalog/api.ts'

export const STATUSES = ['passing', 'failing', 'unknown'] as const
export type BadgeStatus = (typeof STATUSES)[number]

/**
 * Joins badges to rows of their source, or of their table, each by its own index.
 * @param relation SQL with `company_id`, `source_id`, `table_id` and `outcome`
 * @param condition SQL over `b`: which badges count these rows
 */
const outcomesFrom = (relation: string, condition: string) =>
  ['source_id', 'table_id']
    .map(
      level => `select b.id, c.source_id, c.table_id, c.outcome from b join (${relation}) c
        on c.company_id = b.company_id and c.${level} = b.asset_id
        where ${level === 'source_id' ? '' : 'not'} b.is_source and ${condition}`,
    )
    .join(' union all ')

/** Joins badges to rows of the tables that theirs is made from. Parameters are those of `outcomesFrom`. */
const outcomesUpstream = (relation: string, condition: string) =>
  `select b.id, c.source_id, c.table_id, c.outcome from upstream w join b on b.id = w.id join (${relation}) c
    on c.company_id = b.company_id and c.table_id = w.table_id
    where w.table_id <> b.asset_id and ${condition}`

/** The tables of badges and all that they are made from; UNION leaves out what was seen, so that a circle ends. */
const upstreamOf = (edges: string) => `, upstream as (
      select b.id, b.asset_id as table_id from b where b.include_upstream and not b.is_source
      union
      select w.id, e.upstream_id from upstream w join (${edges}) e
        on e.company_id = :companyId and e.table_id = w.table_id
    )`

/** Every open schema change is a failure. */
const OPEN_CHANGES = `
  select company_id, source_id, table_id, 'fail' as outcome from schema_changes where not is_acknowledged`

/** Without open changes, the schema passes only if it was ever discovered. */
const DISCOVERY = `
  select b.id, s.id, null, case when s.discovery_state = 'failed' then 'error' else 'pass' end
  from b join sources s on s.company_id = b.company_id and s.id in (b.asset_id,
    (select t.source_id from tables t where t.company_id = b.company_id and t.id = b.asset_id))
  where b.schema_drift_enabled and (s.discovery_state = 'failed' or s.last_discovery_at is not null)
    and (cardinality(b.tag_filters) = 0 or exists (select from tagged t where t.id = b.id
      and t.source_id = s.id and (t.table_id is null or b.asset_id in (t.source_id, t.table_id))))`

const CONDITIONS = { check: 'true', freshness: 'b.freshness_enabled' }

/** @param withUpstream whether any of the badges counts upstream tables; others need not be asked for them */
function statusesStatement(catalog: CatalogApi, withUpstream: boolean): string {
  const edges = withUpstream ? catalog.upstreamQueries().join(' union all ') : ''
  const counted = [
    ...catalog.outcomeQueries().map(({ kind, text }) => ({ text, condition: CONDITIONS[kind] })),
    { text: OPEN_CHANGES, condition: 'b.schema_drift_enabled' },
  ]
  const outcomes = counted.flatMap(({ text, condition }) => [
    outcomesFrom(text, condition),
    ...(edges ? [outcomesUpstream(text, condition)] : []),
  ])
  return `
    with recursive b as materialized (
      select *, exists (
        select from sources s where s.company_id = badges.company_id and s.id = badges.asset_id) as is_source
      from badges where company_id = :companyId and id = any(cast(:badgeIds as uuid[]))
    ), tagged as materialized (
      select b.id, g.source_id, g.table_id from b join tags g
        on g.company_id = b.company_id and g.name = any(b.tag_filters) and not g.is_refused
    )${edges && upstreamOf(edges)}, c as (
      ${[...outcomes, DISCOVERY].join(' union all ')}
    )
    select b.id, bool_or(c.outcome in ('fail', 'error')) as is_failing
    from b join c on c.id = b.id
    where cardinality(b.tag_filters) = 0 or c.table_id is null
      or (c.id, c.table_id) in (select id, table_id from tagged where table_id is not null)
      or (c.id, c.source_id) in (select id, source_id from tagged where table_id is null)
    group by b.id`
}

/**
 * Reads the status of badges: `unknown` without an outcome, `failing` when the last outcome of an active check, or of the
 * freshness and drift that the badge includes, is a failure or an error, else `passing`. With tag filters, only tables
 * count that carry one of the tags, in a column too, or whose source does; with `includeUpstream`, those that the table
 * is made from count like itself. One statement, however many badges and tables
 * there are: pictures are public, so their cost must not grow.
 */
export async function readStatuses(
  catalog: CatalogApi,
  trx: Transaction,
  badges: readonly { id: string; includeUpstream: boolean }[],
): Promise<Map<string, BadgeStatus>> {
  if (badges.length === 0) return new Map()
  const badgeIds = badges.map(({ id }) => id)
  const withUpstream = badges.some(({ includeUpstream }) => includeUpstream)
  const judged = await rows<{ id: string; isFailing: boolean }>(
    trx,
    statusesStatement(catalog, withUpstream),
    { companyId: companyOf(trx), badgeIds },
  )
  const failing = new Map(judged.map(({ id, isFailing }) => [id, isFailing]))
  return new Map(badgeIds.map(id => [id, statusOf(failing.get(id))]))
}

function statusOf(isFailing: boolean | undefined): BadgeStatus {
  if (isFailing === undefined) return 'unknown'
  return isFailing ? 'failing' : 'passing'
}
