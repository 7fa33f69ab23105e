import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../../server/http/access.ts'
import { auditRequest, auditorOf, fieldsOf } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { bodyOf, param, queryOf } from '../../../server/http/input.ts'
import type { Page } from '../../../server/http/page.ts'
import { createSchedules, type BulkScheduleRequest } from './bulk.ts'
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
  type ScheduleRequest,
  type ScheduleFields,
} from './schedules.ts'
import { warningsOf } from './signals.ts'

const BASE = '/api/v1/sdk/freshness/schedules'
const tags = ['api', 'freshness']

/** Routes that manage freshness schedules. */
export const scheduleRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: BASE,
    options: {
      ...access.read,
      description: 'List freshness schedules',
      tags,
      validate: { query: schemas.schedulesQuery },
      response: replies.schedules,
    },
    handler: request => inCompany(request, trx => list(request, trx)),
  },
  {
    method: 'POST',
    path: BASE,
    options: {
      ...access.write,
      description: 'Create the freshness schedule of a table and run the first check',
      tags,
      validate: { payload: schemas.newSchedule },
      response: replies.newSchedule,
    },
    handler: async (request, h) => {
      const body = bodyOf<ScheduleRequest>(request)
      await assertRunnable(request.server, caller(request).companyId, body, body)
      const made = await inCompany(request, async trx => {
        const schedule = await createSchedule(request.server, trx, body)
        await audit(request, trx, 'created', schedule, { table: schedule.qualifiedName })
        return { schedule, warnings: await warningsOf(request.server, trx, schedule) }
      })
      return h.response({ data: await checkedSchedule(request, made) }).code(201)
    },
  },
  {
    method: 'POST',
    path: `${BASE}/bulk`,
    options: {
      ...access.write,
      description: 'Create the missing freshness schedules of many tables',
      notes: 'The first checks run within a minute. Repeating the request adds schedules for new tables.',
      tags,
      validate: { payload: schemas.newSchedules },
      response: replies.bulk,
    },
    handler: async request => ({
      data: await inCompany(request, async trx => {
        const body = bodyOf<BulkScheduleRequest>(request)
        const reply = await createSchedules(request.server, trx, body)
        if (reply.created > 0 && !reply.dry_run) {
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
  },
  {
    method: 'PATCH',
    path: `${BASE}/{id}`,
    options: {
      ...access.write,
      description: 'Change a freshness schedule and check its table',
      tags,
      validate: { params: schemas.scheduleParams, payload: schemas.schedulePatch },
      response: replies.schedule,
    },
    handler: async request => {
      const id = param(request, 'id')
      const patch = bodyOf<ScheduleFields>(request)
      await assertRunnable(request.server, caller(request).companyId, { id }, patch)
      const changed = await inCompany(request, async trx => {
        const schedule = await patchSchedule(request.server, trx, id, patch)
        await audit(request, trx, 'updated', schedule, { fields: fieldsOf(patch) })
        return { schedule, warnings: await warningsOf(request.server, trx, schedule) }
      })
      return { data: await checkedSchedule(request, changed) }
    },
  },
  {
    method: 'DELETE',
    path: `${BASE}/{id}`,
    options: {
      ...access.write,
      description: 'Delete a freshness schedule and its history',
      tags,
      validate: { params: schemas.scheduleParams },
      response: replies.scheduleRemoved,
    },
    handler: request =>
      inCompany(request, async trx => {
        const schedule = await deleteSchedule(request.server, trx, param(request, 'id'))
        const { qualifiedName } = schedule
        await audit(request, trx, 'removed', schedule, { table: qualifiedName })
        return {
          data: { success: true, message: `The freshness schedule of ${qualifiedName} was removed` },
        }
      }),
  },
]

/** A new or changed schedule after its first check, with warnings. */
async function checkedSchedule(
  { server }: Request,
  { schedule, warnings }: { schedule: MonitoredTable; warnings: string[] },
): Promise<object> {
  return { ...presentSchedule(await checkNow(server, schedule)), warnings }
}

async function list(request: Request, trx: Transaction): Promise<object> {
  const {
    asset_id: asset,
    is_active: isActive,
    ...page
  } = queryOf<Page & { asset_id?: string; is_active?: boolean }>(request)
  const scope = await scopeOf(request.server, trx, asset)
  const { tables, pagination } = await listSchedules(trx, scope, { ...page, isActive })
  return { data: { data: tables.map(presentSchedule), pagination } }
}

const audit = auditorOf('schedule', ({ id }: { id: string }) => id)
