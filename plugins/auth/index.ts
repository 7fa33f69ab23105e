import type { Plugin } from '@hapi/hapi'
import './api.ts'
import { authApi } from './expose.ts'
import { sweep } from './jobs.ts'
import { keyRoutes } from './key-routes.ts'
import { routes } from './routes.ts'
import { addStrategies } from './strategies.ts'

/** Companies, users, sessions and API keys. */
export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    await addStrategies(server)
    server.route(routes)
    server.route(keyRoutes)
    server.jobs.add(sweep)
    server.expose({ ...authApi(server) })
  },
}
