import Joi from 'joi'
import t from 'tap'
import { configSchema } from '../../../server/openapi/choices.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import type { JsonSchema } from '../../../server/openapi/json-schema.ts'
import { startServer } from '../../helpers/server.ts'

const { server } = await startServer(t)
const { schemas } = openApi(server, '').components

/** The names of the components that a field can be. */
function choicesOf(record: string, field: string): string[] {
  const { properties } = schemas[record] as { properties: Record<string, JsonSchema> }
  const parts = (properties[field]?.anyOf ?? properties[field]?.oneOf) as { $ref?: string }[]
  return parts.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []).sort()
}

t.test('what a type asks for is described by the schema of each type, those of extensions too', t => {
  const { checks, connectors, destinations } = server
  const rules = checks.all().filter(({ family }) => family === 'rule')
  t.equal(choicesOf('CreateRuleRequest', 'rule_config').length, rules.length)
  t.equal(choicesOf('CreateSourceRequest', 'connection_config').length, connectors.names().length)
  t.ok(choicesOf('CreateSourceRequest', 'connection_config').includes('SqliteConnection'))
  t.equal(choicesOf('CreateDestinationRequest', 'config').length, destinations.names().length)
  t.ok(choicesOf('CreateDestinationRequest', 'config').includes('NtfyConfig'))
  t.match(schemas.RegexRuleConfig, { properties: { pattern: { type: 'string' } }, required: ['pattern'] })
  t.match(schemas.SqliteConnection, { properties: { path: Object, timezone: Object } })
  t.equal(Object.hasOwn(schemas.WebhookConfig ?? {}, 'additionalProperties'), false, 'it has other names')
  t.end()
})

t.test('a field separates the events of alerts and the levels of assets', t => {
  const names = server.plugins.alerts.kinds.names()
  const { oneOf, discriminator } = schemas.AlertEvent as {
    oneOf: object[]
    discriminator: { propertyName: string; mapping: Record<string, string> }
  }
  t.equal(oneOf.length, names.length)
  t.equal(discriminator.propertyName, 'type')
  t.strictSame(Object.keys(discriminator.mapping).sort(), names)
  for (const name of names) t.ok(server.plugins.alerts.kinds.get(name).details, `${name} names its details`)
  t.match(schemas.Asset, {
    discriminator: { propertyName: 'asset_type', mapping: { source: /Source$/, view: /Table$/ } },
  })
  t.end()
})

t.test('a schema that cannot be described is any object', t => {
  const foreign = { describe: () => ({ type: 'object' }) } as unknown as Joi.Schema
  t.match(configSchema('x_Config', foreign, 'Of x.'), { type: 'object', description: 'Of x.' })
  t.match(configSchema('y_Config', Joi.object({ url: Joi.string() }).rename('link', 'url'), 'Of y.'), {
    description: 'Of y. `link` is another name for `url`.',
    additionalProperties: undefined,
  })
  t.end()
})
