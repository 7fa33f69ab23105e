import type { RequestRoute, Server, ServerInjectResponse } from '@hapi/hapi'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describeRoute } from '../../server/openapi/openapi.ts'
import { RESPONSES, SCHEMAS } from '../../server/openapi/replies.ts'

interface Described {
  $ref?: string
  content?: Record<string, { schema: { $ref?: string }; examples?: Record<string, unknown> }>
}

/** What the document says of one reply. */
interface Expected {
  /** By content type; null where a reply has no body. */
  contents: Map<string, { validate: ValidateFunction; codes?: readonly string[] }> | null
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
// Its types are those of CommonJS.
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
const isError = ajv.compile(SCHEMAS.Error!)

/** By route, so that each is described once, and by status, so that only what is answered is compiled. */
const described = new Map<
  string,
  { replies: Record<string, Described>; byStatus: Map<number, Expected | null> }
>()

/**
 * Holds every reply that a test gets by `inject` to what `/openapi.json` says of it: status, content type, body and
 * the code of an error. A reply that is another fails the test that asked.
 */
export function checkReplies(server: Server): void {
  const inject = server.inject.bind(server) as (options: unknown) => Promise<ServerInjectResponse>
  server.inject = (async (options: unknown) => {
    const response = await inject(options)
    const problem = problemOf(response)
    if (problem) {
      const { method, path } = response.request
      throw new Error(`${method.toUpperCase()} ${path} answered ${response.statusCode}, ${problem}`)
    }
    return response
  }) as Server['inject']
}

function problemOf({ request, statusCode, payload, headers }: ServerInjectResponse): string | null {
  const route = request.route as unknown as RequestRoute
  if (statusCode === 304 || request.method === 'head') return null
  const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? ''
  // A path that is nobody's, and routes that tests add without a word on their replies.
  const { response: told } = route.settings
  const isTold = Object.keys(told?.status ?? {}).length > 0 || typeof told?.schema === 'object'
  if (!isTold) {
    if (statusCode < 400 || type !== 'application/json') return null
    const body: unknown = JSON.parse(payload)
    return isError(body) || 'detail' in (body as object) ? null : `which is no error body: ${payload}`
  }
  const expected = expectedOf(route, statusCode)
  if (!expected) return `which the document does not name: ${payload.slice(0, 500)}`
  if (!expected.contents) return payload === '' ? null : 'with a body, of which the document knows nothing'
  const content = expected.contents.get(type)
  if (!content) return payload === '' ? null : `as ${type}, which the document does not name`
  const body: unknown = type === 'application/json' ? JSON.parse(payload) : payload
  if (!content.validate(body)) {
    const errors = (content.validate.errors ?? []).slice(0, 5).map(({ instancePath, message, params }) => {
      return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`
    })
    return `not as the document says: ${errors.join('; ')} in ${payload.slice(0, 1_500)}`
  }
  const code = (body as { error?: { code?: string } }).error?.code
  if (!content.codes || code === undefined || content.codes.includes(code)) return null
  return `with the code ${code}; the document names ${content.codes.join(', ')}`
}

function expectedOf(route: RequestRoute, status: number): Expected | null {
  const name = `${route.method} ${route.path}`
  const known = described.get(name) ?? {
    replies: describeRoute(route).responses as Record<string, Described>,
    byStatus: new Map<number, Expected | null>(),
  }
  described.set(name, known)
  const expected = known.byStatus.get(status) ?? read(known.replies[status])
  known.byStatus.set(status, expected)
  return expected
}

function read(reply: Described | undefined): Expected | null {
  if (!reply) return null
  const { content } = reply.$ref ? (RESPONSES[reply.$ref.split('/').at(-1)!] as Described) : reply
  if (!content) return { contents: null }
  const contents = Object.entries(content).map(([type, { schema, examples }]) => {
    const meant = schema.$ref ? SCHEMAS[schema.$ref.split('/').at(-1)!]! : schema
    return [type, { validate: ajv.compile(meant), codes: examples && Object.keys(examples) }] as const
  })
  return { contents: new Map(contents) }
}
