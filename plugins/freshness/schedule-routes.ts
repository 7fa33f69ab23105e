import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/access.ts'
import type { Transaction } from '../../server/database.ts'
import { bodyOf, param, queryOf } from '../../server/input.ts'
import type { Page } from '../../server/page.ts'
import { createSchedules, type NewSchedules } from './bulk.ts'
import { listSchedules, scopeOf } from './lists.ts'
import { presentSchedule } from './present.ts'
import * as schemas from './schemas.ts'
import {
  assertRunnable,
  checkAtOnce,
  createSchedule,
  deleteSchedule,
  patchSchedule,
  type NewSchedule,
  type ScheduleFields,
} from './schedules.ts'

const BASE = '/api/v1/sdk/freshness/schedules'
const tags = ['api', 'freshness']

/** The routes of which tables are watched, and how. */
export const scheduleRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: BASE,
    options: {
      ...access.read,
      description: 'List freshness schedules',
      tags,
      validate: { query: schemas.schedulesQuery },
    },
    handler: request => inCompany(request, trx => list(request, trx)),
  },
  {
    method: 'POST',
    path: BASE,
    options: {
      ...access.write,
      description: 'Watch a table: make its schedule and run the first check',
      tags,
      validate: { payload: schemas.newSchedule },
    },
    handler: async (request, h) => {
      const body = bodyOf<NewSchedule>(request)
      await assertRunnable(request.server, caller(request).companyId, body, body)
      const made = await inCompany(request, trx => createSchedule(request.server, trx, body))
      return h.response({ data: presentSchedule(await checkAtOnce(request.server, made)) }).code(201)
    },
  },
  {
    method: 'POST',
    path: `${BASE}/bulk`,
    options: {
      ...access.write,
      description: 'Watch many tables of a source: make the schedules that are missing',
      notes: 'The first checks come within a minute. Asked again, it adds what was found since.',
      tags,
      validate: { payload: schemas.newSchedules },
    },
    handler: async request => ({
      data: await inCompany(request, trx =>
        createSchedules(request.server, trx, bodyOf<NewSchedules>(request)),
      ),
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
    },
    handler: async request => {
      const id = param(request, 'id')
      const patch = bodyOf<ScheduleFields>(request)
      await assertRunnable(request.server, caller(request).companyId, { id }, patch)
      const changed = await inCompany(request, trx => patchSchedule(request.server, trx, id, patch))
      return { data: presentSchedule(await checkAtOnce(request.server, changed)) }
    },
  },
  {
    method: 'DELETE',
    path: `${BASE}/{id}`,
    options: {
      ...access.write,
      description: 'Stop watching a table and forget its history',
      tags,
      validate: { params: schemas.scheduleParams },
    },
    handler: request =>
      inCompany(request, async trx => {
        const { qualifiedName } = await deleteSchedule(request.server, trx, param(request, 'id'))
        return {
          data: { success: true, message: `The freshness of ${qualifiedName} is not watched any more` },
        }
      }),
  },
]

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
