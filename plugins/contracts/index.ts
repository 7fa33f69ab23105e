import type { Plugin } from '@hapi/hapi'
import { readContentType, routes } from './routes.ts'
import { makeValidator } from './validator.ts'

export { validateText } from './validator.ts'

/** Data contracts of the Open Data Contract Standard, validated for anybody. */
export const contracts: Plugin<undefined> = {
  name: 'contracts',
  register(server) {
    const validator = makeValidator()
    server.ext('onRequest', readContentType)
    server.ext('onPostStop', () => validator.stop())
    server.route(routes(validator))
  },
}
