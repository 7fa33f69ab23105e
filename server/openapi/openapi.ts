import type { RequestRoute, Server } from '@hapi/hapi'
import type { Guard } from '../http/access.ts'
import { emptyEnvelope } from '../http/envelopes.ts'
import { bodyOf, type BodyNames } from './bodies.ts'
import { gatherComponents } from './components.ts'
import { composeSchemas } from './composition.ts'
import type { OpenApiDocument, Operation } from './document.ts'
import { jsonSchema } from './json-schema.ts'
import { operationId } from './operation-id.ts'
import { parametersOf, withSharedParameters } from './parameters.ts'
import { HEADERS, repliesOf } from './replies.ts'
import { describeTags } from './tags.ts'

/** Records that others are described by, though no operation answers with them alone. */
const BASES = [emptyEnvelope]

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
  const names: BodyNames = new WeakMap()
  for (const route of routes) {
    const path = route.settings.app?.path ?? pathTemplate(route.path)
    paths[path] = { ...paths[path], [route.method]: describeRoute(route, names) }
  }
  const tags = new Set(routes.flatMap(groups))
  const described = {
    paths: withSharedParameters(paths),
    webhooks: server.apiParts.webhooks,
    bases: BASES.map(base => jsonSchema(base, 'output')),
  }
  const { rest, components } = gatherComponents(described, {
    vocabularies: server.vocabularies,
    choices: server.apiParts.choices,
  })
  const { docsPath } = server.apiParts
  const { paths: describedPaths, webhooks } = rest
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark',
      version: INTERFACE_VERSION,
      description: ABOUT,
      contact: { name: 'Tidemark', url: baseUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    ...(docsPath !== undefined && { externalDocs: { description: 'Guides', url: baseUrl + docsPath } }),
    ...describeTags(tags, server.apiParts, baseUrl),
    paths: describedPaths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      ...components,
      schemas: composeSchemas(components.schemas, { describedPaths, webhooks }),
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
    },
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
export function describeRoute(route: RequestRoute, names: BodyNames = new WeakMap()): Operation {
  const { description, notes, plugins } = route.settings
  const parameters = parametersOf(route)
  const requestBody = bodyOf(route, names)
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

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
