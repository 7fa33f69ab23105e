import { companyOf, rows, type Transaction } from '../../server/database/database.ts'

/** What a badge says. */
export const STATUSES = ['passing', 'failing', 'unknown'] as const
export type Status = (typeof STATUSES)[number]

/**
 * Rows of a table that are of a badge's asset, by the index of its level, and none of the other read.
 * @param table whose rows have a source and a table
 * @param outcome what a row says, as SQL over `c`
 * @param condition which rows say something, as SQL over `b` and `c`
 */
const found = (table: string, outcome: string, condition: string) =>
  ['source_id', 'table_id']
    .map(
      level => `select b.id, c.source_id, c.table_id, ${outcome} as outcome from b join ${table} c
        on c.company_id = b.company_id and c.${level} = b.asset_id where ${level === 'source_id' ? '' : 'not'} b.is_source and ${condition}`,
    )
    .join(' union all ')

/** How the active checks of one kind did last. */
const results = (table: string, status: string) =>
  found(table, `lower(c.${status})`, `c.is_active and c.${status} is not null`)

// What was found before a pause says nothing of now.
const FRESHNESS = found(
  'freshness_schedules',
  `case when c.last_error is not null then 'error' when c.status = 'stale' then 'fail' else 'pass' end`,
  `b.freshness_enabled and c.is_active and (c.last_error is not null or c.status <> 'unknown')
     and exists (select from sources s where s.company_id = c.company_id and s.id = c.source_id and s.is_active)`,
)

/** Every change that nobody has acknowledged is a failure. */
const DRIFT = found('schema_changes', `'fail'`, 'b.schema_drift_enabled and not c.is_acknowledged')

/** Where nothing has changed, it has to be known that somebody looked. */
const DISCOVERY = `
  select b.id, s.id, null, case when s.discovery_state = 'failed' then 'error' else 'pass' end
  from b join sources s on s.company_id = b.company_id and s.id in (b.asset_id,
    (select t.source_id from tables t where t.company_id = b.company_id and t.id = b.asset_id))
  where b.schema_drift_enabled and (s.discovery_state = 'failed' or s.last_discovery_at is not null)
    and (cardinality(b.tag_filters) = 0 or exists (select from tagged t where t.id = b.id
      and t.source_id = s.id and (t.table_id is null or b.asset_id in (t.source_id, t.table_id))))`

const STATUSES_SQL = `
  with b as materialized (
    select *, exists (
      select from sources s where s.company_id = badges.company_id and s.id = badges.asset_id) as is_source
    from badges where company_id = :companyId and id = any(cast(:badgeIds as uuid[]))
  ), tagged as materialized (
    select b.id, g.source_id, g.table_id from b join tags g
      on g.company_id = b.company_id and g.name = any(b.tag_filters) and not g.is_refused
  ), c as (
    ${[
      results('validity_rules', 'latest_status'),
      results('metrics', 'last_status'),
      results('referential_checks', 'latest_status'),
      FRESHNESS,
      DRIFT,
      DISCOVERY,
    ].join(' union all ')}
  )
  select b.id, bool_or(c.outcome in ('fail', 'error')) as is_failing
  from b join c on c.id = b.id
  where cardinality(b.tag_filters) = 0 or c.table_id is null
    or (c.id, c.table_id) in (select id, table_id from tagged where table_id is not null)
    or (c.id, c.source_id) in (select id, source_id from tagged where table_id is null)
  group by b.id`

/**
 * What badges say now: `unknown` without a result, `failing` when the last result of an active check (rule, metric or
 * referential check), or what the badge looks at besides, fails or errs, else `passing`. With tag filters, tables count
 * that carry one of them, in a column too, or whose source does. One statement over the tables of all features,
 * however many badges and tables there are: anybody may ask for a picture, as often as they like.
 */
export async function statusesOf(
  trx: Transaction,
  badgeIds: readonly string[],
): Promise<Map<string, Status>> {
  if (badgeIds.length === 0) return new Map()
  const judged = await rows<{ id: string; isFailing: boolean }>(trx, STATUSES_SQL, {
    companyId: companyOf(trx),
    badgeIds: [...badgeIds],
  })
  const failing = new Map(judged.map(({ id, isFailing }) => [id, isFailing]))
  return new Map(badgeIds.map(id => [id, said(failing.get(id))]))
}

function said(isFailing: boolean | undefined): Status {
  if (isFailing === undefined) return 'unknown'
  return isFailing ? 'failing' : 'passing'
}
