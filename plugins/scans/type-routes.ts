import type { Request, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import { describeConfig } from '../../server/openapi/choices.ts'

const words = Joi.array().items(Joi.string())

const checkType = exampleRecord({
  type: held.text.description('`rule_type` of a rule, `metric_type` of a metric.').example('RANGE'),
  family: Joi.valid('rule', 'metric').example('rule'),
  description: held.text.example('The value lies between two bounds.'),
  column: Joi.valid('required', 'optional', 'ignored')
    .description('Whether it is made for a column.')
    .example('required'),
  column_kinds: words
    .allow(null)
    .description('The kinds of column that it takes; null for all.')
    .example(['integer', 'decimal', 'float']),
  needs: words.description('The capabilities that the engine must have.').example([]),
  settings: Joi.object()
    .unknown()
    .description('The JSON Schema of `rule_config` of a rule, of the further fields of a metric.')
    .example({ type: 'object', properties: { min: { type: 'number' } } }),
}).label('CheckType')

/** The types of rules and metrics, for forms that add one. */
export const typeRoute: ServerRoute = routesOf('checks')('GET', '/api/v1/sdk/check-types', access.read, {
  id: 'listCheckTypes',
  description: 'List the types of rules and metrics with their settings',
  notes: 'Also those of extensions. For a form that adds a rule or a metric.',
  response: reply(
    inData(record({ items: Joi.array().items(checkType) })).description('The types, each with its settings'),
  ),
  handler: listCheckTypes,
})

function listCheckTypes({ server }: Request) {
  const items = server.checks.all().map(type => ({
    type: type.name,
    family: type.family,
    description: type.description,
    column: type.column,
    column_kinds: type.kinds ?? null,
    needs: type.needs ?? [],
    settings: describeConfig(type.config),
  }))
  return { data: { items } }
}
