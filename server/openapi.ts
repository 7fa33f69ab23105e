import type { RequestRoute, Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Guard } from './access.ts'
import { jsonSchema, type JsonSchema } from './json-schema.ts'
import { refusesUndeclared } from './replies.ts'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; [field: string]: unknown }
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, JsonSchema>
    securitySchemes: Record<string, object>
    responses: Record<string, object>
  }
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
 * some milliseconds a hundred routes.
 * @param baseUrl address that the paths follow
 */
export function openApi(server: Server, baseUrl: string): OpenApiDocument {
  const routes = [...server.table()].sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
  const paths: OpenApiDocument['paths'] = {}
  for (const route of routes) {
    const path = pathTemplate(route.path)
    paths[path] = { ...paths[path], [route.method]: operation(route) }
  }
  const tags = new Set(routes.flatMap(groups))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark',
      version: INTERFACE_VERSION,
      description: 'Watches databases: schema drift, freshness, validity, metrics, and signed webhooks.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...tags].sort().map(name => ({ name })),
    paths,
    components: { schemas: SCHEMAS, securitySchemes: SECURITY_SCHEMES, responses: RESPONSES },
  }
}

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

const SCHEMAS: Record<string, JsonSchema> = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string', description: 'Stable, for programs.', examples: ['ASSET_NOT_FOUND'] },
          message: { type: 'string', description: 'A sentence that says what to do.' },
          details: {
            type: 'object',
            description: 'Field names, suggestions; request_id when the fault is ours.',
          },
        },
        required: ['code', 'message', 'details'],
      },
    },
    required: ['error'],
  },
  ValidationFailure: {
    type: 'object',
    properties: {
      detail: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            loc: {
              type: 'array',
              items: { type: 'string' },
              description: 'path, query, header or body; then the field.',
            },
            msg: { type: 'string' },
            type: { type: 'string' },
          },
          required: ['loc', 'msg', 'type'],
        },
      },
    },
    required: ['detail'],
  },
}

const reply = (description: string, schema = 'Error', headers?: object) => ({
  description,
  ...(headers && { headers }),
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
})

const header = (type: string, description: string) => ({ description, schema: { type } })

const RESPONSES: Record<string, object> = {
  400: reply(
    'The input cannot be used: VALIDATION_ERROR with details.field and details.error, or BAD_REQUEST',
  ),
  401: reply('No valid credential was sent'),
  403: reply('The credential is not allowed to do this; details hold current_scope and required_scope'),
  404: reply('There is no such thing, or it belongs to another company'),
  409: reply('It conflicts with what is there'),
  422: reply('Path, query or body are not as described', 'ValidationFailure'),
  429: reply('Too many requests', 'Error', {
    'Retry-After': header('integer', 'Seconds to wait.'),
    'X-RateLimit-Limit': header('integer', 'Requests allowed in the window.'),
    'X-RateLimit-Remaining': header('integer', 'Requests left in the window.'),
    'X-RateLimit-Reset': header('integer', 'When the window resets, in epoch seconds.'),
  }),
  500: reply('A fault of ours; details.request_id finds it in the log'),
}

function operation(route: RequestRoute): Operation {
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
    responses: { ...successes(route), ...failures(route) },
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

/** `GET /api/v1/sdk/assets/{id}` is `getSdkAssetsId`, unless the route has an id. */
function operationId({ method, path, settings }: RequestRoute): string {
  const words = path.replace(/^\/api(\/v1)?\//, '').match(/[A-Za-z0-9]+/g) ?? []
  return settings.id ?? method + words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function parametersOf({ path, settings }: RequestRoute): object[] {
  const { params, query, headers } = settings.validate ?? {}
  const given = objectSchema(params)
  const inPath = [...path.matchAll(/\{(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...describe(given.properties[name] ?? { type: 'string' }),
  }))
  return [...inPath, ...parametersIn('query', query), ...parametersIn('header', headers)]
}

function parametersIn(place: 'query' | 'header', schema: unknown): object[] {
  const { properties, required } = objectSchema(schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...describe(property),
  }))
}

function describe({ description, ...schema }: JsonSchema): object {
  return { ...(description !== undefined && { description }), schema }
}

function objectSchema(schema: unknown): { properties: Record<string, JsonSchema>; required: string[] } {
  return { properties: {}, required: [], ...(Joi.isSchema(schema) && (jsonSchema(schema) as object)) }
}

function bodyOf({ settings }: RequestRoute): object | undefined {
  const schema: unknown = settings.validate?.payload
  if (!Joi.isSchema(schema)) return undefined
  const required = (schema.describe().flags as { presence?: string } | undefined)?.presence === 'required'
  return { required, content: { 'application/json': { schema: jsonSchema(schema) } } }
}

/** What a route says of its replies; without a word, some object under any good status. */
function successes({ method, settings }: RequestRoute): Record<string, object> {
  const { status = {}, schema } = settings.response ?? {}
  const told: [string, unknown][] = Object.entries(status)
  if (Joi.isSchema(schema)) told.unshift(['200', schema])
  if (told.length === 0) told.push([method === 'get' ? '200' : '2XX', Joi.object()])
  return Object.fromEntries(told.map(([code, body]) => [code, replyOf(code, body)]))
}

function replyOf(code: string, schema: unknown): object {
  if (/^3/.test(code)) {
    const headers = { Location: header('string', 'The address to go on at.') }
    return { description: 'A redirect', headers }
  }
  const description = Number(code) >= 400 ? 'The reply when it could not be done' : 'The reply'
  if (!Joi.isSchema(schema) || code === '204') return { description }
  const type = (schema.describe().metas as { contentType?: string }[] | undefined)?.find(
    meta => meta.contentType,
  )?.contentType
  return { description, content: { [type ?? 'application/json']: { schema: jsonSchema(schema, 'output') } } }
}

function failures({ path, method, settings }: RequestRoute): Record<string, object> {
  const guard = settings.plugins?.access
  const { params, query, payload } = settings.validate ?? {}
  const isGuarded = guard?.scope !== undefined || guard?.sessionOnly === true
  const refusesInput =
    refusesUndeclared(path) || [params, query, payload].some(schema => Joi.isSchema(schema))
  const hasBody = method !== 'get' && method !== 'delete'
  const applies: Record<number, boolean> = {
    400: hasBody || (refusesInput && answers400(path)),
    401: isGuarded,
    403: isGuarded,
    404: path.includes('{') || namesThings(query) || namesThings(payload),
    409: isGuarded && method !== 'get',
    422: refusesInput && !answers400(path),
    429: guard !== undefined && guard.limit !== null,
    500: true,
  }
  const codes = Object.keys(applies).filter(
    code => applies[Number(code)] && !settings.response?.status?.[Number(code)],
  )
  return Object.fromEntries(codes.map(code => [code, { $ref: `#/components/responses/${code}` }]))
}

/** Whether an input names something by its id, which may not be there. */
function namesThings(schema: unknown): boolean {
  if (!Joi.isSchema(schema)) return false
  const { keys = {} } = schema.describe() as { keys?: object }
  return Object.keys(keys).some(key => /(_ids?|^asset)$/.test(key) && key !== 'anonymous_id')
}

/** As `replies.ts` decides it: all other paths answer 422. */
function answers400(path: string): boolean {
  return /^\/api\/v1\/(sdk|api-keys)(\/|$)/.test(path)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
