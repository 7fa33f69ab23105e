import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Symptom } from '../api.ts'
import type { AlertOverview, Dimension, OverviewScope, WorstIncident } from '../dimensions.ts'
import { routineNames, type Kinds } from '../kinds.ts'
import { namedCause, NOT_DEMO } from '../models.ts'

const MAX_INCIDENTS = 6

/** The dimensions of kinds that show the same symptom whatever their alerts say. */
const OF_SYMPTOMS: Partial<Record<Symptom, Dimension>> = {
  stale: 'freshness',
  drift: 'schema',
  connection: 'pipelines',
  failed_run: 'pipelines',
  volume: 'volume',
}

/**
 * The dimension of alerts, an expression in SQL; null of routine kinds, which overviews leave out. Names of kinds are safe
 * within a statement: the registry takes small letters, digits and underscores only.
 * @param alerts what the statement calls them
 */
function dimensionSql(kinds: Kinds, alerts: string): string {
  const byDimension = Map.groupBy(kinds.all(), ({ name, symptom }) =>
    name === 'contract_violation' ? 'contracts' : typeof symptom === 'string' && OF_SYMPTOMS[symptom],
  )
  const cases = [...byDimension].flatMap(([dimension, own]) =>
    dimension
      ? `when ${alerts}.kind in (${own.map(({ name }) => `'${name}'`).join()}) then '${dimension}'`
      : [],
  )
  // Metrics of rows are about volume; other metrics are about values, as rules are.
  const routine = routineNames(kinds).map(name => `when ${alerts}.kind = '${name}' then null`)
  return `case ${[...routine, ...cases].join(' ')}
    when ${alerts}.event #>> '{details,metric_type}' = 'row_count' then 'volume' else 'validity' end`
}

/**
 * All dimensions of alerts, an array in SQL: one whose check a contract relies on is about that contract, too. Contracts
 * raise no alert of their own then.
 */
export function dimensionsSql(kinds: Kinds, alerts: string): string {
  return `array_remove(array[${dimensionSql(kinds, alerts)},
    case when ${alerts}.event #> '{details,contracts}' is not null then 'contracts' end], null)`
}

const IN_SCOPE = `(cast(:assetId as uuid) is null or a.asset_id = :assetId or a.source_id = :assetId)`

/** A condition on incidents `i`. */
const CONCERNS_SCOPE = `(cast(:assetId as uuid) is null or exists (
  select from incident_alerts ia join alerts a on a.company_id = i.company_id and a.id = ia.alert_id
   where ia.company_id = i.company_id and ia.incident_id = i.id and ${IN_SCOPE}))`

/** The worst first, then the newest: of incidents under a name. */
const worstFirst = (i: string) =>
  `array_position(array['critical', 'warning', 'info'], ${i}.severity), ${i}.created_at desc, ${i}.id desc`

/** The median of the minutes between two times of incidents `i`, over those that have both and the later one in the days. */
const medianMinutes = (from: string, to: string) =>
  `(percentile_cont(0.5) within group (order by extract(epoch from i.${to} - i.${from}) / 60)
    filter (where i.${to} >= :since))::float`

/** Counts alerts by day, each once, and by source, and reads incidents: in four statements. */
export async function readAlertOverview(
  trx: Transaction,
  kinds: Kinds,
  { starts, assetId }: OverviewScope,
): Promise<AlertOverview> {
  const scope = { companyId: companyOf(trx), assetId, routineKinds: routineNames(kinds) }
  const counted = `a.company_id = :companyId and a.kind <> all(cast(:routineKinds as text[])) and ${NOT_DEMO} and ${IN_SCOPE}`
  const dimension = dimensionSql(kinds, 'a')
  const opened = await rows<AlertOverview['opened'][number]>(
    trx,
    `select width_bucket(a.created_at, cast(:starts as timestamptz[])) as place, ${dimension} as dimension, a.severity,
            count(*)::int as count
       from alerts a where ${counted} and a.created_at >= :since and a.created_at < :until
      group by 1, 2, 3`,
    { ...scope, starts: [...starts], since: starts[0], until: starts.at(-1) },
  )
  const open = await rows<AlertOverview['open'][number]>(
    trx,
    `select a.source_id, dimension, a.severity, count(*)::int as count
       from alerts a cross join lateral unnest(${dimensionsSql(kinds, 'a')}) dimension where ${counted} and a.status in ('triggered', 'acknowledged') group by 1, 2, 3`,
    scope,
  )
  const incidents = await rows<WorstIncident & { total: number }>(
    trx,
    `with active as (
       select i.*, ${namedCause('asset_id')} as cause_asset_id, count(*) over ()::int as total from incidents i
        where i.company_id = :companyId and i.status in ('open', 'acknowledged') and ${CONCERNS_SCOPE}),
     worst as (select * from active order by ${worstFirst('active')} limit :limit)
     select w.id, w.title, w.severity, w.status, w.alert_count, w.created_at, w.total,
            w.cause_asset_id, counted.asset_ids,
            coalesce(nullif(u.full_name, ''), u.email) as assignee
       from worst w
       cross join lateral (
         select coalesce(array_agg(distinct a.asset_id) filter (where a.asset_id is not null), '{}') as asset_ids
           from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
          where ia.company_id = :companyId and ia.incident_id = w.id) counted
       left join users u on u.company_id = :companyId and u.id = w.assignee_id
      order by ${worstFirst('w')}`,
    { ...scope, limit: MAX_INCIDENTS },
  )
  const [minutes] = await rows<AlertOverview['minutes']>(
    trx,
    `select ${medianMinutes('started_at', 'created_at')} as detect,
            ${medianMinutes('created_at', 'acknowledged_at')} as acknowledge,
            ${medianMinutes('created_at', 'resolved_at')} as resolve
       from incidents i
      where i.company_id = :companyId and i.merged_into is null and i.status <> 'dismissed'
        and (i.created_at >= :since or i.resolved_at >= :since) and ${CONCERNS_SCOPE}`,
    { ...scope, since: starts[0] },
  )
  return {
    ...{ opened, open, incidents, totalIncidents: incidents[0]?.total ?? 0 },
    minutes: minutes ?? { detect: null, acknowledge: null, resolve: null },
  }
}
