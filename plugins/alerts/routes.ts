import type { Request, ServerRoute } from '@hapi/hapi'
import type { QueryBuilderType } from 'objection'
import { access, actorOf, caller, inCompany } from '../../server/access.ts'
import { auditRequest } from '../../server/audit.ts'
import { rows } from '../../server/database.ts'
import { pagination, type Page } from '../../server/page.ts'
import type { EventType, Severity } from './api.ts'
import { Alert, AlertMove, STATUSES, type Status } from './models.ts'
import { moveAlert, noAlert, type Move } from './moves.ts'
import { presentAlert, presentMove } from './present.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'alerts']

interface Filters extends Page {
  status?: Status
  severity?: Severity
  event_type?: EventType
  asset_id?: string
  delivery_failed?: boolean
}

/** Alerts: reading them and moving them on. */
export const alertRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts',
    options: { ...access.read, description: 'List alerts', tags, validate: { query: schemas.alerts } },
    async handler(request) {
      const { items, page } = await list(request)
      return { data: { data: items, pagination: page } }
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/inbox',
    options: {
      ...access.read,
      description: 'List alerts that wait for someone: triggered and acknowledged ones',
      tags,
      validate: { query: schemas.inbox },
    },
    async handler(request) {
      const { items, page } = await list(request, ['triggered', 'acknowledged'])
      return { data: { alerts: items, pagination: page } }
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/summary',
    options: { ...access.read, description: 'Count alerts', tags, validate: { query: schemas.none } },
    handler: request => summary(request),
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/{id}',
    options: { ...access.read, description: 'Show an alert', tags, validate: { params: schemas.idParams } },
    async handler(request) {
      const { id } = request.params as { id: string }
      const alert = await inCompany(request, async trx => Alert.query(trx).findById(id))
      if (!alert) throw noAlert(id)
      return { data: presentAlert(alert, request.server.config.baseUrl) }
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/{id}/history',
    options: {
      ...access.read,
      description: 'List the moves of an alert, newest first',
      tags,
      validate: { params: schemas.idParams, query: schemas.page },
    },
    handler: request => history(request),
  },
  move('acknowledge', 'acknowledged', 'Take an alert on'),
  move('resolve', 'resolved', 'Resolve an alert'),
  move(
    'dismiss',
    'dismissed',
    'Dismiss an alert; with the reason "expected", the values it spoke of become part of what is expected',
  ),
  move('snooze', 'snoozed', 'Silence an alert for a while', schemas.snooze),
]

function move(verb: string, to: Move['to'], description: string, payload = schemas.move): ServerRoute {
  return {
    method: 'POST',
    path: `/api/v1/sdk/alerts/{id}/${verb}`,
    options: { ...access.write, description, tags, validate: { params: schemas.idParams, payload } },
    async handler(request) {
      const { server } = request
      const who = caller(request)
      const { id } = request.params as { id: string }
      const body = (request.payload ?? {}) as {
        reason?: string | null
        snoozed_until?: Date
        duration_minutes?: number
      }
      const until = body.snoozed_until ?? new Date(Date.now() + (body.duration_minutes ?? 0) * 60_000)
      const asked = { to, actor: actorOf(who), reason: body.reason ?? null, until }
      const alert = await server.db.company(who.companyId, async trx => {
        const moved = await moveAlert(server, trx, id, asked)
        await auditRequest(request, trx, { action: `alert.${to}`, target: { type: 'alert', id } })
        return moved
      })
      return { data: presentAlert(alert, server.config.baseUrl) }
    },
  }
}

async function list(request: Request, statuses?: Status[]) {
  const { server } = request
  const filters = request.query as unknown as Filters
  return inCompany(request, async trx => {
    const matching = filtered(Alert.query(trx), filters, statuses)
    const total = await matching.clone().resultSize()
    const found = await matching
      .orderBy([
        { column: 'createdAt', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(filters.limit)
      .offset(filters.offset)
    return {
      items: found.map(alert => presentAlert(alert, server.config.baseUrl)),
      page: pagination(total, filters),
    }
  })
}

function filtered(
  query: QueryBuilderType<Alert>,
  filters: Filters,
  statuses?: Status[],
): QueryBuilderType<Alert> {
  const { status, severity, event_type: kind, asset_id: assetId, delivery_failed: deliveryFailed } = filters
  if (statuses) void query.whereIn('status', statuses)
  if (status) void query.where({ status })
  if (severity) void query.where({ severity })
  if (kind) void query.where({ kind })
  if (deliveryFailed !== undefined) void query.where({ deliveryFailed })
  if (assetId) void query.where(either => void either.where({ assetId }).orWhere({ sourceId: assetId }))
  return query
}

async function summary(request: Request) {
  const { companyId } = caller(request)
  const counts = await request.server.db.company(companyId, trx =>
    rows<{ status: Status; severity: Severity; failed: number; count: number }>(
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
        STATUSES.map(status => [status, sum(counts.filter(row => row.status === status))]),
      ),
      open_by_severity: Object.fromEntries(
        severities.map(severity => [severity, sum(open.filter(row => row.severity === severity))]),
      ),
      delivery_failed: counts.reduce((total, { failed }) => total + failed, 0),
    },
  }
}

async function history(request: Request) {
  const { id } = request.params as { id: string }
  const page = request.query as unknown as Page
  return inCompany(request, async trx => {
    if (!(await Alert.query(trx).findById(id))) throw noAlert(id)
    const moves = AlertMove.query(trx).where({ alertId: id })
    const total = await moves.clone().resultSize()
    const found = await moves.orderBy('id', 'desc').limit(page.limit).offset(page.offset)
    return { data: { data: found.map(presentMove), pagination: pagination(total, page) } }
  })
}
