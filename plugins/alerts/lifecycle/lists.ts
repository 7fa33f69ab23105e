import type { Request } from '@hapi/hapi'
import type { QueryBuilderType } from 'objection'
import { caller, inCompany } from '../../../server/http/access.ts'
import { rows } from '../../../server/database/database.ts'
import { param, queryOf } from '../../../server/http/input.ts'
import { newestFirst, type Page, pagination } from '../../../server/http/page.ts'
import type { EventType, Severity } from '../api.ts'
import { Alert, AlertTransition, ALERT_STATUSES, type AlertStatus } from '../models.ts'
import { noAlert } from './transitions.ts'
import { presentAlert, presentTransition } from './present.ts'

/** The order of lists: newest first, the id as tie-break. */
export const NEWEST_FIRST = newestFirst('createdAt', 'id')

interface AlertFilters extends Page {
  status?: AlertStatus[]
  severity?: Severity[]
  event_type?: EventType[]
  asset_id?: string
  delivery_failed?: boolean
  search?: string
  since?: Date
  until?: Date
}

/** One page of the alerts that a request's query asks for. */
export async function listAlerts(request: Request) {
  const { baseUrl } = request.server.config
  const filters = queryOf<AlertFilters>(request)
  return inCompany(request, async trx => {
    const { asset_id: asset } = filters
    const assetId = asset && (await request.server.plugins.alerts.resolveAssetId(trx, asset))
    const matching = filterAlerts(Alert.query(trx), filters, assetId)
    const total = await matching.clone().resultSize()
    const found = await matching.orderBy(NEWEST_FIRST).limit(filters.limit).offset(filters.offset)
    return { items: found.map(alert => presentAlert(alert, baseUrl)), page: pagination(total, filters) }
  })
}

function filterAlerts(
  query: QueryBuilderType<Alert>,
  filters: AlertFilters,
  assetId: string | undefined,
): QueryBuilderType<Alert> {
  const { status, severity, event_type: kind, delivery_failed: deliveryFailed } = filters
  if (status) void query.whereIn('status', status)
  if (severity) void query.whereIn('severity', severity)
  if (kind) void query.whereIn('kind', kind)
  if (deliveryFailed !== undefined) void query.where({ deliveryFailed })
  if (assetId) void query.where(either => void either.where({ assetId }).orWhere({ sourceId: assetId }))
  if (filters.since) void query.where('createdAt', '>=', filters.since)
  if (filters.until) void query.where('createdAt', '<', filters.until)
  if (filters.search !== undefined) {
    void query.whereRaw(
      `strpos(lower(concat_ws(E'\\n', title, rule_name, event #>> '{asset,qualified_name}')), lower(?)) > 0`,
      [filters.search],
    )
  }
  return query
}

/** How many alerts there are, by status, and by severity those that are open. */
export async function summarizeAlerts(request: Request) {
  const { companyId } = caller(request)
  const counts = await inCompany(request, trx =>
    rows<{ status: AlertStatus; severity: Severity; failed: number; count: number }>(
      trx,
      `select status, severity, count(*)::int as count, count(*) filter (where delivery_failed)::int as failed
         from alerts where company_id = ? group by status, severity`,
      [companyId],
    ),
  )
  const sum = (of: typeof counts) => of.reduce((total, { count }) => total + count, 0)
  const open = counts.filter(({ status }) => status !== 'resolved' && status !== 'dismissed')
  const severities = ['critical', 'warning', 'info'] as const
  return {
    data: {
      total: sum(counts),
      open: sum(open),
      by_status: Object.fromEntries(
        ALERT_STATUSES.map(status => [status, sum(counts.filter(row => row.status === status))]),
      ),
      open_by_severity: Object.fromEntries(
        severities.map(severity => [severity, sum(open.filter(row => row.severity === severity))]),
      ),
      delivery_failed: counts.reduce((total, { failed }) => total + failed, 0),
    },
  }
}

/** One page of the moves of an alert, newest first. @throws 404 `ALERT_NOT_FOUND` */
export async function listTransitions(request: Request) {
  const id = param(request, 'id')
  const page = queryOf<Page>(request)
  return inCompany(request, async trx => {
    if (!(await Alert.query(trx).findById(id))) throw noAlert(id)
    const moves = AlertTransition.query(trx).where({ alertId: id })
    const total = await moves.clone().resultSize()
    const found = await moves.orderBy('id', 'desc').limit(page.limit).offset(page.offset)
    return { data: { data: found.map(presentTransition), pagination: pagination(total, page) } }
  })
}
