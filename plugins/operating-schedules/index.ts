import type { Plugin } from '@hapi/hapi'
import type { OperatingSchedulesApi, ScheduleUser } from './api.ts'
import { routes } from './routes.ts'
import { find, loadHours, loadHoursOfTable } from './schedules.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** When tables are meant to be active, for features that judge by it. */
export const operatingSchedules: Plugin<undefined> = {
  name: 'operatingSchedules',
  dependencies: ['auth'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      'operating-schedules': {
        title: 'Operating schedules',
        group: 'Monitoring',
        order: 150,
        description: 'Business hours, for baselines that take them into account.',
        page: '/api/public/docs/detection.md',
      },
    } satisfies Record<string, ApiTag>)
    const users: ScheduleUser[] = []
    server.route(routes(users))
    server.expose({
      find,
      loadHours,
      loadHoursOfTable: (trx, tableId) => loadHoursOfTable(trx, tableId, users),
      addUser: user => void users.push(user),
    } satisfies OperatingSchedulesApi)
  },
}
