import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import type { ScheduleUser } from './api.ts'
import { presentSchedule } from './present.ts'
import { replies } from './replies.ts'
import {
  createSchedule,
  deleteSchedule,
  findSchedule,
  listSchedules,
  listUses,
  patchSchedule,
  type NewSchedule,
} from './schedules.ts'
import * as schemas from './schemas.ts'

export function routes(users: readonly ScheduleUser[]): ServerRoute[] {
  const base = '/api/v1/operating-schedules'
  const route = routesOf('operating-schedules')
  const params = schemas.scheduleParams
  return [
    route('GET', base, access.read, {
      description: 'List operating schedules',
      notes: 'Newest first. Rules and metrics refer to a schedule by its id.',
      validate: { query: schemas.scheduleList },
      response: replies.schedules,
      handler: request =>
        inCompany(request, async trx => {
          const page = queryOf<Page>(request)
          const { results, total } = await listSchedules(trx, page)
          return { data: results.map(presentSchedule), pagination: pagination(total, page) }
        }),
    }),
    route('POST', base, access.write, {
      description: 'Create an operating schedule',
      notes: 'Checks that refer to it learn what is normal within these hours apart from the others.',
      validate: { payload: schemas.newSchedule },
      response: replies.made,
      handler: async (request, h) => {
        const schedule = await inCompany(request, async trx => {
          const made = await createSchedule(trx, bodyOf<NewSchedule>(request))
          await audit(request, trx, 'created', made, { name: made.name })
          return made
        })
        return h.response(presentSchedule(schedule)).code(201)
      },
    }),
    route('GET', `${base}/{schedule_id}`, access.read, {
      description: 'Get an operating schedule',
      notes: 'With its periods and time zone.',
      validate: { params },
      response: replies.schedule,
      handler: request =>
        inCompany(request, async trx =>
          presentSchedule(await findSchedule(trx, param(request, 'schedule_id'))),
        ),
    }),
    route('GET', `${base}/{schedule_id}/uses`, access.read, {
      id: 'listOperatingScheduleUses',
      description: 'List what uses an operating schedule',
      notes: 'The records that refer to it, by kind: they are judged by its hours.',
      validate: { params },
      response: replies.uses,
      handler: request =>
        inCompany(request, async trx => ({
          data: { uses: await listUses(trx, param(request, 'schedule_id'), users) },
        })),
    }),
    route('PATCH', `${base}/{schedule_id}`, access.write, {
      description: 'Change an operating schedule',
      notes: 'Applies to all checks that refer to it, from their next run on.',
      validate: { params, payload: schemas.schedulePatch },
      response: replies.schedule,
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<Partial<NewSchedule>>(request)
          const schedule = await patchSchedule(trx, param(request, 'schedule_id'), patch, users)
          await audit(request, trx, 'updated', schedule, { fields: fieldsOf(patch) })
          return presentSchedule(schedule)
        }),
    }),
    route('DELETE', `${base}/{schedule_id}`, access.write, {
      description: 'Remove an operating schedule that nothing uses',
      notes: 'One that a rule or metric refers to is 409.',
      validate: { params },
      response: replies.removed,
      handler: request =>
        inCompany(request, async trx => {
          const schedule = await deleteSchedule(trx, param(request, 'schedule_id'), users)
          const { name } = schedule
          await audit(request, trx, 'removed', schedule, { name })
          return { data: { success: true, message: `Operating schedule ${name} was removed` } }
        }),
    }),
  ]
}

const audit = auditorOf('operating_schedule', ({ id }: { id: string }) => id)
