import type { Plugin } from '@hapi/hapi'
import { normalizeContentType, routes } from './routes.ts'
import { createValidator } from './validator.ts'

/** Data contracts of the Open Data Contract Standard, validated without a sign-in. */
export const contracts: Plugin<undefined> = {
  name: 'contracts',
  register(server) {
    Object.assign(server.apiTags, { contracts: 'Validation of Open Data Contract Standard documents.' })
    const validator = createValidator()
    server.ext('onRequest', normalizeContentType)
    server.ext('onPostStop', () => validator.stop())
    server.route(routes(validator))
  },
}
