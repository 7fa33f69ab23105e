import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Connector } from '../../../connectors/connector.ts'
import { sqlite } from '../../../plugin-template/connector.ts'

/** An engine of a third party, with an address and TLS settings under names of its own. It is never dialled. */
const guarded = {
  ...sqlite,
  name: 'guarded',
  label: 'Guarded',
  config: Joi.object({
    endpoint: Joi.string().required().meta({ address: true }),
    api_token: Joi.string().required().meta({ secret: true }),
    tls: Joi.boolean().default(true).meta({ tls: true }),
    verification: Joi.string().valid('none', 'chain', 'host').default('host').meta({ tls: true }),
    ciphers: Joi.string().meta({ tls: true }),
    page_size: Joi.number(),
  }).rename('token', 'api_token'),
} as unknown as Connector

export default {
  name: 'guarded-engine',
  register(server: Server) {
    server.connectors.add(guarded)
  },
}
