import type { ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditRequest, fieldsOf } from '../../../server/http/audit.ts'
import { warnOfChange, warnOfRemoval } from '../../../server/http/check-owner.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import type { StoppedCheck } from '../../checks/api.ts'
import type { FreshnessApi } from '../api.ts'
import type { FreshnessDeps } from '../deps.ts'
import { createSchedules } from './bulk.ts'
import { createListedSchedules } from './listed.ts'
import { listSchedules, scopeOf } from '../lists.ts'
import type { MonitoredTable } from '../models.ts'
import { presentSchedule } from '../present.ts'
import { replies } from '../replies.ts'
import * as schemas from '../schemas.ts'
import {
  assertRunnable,
  checkNow,
  createSchedule,
  deleteSchedule,
  patchSchedule,
  scheduleEvent,
} from './schedules.ts'
import { warningsOf } from './signals.ts'

const route = routesOf('freshness')

const BASE = '/api/v1/sdk/freshness/schedules'

type ScheduleRouteDeps = Pick<FreshnessDeps, 'alerts' | 'catalog' | 'checks' | 'db' | 'pino'>

/** Routes that manage freshness schedules. */
export const scheduleRoutes = (
  deps: ScheduleRouteDeps,
  { checkSource }: Pick<FreshnessApi, 'checkSource'>,
): ServerRoute[] => [
  route('GET', BASE, access.read, {
    description: 'List freshness schedules',
    notes: 'How each table is checked. `GET /api/v1/sdk/freshness` lists what the checks found.',
    validate: { query: schemas.schedulesQuery },
    response: replies.schedules,
    handler: request => inCompany(request, trx => list(deps, trx, request.query)),
  }),
  route('POST', BASE, access.write, {
    description: 'Create the freshness schedule of a table and run the first check',
    notes:
      'Each table has one schedule. With a threshold it is judged at once; without one the usual interval is learned first. Use `bulk` for many tables.',
    validate: { payload: schemas.newSchedule },
    response: replies.newSchedule,
    handler: async (request, h) => {
      const body = request.payload
      await assertRunnable(deps, caller(request).companyId, body, body)
      const made = await inCompany(request, async trx => {
        const schedule = await createSchedule(deps.catalog, trx, body)
        const event = scheduleEvent('created', schedule, { table: schedule.qualifiedName })
        await auditRequest(request, trx, event)
        return { schedule, warnings: await warningsOf(deps.catalog, trx, schedule) }
      })
      return h.response({ data: await checkedSchedule({ ...deps, checkSource }, made) }).code(201)
    },
  }),
  route('POST', `${BASE}/bulk`, access.write, {
    id: 'createFreshnessSchedules',
    description: 'Create the missing freshness schedules of many tables',
    notes:
      'Patterns choose the tables, or a list names them. The first checks run within a minute. Repeating the request adds schedules for new tables.',
    validate: { payload: schemas.newSchedules },
    response: replies.bulk,
    handler: async request => ({
      data: await inCompany(request, async trx => {
        const body = request.payload
        const reply =
          'schedules' in body
            ? await createListedSchedules(deps.catalog, trx, body)
            : await createSchedules(deps.catalog, trx, body)
        if (reply.created > 0 && !('dry_run' in reply && reply.dry_run)) {
          const { source } = await deps.catalog.findAsset(trx, body.asset_id)
          await auditRequest(request, trx, {
            action: 'schedule.created',
            target: { type: 'source', id: source.id },
            details: { created: reply.created },
          })
        }
        return reply
      }),
    }),
  }),
  route('PATCH', `${BASE}/{id}`, access.write, {
    description: 'Change a freshness schedule and check its table',
    notes: 'Fields that are left out keep their values.',
    validate: { params: schemas.scheduleParams, payload: schemas.schedulePatch },
    response: replies.schedule,
    handler: async request => {
      const id = param(request, 'id')
      const patch = request.payload
      await assertRunnable(deps, caller(request).companyId, { id }, patch)
      const changed = await inCompany(request, async trx => {
        const schedule = await patchSchedule(deps, trx, id, patch)
        if (patch.is_active === false) await notifyStopped(deps, trx, request, schedule, 'paused')
        const event = scheduleEvent('updated', schedule, { fields: fieldsOf(patch) })
        await auditRequest(request, trx, event)
        return { schedule, warnings: await warningsOf(deps.catalog, trx, schedule) }
      })
      return { data: await checkedSchedule({ ...deps, checkSource }, changed) }
    },
  }),
  route('DELETE', `${BASE}/{id}`, access.write, {
    description: 'Delete a freshness schedule and its history',
    notes: 'Use `is_active: false` to pause it and keep the history.',
    validate: { params: schemas.scheduleParams },
    response: replies.scheduleRemoved,
    handler: request =>
      inCompany(request, async trx => {
        const id = param(request, 'id')
        const schedule = await deleteSchedule(deps.alerts, trx, id)
        const { qualifiedName, ownerRef } = schedule
        await notifyStopped(deps, trx, request, schedule, 'removed')
        await auditRequest(request, trx, scheduleEvent('removed', schedule, { table: qualifiedName }))
        return {
          data: {
            success: true,
            message: `The freshness schedule of ${qualifiedName} was removed`,
            ...warnOfRemoval(ownerRef),
          },
        }
      }),
  }),
]

/** The entries of the audit log come after this, since they lock the log. */
async function notifyStopped(
  { catalog, checks }: Pick<FreshnessDeps, 'catalog' | 'checks'>,
  trx: Transaction,
  request: AnyRequest,
  { uuid: id, sourceId, tableId }: Pick<MonitoredTable, 'uuid' | 'sourceId' | 'tableId'>,
  how: StoppedCheck['how'],
): Promise<void> {
  const { source } = await catalog.findAsset(trx, sourceId)
  const about = { subject: { tableId, type: 'freshness', column: null }, by: actorOf(caller(request)) }
  await checks.notifyStopped(trx, source, { kind: 'freshness', id, how, ...about })
}

/** A new or changed schedule after its first check, with warnings. */
async function checkedSchedule(
  deps: Parameters<typeof checkNow>[0],
  { schedule, warnings }: { schedule: MonitoredTable; warnings: string[] },
) {
  const { warnings: more = [], ...managed } = warnOfChange(schedule.ownerRef)
  return {
    ...presentSchedule(await checkNow(deps, schedule)),
    ...managed,
    warnings: [...warnings, ...more],
  }
}

async function list(
  { catalog }: Pick<FreshnessDeps, 'catalog'>,
  trx: Transaction,
  { asset_id: asset, is_active: state, active_only: isActiveOnly = false, ...page }: schemas.SchedulesQuery,
) {
  if (isActiveOnly && state === false)
    throw invalidField('active_only', 'contradicts is_active=false: give one of the two')
  const isActive = isActiveOnly || state
  const scope = await scopeOf(catalog, trx, asset)
  const { tables, pagination } = await listSchedules(trx, scope, { ...page, isActive })
  const items = tables.map(table => ({
    ...presentSchedule(table),
    ...(table.ownerRef && { managed_by: table.ownerRef }),
  }))
  return { data: { data: items, pagination } }
}
