import type { Request } from '@hapi/hapi'
import type { QueryBuilderType } from 'objection'
import { caller, inCompany } from '../../../server/http/access.ts'
import { rows } from '../../../server/database/database.ts'
import { param, queryOf } from '../../../server/http/input.ts'
import { pageOf, pagination, type Page } from '../../../server/http/page.ts'
import type { Severity } from '../api.ts'
import { Alert, AlertTransition, NEWEST_FIRST, ALERT_STATUSES, type AlertStatus } from '../models.ts'
import { noAlert } from './transitions.ts'
import { presentAlert, presentTransition } from './present.ts'

interface AlertFilters extends Page {
  status?: AlertStatus[]
  severity?: Severity[]
  event_type?: string[]
  asset_id?: string
  delivery_failed?: boolean
  search?: string
  since?: Date
  until?: Date
}

/** One page of the alerts that match the query of a request. */
export async function listAlerts(request: Request) {
  const filters = queryOf<AlertFilters>(request)
  return inCompany(request, async trx => {
    const { asset_id: asset } = filters
    const assetId = asset && (await request.server.plugins.alerts.resolveAssetId(trx, asset))
    const matching = filterAlerts(Alert.query(trx), filters, assetId)
    const { results, total } = await pageOf(matching.orderBy(NEWEST_FIRST), filters)
    return {
      items: results.map(alert => presentAlert(request.server, alert)),
      page: pagination(total, filters),
    }
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

/** Counts alerts by status, and open ones by severity. */
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

/** One page of the transitions of an alert, newest first. @throws 404 `ALERT_NOT_FOUND` */
export async function listTransitions(request: Request) {
  const id = param(request, 'id')
  const page = queryOf<Page>(request)
  return inCompany(request, async trx => {
    if (!(await Alert.query(trx).findById(id))) throw noAlert(id)
    const transitions = AlertTransition.query(trx).where({ alertId: id }).orderBy('id', 'desc')
    const { results, total } = await pageOf(transitions, page)
    return { data: { data: results.map(presentTransition), pagination: pagination(total, page) } }
  })
}
