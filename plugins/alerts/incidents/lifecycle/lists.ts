import { raw, type QueryBuilder } from 'objection'
import { caller, inCompany, type Caller, type ValidRequest } from '../../../../server/http/access.ts'
import { apiError } from '../../../../server/http/errors.ts'
import type { Transaction } from '../../../../server/database/database.ts'
import { joinedPageOf, pageOf, pagination, type Page } from '../../../../server/http/page.ts'
import type { Deps } from '../../deps.ts'
import { filterByAssignee } from '../../people/assignee.ts'
import { presentActivities } from '../../people/timeline.ts'
import { IS_OPEN } from '../../models.ts'
import { Incident, IncidentActivity, NEWEST_FIRST } from '../models.ts'
import { readAround } from './around.ts'
import { ListedIncident, presentIncident } from './present.ts'
import type { IncidentFilters } from './schemas.ts'

/** What lists read of the alerts of an incident, and of its assignee. */
const JOINED = `cross join lateral (
    select count(*) filter (where a.${IS_OPEN})::int as open_alert_count,
           coalesce(array_agg(distinct a.asset_id) filter (where a.asset_id is not null), '{}') as asset_ids,
           coalesce(sum(a.occurrences), 0)::int as trigger_count, max(a.last_seen_at) as last_triggered_at
      from incident_alerts ia join alerts a on a.company_id = incidents.company_id and a.id = ia.alert_id
     where ia.company_id = incidents.company_id and ia.incident_id = incidents.id) counted
  left join lateral (
    select u.email as assignee_email, u.full_name as assignee_name from users u
     where u.company_id = incidents.company_id and u.id = incidents.assignee_id) assignee on true`

/** Reads incidents of a query with what is shown beside them. */
export function readShown(trx: Transaction, page: QueryBuilder<ListedIncident, ListedIncident[]>) {
  return ListedIncident.query(trx)
    .from(page.as('incidents'))
    .joinRaw(JOINED)
    .select('incidents.*', raw('counted.*'), raw('assignee.*'))
    .orderBy(NEWEST_FIRST)
}

type ListDeps = Pick<Deps, 'lookUps' | 'config'>

export async function listIncidents(
  { lookUps, config }: ListDeps,
  request: ValidRequest<unknown, IncidentFilters>,
) {
  const filters = request.query
  return inCompany(request, async trx => {
    const { asset_id: asset } = filters
    const assetId = asset && ((await lookUps.assets?.resolveId(trx, asset)) ?? asset)
    const listed = ListedIncident.query(trx)
    const matching = sortIncidents(filterIncidents(listed, filters, assetId, caller(request)), filters)
    const { results, total } = await joinedPageOf(matching, filters, page => readShown(trx, page))
    const around = await readAround(lookUps, trx, results)
    return {
      items: results.map((incident, n) => presentIncident(config.baseUrl, incident, around[n]!)),
      page: pagination(total, filters),
    }
  })
}

/** Where incidents are equal in what they are sorted by, the newest come first. */
function sortIncidents<Row extends Incident>(
  query: QueryBuilder<Row, Row[]>,
  { sort, order }: IncidentFilters,
): QueryBuilder<Row, Row[]> {
  return query.orderBy(sort === 'created_at' ? 'createdAt' : 'alertCount', order).orderBy(NEWEST_FIRST)
}

function filterIncidents<Row extends Incident>(
  query: QueryBuilder<Row, Row[]>,
  filters: IncidentFilters,
  assetId: string | undefined,
  who: Caller,
) {
  const { status, severity, event_type: kinds, alert_id: alertId } = filters
  if (status) void query.whereIn('status', status)
  if (severity) void query.whereIn('severity', severity)
  if (kinds) void query.whereIn('eventType', kinds)
  filterByAssignee(query, filters.assignee_id, who)
  if (alertId !== undefined)
    void query.whereRaw(
      `incidents.id = (select ia.incident_id from incident_alerts ia
         where ia.company_id = incidents.company_id and ia.alert_id = ?)`,
      [alertId],
    )
  if (assetId !== undefined)
    void query.whereRaw(
      `incidents.id in (select ia.incident_id from alerts a
         join incident_alerts ia on ia.company_id = a.company_id and ia.alert_id = a.id
        where a.company_id = incidents.company_id and (a.asset_id = ? or a.source_id = ?))`,
      [assetId, assetId],
    )
  if (filters.since) void query.where('createdAt', '>=', filters.since)
  if (filters.until) void query.where('createdAt', '<', filters.until)
  if (filters.search !== undefined)
    void query.whereRaw('strpos(lower(title), lower(?)) > 0', [filters.search])
  return query
}

/** @throws 404 `INCIDENT_NOT_FOUND` */
export async function findIncident(trx: Transaction, id: string): Promise<Incident> {
  const incident = await Incident.query(trx).findById(id)
  if (incident) return incident
  const message = 'There is no incident of this id: GET /api/v1/sdk/incidents lists them'
  throw apiError('INCIDENT_NOT_FOUND', message, { incident_id: id })
}

/** One page of the timeline of an incident, newest first. @throws 404 `INCIDENT_NOT_FOUND` */
export async function listActivities(trx: Transaction, id: string, page: Page) {
  await findIncident(trx, id)
  const matching = IncidentActivity.query(trx).where({ incidentId: id }).orderBy('id', 'desc')
  const { results, total } = await pageOf(matching, page)
  return { activities: await presentActivities(trx, results), pagination: pagination(total, page) }
}
