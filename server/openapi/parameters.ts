import type { RequestRoute } from '@hapi/hapi'
import Joi from 'joi'
import { asComponent, pascalCase } from './components.ts'
import { KEPT_HOURS, keepsReplies } from '../http/idempotency.ts'
import { jsonSchema, type JsonSchema } from './json-schema.ts'
import type { OpenApiDocument, Operation } from './document.ts'

/** What a route takes beside its body. */
export function parametersOf(route: RequestRoute): object[] {
  const { params, query, headers } = route.settings.validate ?? {}
  const given = objectSchema(params)
  const inPath = [...route.path.matchAll(/\{(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...describe(name, given.properties[name] ?? { type: 'string' }),
  }))
  return [
    ...inPath,
    ...parametersIn('query', query),
    ...parametersIn('header', headers),
    ...(keepsReplies(route) ? [IDEMPOTENCY_KEY] : []),
  ]
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    `A text of your own, such as a UUID, new for each thing that is to be made. Repeated within ${KEPT_HOURS} hours, ` +
    'the same request gets the reply of the first one and makes nothing again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' },
  example: '7d0a3f7e-1f0e-4f6c-9a8f-3b0c2c1f5f11',
}

/**
 * Marks as components the parameters that several operations take alike. The commonest of a name has that name, others
 * the section of the API before it: `Limit`, `AuditLimit`.
 */
export function withSharedParameters(paths: OpenApiDocument['paths']): OpenApiDocument['paths'] {
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  const uses = new Map<string, Operation[]>()
  for (const operation of operations)
    for (const parameter of operation.parameters ?? []) {
      const key = JSON.stringify(parameter)
      uses.set(key, [...(uses.get(key) ?? []), operation])
    }
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const shared = [...uses].filter(([, users]) => users.length > 1).sort(([, a], [, b]) => b.length - a.length)
  for (const [key, users] of shared) {
    const { name } = JSON.parse(key) as { name: string }
    const longer = [name, `${users[0]?.tags[0]}-${name}`, `${users[0]?.operationId}-${name}`]
    const free = longer.map(pascalCase).find(each => !taken.has(each))
    if (free === undefined) continue
    names.set(key, free)
    taken.add(free)
  }
  for (const operation of operations)
    operation.parameters = operation.parameters?.map(parameter => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : asComponent('parameters', name, parameter)
    })
  return paths
}

function parametersIn(place: 'query' | 'header', schema: unknown): object[] {
  const { properties, required } = objectSchema(schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    ...(required.includes(name) && { required: true }),
    ...describe(name, property),
  }))
}

/** What parameters mean wherever they stand, unless their schema says more. */
const PARAMETERS: Record<string, string> = {
  id: 'Its id.',
  asset: 'The qualified name or the id of an asset.',
  asset_id: 'The id or the qualified name of a source or a table.',
  action: 'What to do; defaults to unsubscribe.',
  asset_type: 'Only assets of this type.',
  category: 'Only those of this category.',
  change_id: 'The id of a schema change.',
  change_type: 'Only changes of this type.',
  check_id: 'The id of the check.',
  comparison_id: 'The id of the comparison.',
  code: 'What the provider gives to be exchanged.',
  days_back: 'How many days to look back.',
  destination_type: 'Only destinations of this type.',
  error: 'Why the provider refused.',
  error_description: 'The same in words.',
  file: 'The name of the file.',
  impact: 'Only changes of this impact.',
  include_columns: 'Whether a table is shown with its columns.',
  include_snapshots: 'Whether the metric is shown with its newest snapshots.',
  invitation_id: 'The id of the invitation.',
  is_active: 'Only those that are switched on, or off.',
  iss: 'Who the provider says it is.',
  job_id: 'The id of the job.',
  key_id: 'The id of the API key.',
  limit: 'How many to show at most.',
  metric_type: 'Only metrics of this type.',
  metric_id: 'The metric, as m_<uuid> or by its number.',
  name: 'Only the one of this name.',
  offset: 'How many to leave out from the beginning.',
  origin: 'Only those of this origin.',
  rule_id: 'The rule, as v_<uuid> or by its number.',
  rule_type: 'Only rules of this type.',
  schedule_id: 'The id of the schedule.',
  search: 'A part of the name, in any case; no wildcards.',
  severity: 'Only those of this severity.',
  snapshot_limit: 'How many snapshots to show at most.',
  source: 'The name of a source.',
  state: 'What the sign-in was begun with.',
  target_id: 'Only what was done to the thing of this id.',
  unacknowledged_only: 'Only changes that are not acknowledged.',
  user_id: 'The id of the user.',
}

function describe(name: string, { description = PARAMETERS[name], examples, ...schema }: JsonSchema) {
  const [example] = (examples as unknown[] | undefined) ?? []
  return {
    ...(description !== undefined && { description }),
    // Written as one text, its items apart by commas.
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    schema,
    ...(example !== undefined && { example }),
  }
}

function objectSchema(schema: unknown): { properties: Record<string, JsonSchema>; required: string[] } {
  return { properties: {}, required: [], ...(Joi.isSchema(schema) && (jsonSchema(schema) as object)) }
}
