import type { RequestRoute, Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Guard } from '../http/access.ts'
import { asComponent, gatherComponents, pascalCase, type Components } from './components.ts'
import { exampleOf } from './examples.ts'
import { KEPT_HOURS, keepsReplies } from '../http/idempotency.ts'
import { jsonSchema, type JsonSchema } from './json-schema.ts'
import { HEADERS, repliesOf } from './replies.ts'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; [field: string]: unknown }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Components & Record<'securitySchemes' | 'headers', Record<string, object>>
}

/** One method of one path. */
export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: object[]
  requestBody?: object
  responses: Record<string, object>
}

/** The version of the interface, not of the program. */
const INTERFACE_VERSION = '1.0.0'

/**
 * Describes every route of a server. Reads the route table, so call it once all routes are there; it takes
 * some hundred milliseconds.
 * @param baseUrl address that the paths follow
 */
export function openApi(server: Server, baseUrl: string): OpenApiDocument {
  const routes = [...server.table()].sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
  const paths: OpenApiDocument['paths'] = {}
  for (const route of routes) {
    const path = route.settings.app?.path ?? pathTemplate(route.path)
    paths[path] = { ...paths[path], [route.method]: describeRoute(route) }
  }
  const tags = new Set(routes.flatMap(groups))
  const { rest, components } = gatherComponents(withSharedParameters(paths), server.vocabularies)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark',
      version: INTERFACE_VERSION,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...tags].sort().map(name => {
      const description = server.apiTags[name]
      return { name, ...(description !== undefined && { description }) }
    }),
    paths: rest,
    components: { ...components, securitySchemes: SECURITY_SCHEMES, headers: HEADERS },
  }
}

declare module '@hapi/hapi' {
  interface Server {
    /** Words that extensions add to, by the name with which `.meta({ openapi: { 'x-words': name } })` asks for them. */
    vocabularies: Map<string, () => string[]>
  }
}

const ABOUT = `Watches databases: schema drift, freshness, validity, metrics, and signed webhooks.

Send a credential as \`Authorization: Bearer <token or API key>\`. Times are ISO 8601 in UTC. An error has a \`code\` for
programs and a \`message\` that says what to do; bad input outside \`/api/v1/sdk\` and \`/api/v1/api-keys\` is 422 with a list
in \`detail\`. A method that a path does not take is 405, with \`Allow\`. Lists take \`limit\` and \`offset\`. Every reply carries
\`X-Request-Id\`, which names it in the log.`

const SECURITY_SCHEMES = {
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access_token that POST /api/v1/auth/login gives; lives 15 minutes.',
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key (aa_live_…), sent as a bearer token; POST /api/v1/api-keys makes one and shows it once. ' +
      'One of a demo session (aa_demo_…) reads only.',
  },
}

/** Describes one route: what it takes, what it answers, and who may call it. */
export function describeRoute(route: RequestRoute): Operation {
  const { description, notes, plugins } = route.settings
  const parameters = parametersOf(route)
  const requestBody = bodyOf(route)
  return {
    operationId: operationId(route),
    summary: description ?? `${route.method.toUpperCase()} ${route.path}`,
    ...(notes && { description: [notes].flat().join(' ') }),
    tags: groups(route),
    security: security(plugins?.access),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: repliesOf(route),
  }
}

function security(guard?: Guard): Operation['security'] {
  if (guard?.sessionOnly) return [{ session: [] }]
  return guard?.scope ? [{ apiKey: [guard.scope] }, { session: [guard.scope] }] : []
}

/** hapi's tag `api` says only that a route belongs to the interface. */
function groups(route: RequestRoute): string[] {
  return (route.settings.tags ?? []).filter(tag => tag !== 'api')
}

/** `{path*}` and `{id?}` are hapi's; OpenAPI knows `{name}` only. */
function pathTemplate(path: string): string {
  return path.replaceAll(/\{(\w+)[^}]*\}/g, '{$1}')
}

/** Verbs that end a path of POST: `POST /alerts/{id}/snooze` is `snoozeAlert`. */
const ACTIONS =
  /^(acknowledge|apply|cancel|check|discover|dismiss|login|logout|preview|redeliver|refresh|register|reset|resolve|snooze|test|unsubscribe|validate)$/

const VERBS: Partial<Record<string, string>> = {
  get: 'get',
  post: 'create',
  put: 'put',
  delete: 'delete',
}

