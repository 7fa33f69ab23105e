import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { crud } from '../../server/http/crud.ts'
import { param } from '../../server/http/input.ts'
import type { OperatingSchedulesApi } from './api.ts'
import {
  newSchedule,
  scheduleList,
  scheduleParams,
  schedulePatch,
  scheduleRecord,
  usesReply,
} from './schemas.ts'

const tag = 'operating-schedules'
const path = '/api/v1/operating-schedules'

export const routes = (schedules: OperatingSchedulesApi): ServerRoute[] => [
  ...crud({
    tag,
    path,
    params: scheduleParams,
    record: scheduleRecord,
    kind: 'operating_schedule',
    auditDetails: ({ name }) => ({ name }),
    present: schedules.presentSchedules,
    list: {
      description: 'List operating schedules',
      notes: 'Newest first. Rules and metrics refer to a schedule by its id.',
      query: scheduleList,
      read: schedules.listSchedules,
    },
    create: {
      description: 'Create an operating schedule',
      notes: 'Checks that refer to it learn what is normal within these hours apart from the others.',
      body: newSchedule,
      write: schedules.createSchedule,
    },
    get: {
      description: 'Get an operating schedule',
      notes: 'With its periods and time zone.',
      read: schedules.findSchedule,
    },
    change: {
      method: 'PATCH',
      description: 'Change an operating schedule',
      notes: 'Applies to all checks that refer to it, from their next run on.',
      body: schedulePatch,
      write: schedules.patchSchedule,
    },
    remove: {
      description: 'Remove an operating schedule that nothing uses',
      notes: 'One that a rule or metric refers to is 409.',
      message: 'Operating schedule Office hours was removed',
      messageOf: ({ name }) => `Operating schedule ${name} was removed`,
      write: schedules.deleteSchedule,
    },
  }),
  routesOf(tag)('GET', `${path}/{schedule_id}/uses`, access.read, {
    id: 'listOperatingScheduleUses',
    description: 'List what uses an operating schedule',
    notes: 'The records that refer to it, by kind: they are judged by its hours.',
    validate: { params: scheduleParams },
    response: usesReply,
    handler: request =>
      inCompany(request, async trx => ({
        data: { uses: await schedules.listUses(trx, param(request, 'schedule_id')) },
      })),
  }),
]
