import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../../server/http/access.ts'
import { exampleRecord, held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { describeConfig } from '../../../server/openapi/choices.ts'
import type { Connectors } from '../deps.ts'
import { connectionOf } from '../schemas.ts'

const sourceType = exampleRecord({
  source_type: held.text.example('postgresql'),
  label: held.text.description('Its name for people.').example('PostgreSQL'),
  capabilities: Joi.array()
    .items(Joi.string())
    .description('What checks and freshness can do there.')
    .example(['constraints', 'regex']),
  settings: Joi.object()
    .unknown()
    .description('The JSON Schema of its `connection_config`; secrets are `writeOnly`.')
    .example({ type: 'object', properties: { host: { type: 'string' } }, required: ['host'] }),
}).label('SourceType')

/** The engines, for forms that add a source. */
export const typeRoutes = (connectors: Connectors): ServerRoute[] => [
  routesOf('assets')('GET', '/api/v1/sdk/source-types', access.read, {
    id: 'listSourceTypes',
    description: 'List the engines with the settings of a connection',
    notes: 'Also those of extensions. For a form that adds a source.',
    response: reply(
      inData(record({ items: Joi.array().items(sourceType) })).description(
        'The engines, each with the settings of a connection',
      ),
    ),
    handler: () => listSourceTypes(connectors),
  }),
]

function listSourceTypes(connectors: Connectors) {
  const items = connectors.all().map(connector => ({
    source_type: connector.name,
    label: connector.label,
    capabilities: Object.keys(connector.capabilities),
    settings: describeConfig(connectionOf(connector)),
  }))
  return { data: { items } }
}
