import { raw, type QueryBuilder } from 'objection'
import {
  caller,
  inCompany,
  type AnyRequest,
  type Caller,
  type ValidRequest,
} from '../../../server/http/access.ts'
import { param } from '../../../server/http/input.ts'
import { joinedPageOf, pageOf, pagination, type Page } from '../../../server/http/page.ts'
import { RESOLUTION_FIELDS, type OwnerLookup } from '../api.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { Deps } from '../deps.ts'
import { Alert, AlertTransition, ALERT_STATUSES, NEWEST_FIRST } from '../models.ts'
import { findAlert } from './find-alert.ts'
import { countAlerts, sumCounts } from './health.ts'
import { dimensionsSql } from './overview.ts'
import { filterByAssignee } from '../people/assignee.ts'
import {
  InboxAlert,
  presentAction,
  presentAlert,
  presentInboxAlert,
  presentTransition,
  readSurroundings,
} from '../present.ts'
import { INBOX_STATUSES, type AlertFilters, type InboxQuery } from './schemas.ts'

export async function listAlerts(deps: Deps, request: ValidRequest<unknown, AlertFilters>) {
  const filters = request.query
  return inCompany(request, async trx => {
    const resolved = await resolveFilters(deps, trx, filters)
    const matching = filterAlerts(Alert.query(trx), filters, resolved, caller(request))
    const { results, total } = await pageOf(matching.orderBy(NEWEST_FIRST), filters)
    const surroundings = await readSurroundings(trx, results)
    return {
      items: results.map(alert => presentAlert(deps, alert, surroundings)),
      page: pagination(total, filters),
    }
  })
}

/** Lists alerts by default those that need attention, with their destinations, in the statement of the list. */
export async function listInbox(deps: Deps, request: ValidRequest<unknown, InboxQuery>) {
  const { state, ...given } = request.query
  const filters = { ...given, status: given.status ?? state ?? [...INBOX_STATUSES] }
  return inCompany(request, async trx => {
    const resolved = await resolveFilters(deps, trx, filters)
    const matching = filterAlerts(InboxAlert.query(trx), filters, resolved, caller(request)).orderBy(
      NEWEST_FIRST,
    )
    const { results, total } = await joinedPageOf(matching, filters, page =>
      InboxAlert.query(trx)
        .from(page.as('alerts'))
        .select('alerts.*', raw(ACKNOWLEDGED_AT), raw(DESTINATION_NAME))
        .orderBy(NEWEST_FIRST),
    )
    const surroundings = await readSurroundings(trx, results)
    return {
      items: results.map(alert => presentInboxAlert(deps, alert, surroundings)),
      page: pagination(total, filters),
    }
  })
}

/** When an alert was last acknowledged. */
const ACKNOWLEDGED_AT = `(
  select max(h.at) from alert_history h
   where h.company_id = alerts.company_id and h.alert_id = alerts.id and h.to_status = 'acknowledged') as acknowledged_at`

/** Ids begin with the time: no delivery of an alert is older, which spares the partitions of earlier months. */
const DESTINATION_NAME = `(
  select string_agg(d.name, ', ' order by d.name, d.id) from destinations d
   where d.company_id = alerts.company_id and d.id in (
     select s.destination_id from deliveries s
      where s.company_id = alerts.company_id and s.alert_id = alerts.id and s.id >= alerts.id)) as destination_name`

/** What filters that name an asset or an owner mean. */
interface ResolvedFilters {
  assetId: string | undefined
  /** What an alert is about, an array in SQL; only where the filters ask. */
  dimensions: string | undefined
  owned: Awaited<ReturnType<OwnerLookup['ownedAssetsQuery']>> | undefined
}

async function resolveFilters(
  { kinds, lookUps: { assets, owners } }: Pick<Deps, 'kinds' | 'lookUps'>,
  trx: Transaction,
  { asset_id: asset, dimension, owner }: AlertFilters,
): Promise<ResolvedFilters> {
  return {
    dimensions: dimension && dimensionsSql(kinds, 'alerts'),
    assetId: asset && ((await assets?.resolveId(trx, asset)) ?? asset),
    owned: owner === undefined ? undefined : await owners?.ownedAssetsQuery(trx, owner),
  }
}

function filterAlerts<Row extends Alert>(
  query: QueryBuilder<Row, Row[]>,
  filters: AlertFilters,
  { assetId, dimensions, owned }: ResolvedFilters,
  who: Caller,
) {
  const { status, severity, event_type: kind, delivery_failed: deliveryFailed } = filters
  if (status) void query.whereIn('status', status)
  if (severity) void query.whereIn('severity', severity)
  if (kind) void query.whereIn('kind', kind)
  if (dimensions) void query.whereRaw(`${dimensions} && cast(? as text[])`, [filters.dimension])
  if (deliveryFailed !== undefined) void query.where({ deliveryFailed })
  if (assetId) void query.where(either => void either.where({ assetId }).orWhere({ sourceId: assetId }))
  if (owned)
    void query.whereRaw(
      `coalesce(asset_id, source_id) in (select asset_id from (${owned.text}) owned)`,
      owned.bindings,
    )
  filterByAssignee(query, filters.assignee_id, who)
  if (filters.since) void query.where('createdAt', '>=', filters.since)
  if (filters.until) void query.where('createdAt', '<', filters.until)
  if (filters.from_date) void query.where('createdAt', '>=', filters.from_date)
  if (filters.to_date) void query.where('createdAt', '<=', filters.to_date)
  for (const field of ['action_category', 'root_cause_category'] as const)
    if (filters[field] !== undefined) void query.whereRaw(`resolution ->> '${field}' = ?`, [filters[field]])
  if (filters.search !== undefined)
    void query.whereRaw(`strpos(lower(concat_ws(E'\\n', ${SEARCHED.join()})), lower(?)) > 0`, [
      filters.search,
    ])
  return query
}

const SEARCHED = [
  'title',
  'rule_name',
  `event #>> '{asset,qualified_name}'`,
  'notes',
  ...RESOLUTION_FIELDS.map(field => `resolution ->> '${field}'`),
]

export async function summarizeAlerts(request: AnyRequest) {
  const { counts, open, totals } = await inCompany(request, trx => countAlerts(trx))
  return {
    data: {
      total: sumCounts(counts),
      open: sumCounts(open),
      by_status: Object.fromEntries(
        ALERT_STATUSES.map(status => [status, sumCounts(counts.filter(row => row.status === status))]),
      ),
      delivery_failed: counts.reduce((total, { failed }) => total + failed, 0),
      ...totals,
    },
  }
}

/** One page of the transitions of an alert, newest first. @throws 404 `ALERT_NOT_FOUND` */
export async function listTransitions(request: ValidRequest<unknown, Page>) {
  const id = param(request, 'id')
  const page = request.query
  return inCompany(request, async trx => {
    await findAlert(trx, id)
    const transitions = AlertTransition.query(trx).where({ alertId: id }).orderBy('id', 'desc')
    const { results, total } = await pageOf(transitions, page)
    return {
      data: {
        data: results.map(presentTransition),
        history: results.map(presentAction),
        pagination: pagination(total, page),
      },
    }
  })
}
