import type { Plugin } from '@hapi/hapi'
import type { OperatingSchedulesApi, ScheduleUser } from './api.ts'
import { routes } from './routes.ts'
import { find, loadHours } from './schedules.ts'

/** When tables are meant to be active, for features that judge by it. */
export const operatingSchedules: Plugin<undefined> = {
  name: 'operatingSchedules',
  dependencies: ['auth'],
  register(server) {
    Object.assign(server.apiTags, {
      'operating-schedules': 'Business hours, for baselines that take them into account.',
    })
    const users: ScheduleUser[] = []
    server.route(routes(users))
    server.expose({
      find,
      loadHours: loadHours,
      addUser: user => void users.push(user),
    } satisfies OperatingSchedulesApi)
  },
}
