import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../../server/http/access.ts'
import { exampleRecord, held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { describeConfig } from '../../../server/openapi/choices.ts'
import type { Deps } from '../deps.ts'
import { whyUnavailable } from './find-type.ts'

const destinationKind = exampleRecord({
  destination_type: held.text.example('webhook'),
  label: held.text.description('Its name for people.').example('Webhook'),
  unavailable: held.text
    .allow(null)
    .description('Why none can be created until the operator has configured something; null if one can.')
    .example(null),
  is_signed: held.flag.description('Whether its messages are signed.').example(true),
  settings: Joi.object()
    .unknown()
    .description('The JSON Schema of its `config`; secrets are `writeOnly`.')
    .example({ type: 'object', properties: { url: { type: 'string' } }, required: ['url'] }),
}).label('DestinationType')

type TypeDeps = Pick<Deps, 'types' | 'log'>

/** The types of destinations, for forms that add one. */
export function typeRoute(deps: TypeDeps): ServerRoute {
  return routesOf('destinations')('GET', '/api/v1/sdk/alerts/destination-types', access.read, {
    id: 'listDestinationTypes',
    description: 'List the types of destinations with their settings',
    notes: 'Also those of extensions. For a form that adds a destination.',
    response: reply(
      inData(record({ items: Joi.array().items(destinationKind) })).description(
        'The types, each with its settings',
      ),
    ),
    handler: () => listDestinationTypes(deps),
  })
}

function listDestinationTypes({ types, log }: TypeDeps) {
  const items = types.all().map(type => ({
    destination_type: type.name,
    label: type.label,
    unavailable: whyUnavailable(log, type),
    is_signed: type.signs === true,
    settings: describeConfig(type.config),
  }))
  return { data: { items } }
}
