import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'

/** What a badge shows. */
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

function statusesStatement(server: Server): string {
  const outcomes = server.plugins.catalog
    .outcomeQueries()
    .map(({ kind, text }) => outcomesFrom(text, CONDITIONS[kind]))
  return `
    with b as materialized (
      select *, exists (
        select from sources s where s.company_id = badges.company_id and s.id = badges.asset_id) as is_source
      from badges where company_id = :companyId and id = any(cast(:badgeIds as uuid[]))
    ), tagged as materialized (
      select b.id, g.source_id, g.table_id from b join tags g
        on g.company_id = b.company_id and g.name = any(b.tag_filters) and not g.is_refused
    ), c as (
      ${[...outcomes, outcomesFrom(OPEN_CHANGES, 'b.schema_drift_enabled'), DISCOVERY].join(' union all ')}
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
 * count that carry one of the tags, in a column too, or whose source does. One statement, however many badges and tables
 * there are: pictures are public, so their cost must not grow.
 */
export async function readStatuses(
  server: Server,
  trx: Transaction,
  badgeIds: readonly string[],
): Promise<Map<string, BadgeStatus>> {
  if (badgeIds.length === 0) return new Map()
  const judged = await rows<{ id: string; isFailing: boolean }>(trx, statusesStatement(server), {
    companyId: companyOf(trx),
    badgeIds: [...badgeIds],
  })
  const failing = new Map(judged.map(({ id, isFailing }) => [id, isFailing]))
  return new Map(badgeIds.map(id => [id, statusOf(failing.get(id))]))
}

function statusOf(isFailing: boolean | undefined): BadgeStatus {
  if (isFailing === undefined) return 'unknown'
  return isFailing ? 'failing' : 'passing'
}
