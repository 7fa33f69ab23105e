import type { Request, ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest, fieldsOf } from '../../../server/http/audit.ts'
import { warnOfChange, warnOfRemoval, type CheckOwner } from '../../../server/http/check-owner.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { bodyOf, param, queryOf } from '../../../server/http/input.ts'
import type { Page } from '../../../server/http/page.ts'
import type { StoppedCheck } from '../../checks/api.ts'
import { createSchedules, type BulkScheduleRequest } from './bulk.ts'
import { createListedSchedules, type ListedScheduleRequest } from './listed.ts'
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
  type ScheduleRequest,
  type ScheduleFields,
} from './schedules.ts'
import { warningsOf } from './signals.ts'

const route = routesOf('freshness')

const BASE = '/api/v1/sdk/freshness/schedules'
/** Routes that manage freshness schedules. */
export const scheduleRoutes: ServerRoute[] = [
  route('GET', BASE, access.read, {
    description: 'List freshness schedules',
    notes: 'How each table is checked. `GET /api/v1/sdk/freshness` lists what the checks found.',
    validate: { query: schemas.schedulesQuery },
    response: replies.schedules,
    handler: request => inCompany(request, trx => list(request, trx)),
  }),
  route('POST', BASE, access.write, {
    description: 'Create the freshness schedule of a table and run the first check',
    notes:
      'Each table has one schedule. With a threshold it is judged at once; without one the usual interval is learned first. Use `bulk` for many tables.',
    validate: { payload: schemas.newSchedule },
    response: replies.newSchedule,
    handler: async (request, h) => {
      const body = bodyOf<ScheduleRequest>(request)
      await assertRunnable(request.server, caller(request).companyId, body, body)
      const made = await inCompany(request, async trx => {
        const schedule = await createSchedule(request.server, trx, body)
        const event = scheduleEvent('created', schedule, { table: schedule.qualifiedName })
        await auditRequest(request, trx, event)
        return { schedule, warnings: await warningsOf(request.server, trx, schedule) }
      })
      return h.response({ data: await checkedSchedule(request, made) }).code(201)
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
        const body = bodyOf<BulkScheduleRequest | ListedScheduleRequest>(request)
        const reply =
          'schedules' in body
            ? await createListedSchedules(request.server, trx, body)
            : await createSchedules(request.server, trx, body)
        if (reply.created > 0 && !('dry_run' in reply && reply.dry_run)) {
          const { source } = await request.server.plugins.catalog.findAsset(trx, body.asset_id)
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
      const patch = bodyOf<ScheduleFields>(request)
      await assertRunnable(request.server, caller(request).companyId, { id }, patch)
      const changed = await inCompany(request, async trx => {
        const schedule = await patchSchedule(request.server, trx, id, patch)
        const owner = await ownerOf(request, trx, id)
        if (patch.is_active === false) await notifyStopped(request, trx, schedule, 'paused')
        const event = scheduleEvent('updated', schedule, { fields: fieldsOf(patch) })
        await auditRequest(request, trx, event)
        return {
          schedule,
          ...(owner && { owner }),
          warnings: await warningsOf(request.server, trx, schedule),
        }
      })
      return { data: await checkedSchedule(request, changed) }
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
        const owner = await ownerOf(request, trx, id)
        const schedule = await deleteSchedule(request.server, trx, id)
        const { qualifiedName } = schedule
        await notifyStopped(request, trx, schedule, 'removed')
        await auditRequest(request, trx, scheduleEvent('removed', schedule, { table: qualifiedName }))
        return {
          data: {
            ...{ success: true, message: `The freshness schedule of ${qualifiedName} was removed` },
            ...warnOfRemoval(owner),
          },
        }
      }),
  }),
]

/** The entries of the audit log come after this, since they lock the log. */
async function notifyStopped(
  request: Request,
  trx: Transaction,
  { id, sourceId, tableId }: Pick<MonitoredTable, 'id' | 'sourceId' | 'tableId'>,
  how: StoppedCheck['how'],
): Promise<void> {
  const { catalog, checks } = request.server.plugins
  const { source } = await catalog.findAsset(trx, sourceId)
  const about = { subject: { tableId, type: 'freshness', column: null }, by: actorOf(caller(request)) }
  await checks.notifyStopped(trx, source, { kind: 'freshness', id, how, ...about })
}

async function ownerOf({ server }: Request, trx: Transaction, id: string): Promise<CheckOwner | undefined> {
  return (await server.plugins.checks.findOwners(trx, 'freshness', [id])).get(id)
}

/** A new or changed schedule after its first check, with warnings. */
async function checkedSchedule(
  { server }: Request,
  { schedule, warnings, owner }: { schedule: MonitoredTable; warnings: string[]; owner?: CheckOwner },
): Promise<object> {
  const { warnings: more = [], ...managed } = warnOfChange(owner)
  return {
    ...presentSchedule(await checkNow(server, schedule)),
    ...managed,
    warnings: [...warnings, ...more],
  }
}

async function list(request: Request, trx: Transaction): Promise<object> {
  const {
    asset_id: asset,
    is_active: state,
    active_only: isActiveOnly = false,
    ...page
  } = queryOf<Page & { asset_id?: string; is_active?: boolean; active_only?: boolean }>(request)
  if (isActiveOnly && state === false)
    throw invalidField('active_only', 'contradicts is_active=false: give one of the two')
  const isActive = isActiveOnly || state
  const scope = await scopeOf(request.server, trx, asset)
  const { tables, pagination } = await listSchedules(trx, scope, { ...page, isActive })
  const owners = await request.server.plugins.checks.findOwners(
    trx,
    'freshness',
    tables.map(({ id }) => id),
  )
  const items = tables.map(table => {
    const owner = owners.get(table.id)
    return { ...presentSchedule(table), ...(owner && { managed_by: owner }) }
  })
  return { data: { data: items, pagination } }
}
