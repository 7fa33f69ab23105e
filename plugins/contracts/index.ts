import type { Plugin } from '@hapi/hapi'
import { normalizeContentType, routes } from './routes.ts'
import { createValidator } from './validator.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Data contracts of the Open Data Contract Standard, validated without a sign-in. */
export const contracts: Plugin<undefined> = {
  name: 'contracts',
  register(server) {
    Object.assign(server.apiParts.tags, {
      contracts: {
        title: 'Data contracts',
        group: 'Service',
        order: 410,
        description: 'Validation of Open Data Contract Standard documents.',
        page: '/api/public/docs/contracts.md',
      },
    } satisfies Record<string, ApiTag>)
    const validator = createValidator()
    server.ext('onRequest', normalizeContentType)
    server.ext('onPostStop', () => validator.stop())
    server.route(routes(validator))
  },
}