/**
 * What the clients that are generated call the operation: `listAlerts`, `getAlertRule`, `updateUser`. A route whose path
 * says it worse has an `id` of its own.
 */
export function operationId({ method, path, settings }: RequestRoute): string {
  if (settings.id !== undefined) return settings.id
  const segments = path.replace(/^\/(api\/)?(v1\/|public\/)?(sdk\/)?/, '').split('/')
  const words = segments.filter(segment => segment === '{file}' || !segment.startsWith('{'))
  const last = words.at(-1) ?? ''
  if (method === 'post' && ACTIONS.test(last))
    return last + pascalCase(words.slice(0, -1).map(singular).join('-'))
  const isList = method === 'get' && segments.at(-1) === last && singular(last) !== last
  const verb = isList ? 'list' : (VERBS[method] ?? 'update')
  const nouns = words.map((word, index) => (isList && index === words.length - 1 ? word : singular(word)))
  return verb + pascalCase(nouns.join('-'))
}

const singular = (word: string) => word.replace(/(?<![suj])s$/, '').replace(/ie$/, 'y')

function parametersOf(route: RequestRoute): object[] {
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
  required: false,
  description:
    `A text of your own, such as a UUID, new for each thing that is to be made. Repeated within ${KEPT_HOURS} hours, ` +
    'the same request gets the reply of the first one and makes nothing again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' },
  example: '7d0a3f7e-1f0e-4f6c-9a8f-3b0c2c1f5f11',
}

/** Fewest operations that a parameter is a component for. */
const MIN_SHARED = 3

/** Marks as components the parameters that many operations take alike: of each name the commonest. */
function withSharedParameters(paths: OpenApiDocument['paths']): OpenApiDocument['paths'] {
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  const all = operations.flatMap(({ parameters = [] }) => parameters as { name: string }[])
  const counts = new Map<string, number>()
  for (const parameter of all) {
    const key = JSON.stringify(parameter)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const commonest = new Map<string, string>()
  for (const [key, count] of counts) {
    const { name } = JSON.parse(key) as { name: string }
    if (count > (counts.get(commonest.get(name) ?? '') ?? MIN_SHARED - 1)) commonest.set(name, key)
  }
  for (const operation of operations)
    operation.parameters = (operation.parameters as { name: string }[] | undefined)?.map(parameter =>
      commonest.get(parameter.name) === JSON.stringify(parameter)
        ? asComponent('parameters', pascalCase(parameter.name), parameter)
        : parameter,
    )
  return paths
}

function parametersIn(place: 'query' | 'header', schema: unknown): object[] {
  const { properties, required } = objectSchema(schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
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

function describe(name: string, { description = PARAMETERS[name], examples, ...schema }: JsonSchema): object {
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

/** Bodies are JSON, unless a route says which content types it takes. */
function bodyOf(route: RequestRoute): object | undefined {
  const { settings } = route
  const schema: unknown = settings.validate?.payload
  if (!Joi.isSchema(schema)) return undefined
  // A body that is missing or `null` is null for its schema.
  const required = schema.validate(null).error !== undefined
  // A default of the whole body is no value of it: generators refuse an object as the default of what may be null.
  const { default: _whole, ...described } = jsonSchema(schema)
  const named =
    described.type === 'object' && described.properties && !described['x-component']
      ? asComponent(
          'schemas',
          `${pascalCase(operationId(route).replaceAll(/([A-Z])/g, '-$1'))}Request`,
          described,
        )
      : described
  const json = !required && described.type === 'object' ? { ...named, type: ['object', 'null'] } : named
  const types = [settings.payload?.allow ?? 'application/json'].flat()
  const content = types.map(type => {
    const body = ofType(type, json)
    const example = exampleOf(body)
    return [type, { schema: body, ...(example !== undefined && { example }) }]
  })
  return { required, content: Object.fromEntries(content) as object }
}

/** For a body that is text or an object, each content type takes one. */
function ofType(type: string, json: JsonSchema): JsonSchema {
  const choices = (json.anyOf ?? json.oneOf) as JsonSchema[] | undefined
  if (!choices?.some(choice => choice.type === 'string')) return json
  const isObject = type === 'application/json'
  return choices.find(choice => (choice.type !== 'string') === isObject) ?? json
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
