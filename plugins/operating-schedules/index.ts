import type { Plugin } from '@hapi/hapi'
import type { OperatingSchedulesApi, ScheduleUser } from './api.ts'
import { routes } from './routes.ts'
import { find, hours } from './schedules.ts'

/** When tables are meant to be active, for whoever judges by it. */
export const operatingSchedules: Plugin<undefined> = {
  name: 'operatingSchedules',
  dependencies: ['auth'],
  register(server) {
    const users: ScheduleUser[] = []
    server.route(routes(users))
    server.expose({ find, hours, usedBy: user => void users.push(user) } satisfies OperatingSchedulesApi)
  },
}
