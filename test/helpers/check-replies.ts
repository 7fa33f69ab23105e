import type { RequestRoute, Server, ServerInjectResponse } from '@hapi/hapi'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describeRoute } from '../../server/openapi/openapi.ts'
import { failure } from '../../server/http/envelopes.ts'
import { jsonSchema } from '../../server/openapi/json-schema.ts'

/** A reply as `describeRoute` gives it. */
interface DescribedReply {
  content?: Record<string, { schema: object; examples?: Record<string, unknown> }>
}

/** A body of one content type; compiled when a reply is first validated by it. */
interface ExpectedContent {
  schema: object
  validate?: ValidateFunction
  codes?: readonly string[]
}

/** What the document says of one reply. */
interface Expected {
  /** By content type; null where a reply has no body. */
  contents: Map<string, ExpectedContent> | null
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
// Its types are those of CommonJS.
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
const isError = ajv.compile(jsonSchema(failure, 'output'))

/** By the settings of a route, which differ between servers that have other extensions. */
const expectedByRoute = new WeakMap<object, Map<string, Expected | null>>()

/** By JSON Schema: compiling takes longer than all else here, and most servers describe the same. */
const validators = new Map<string, ValidateFunction>()

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
  // Unknown paths, and routes that tests add without describing their replies.
  const { response: described } = route.settings
  const isDescribed = Object.keys(described?.status ?? {}).length > 0 || typeof described?.schema === 'object'
  if (!isDescribed) {
    if (statusCode < 400 || type !== 'application/json') return null
    const body: unknown = JSON.parse(payload)
    return isError(body) || 'detail' in (body as object) ? null : `which is no error body: ${payload}`
  }
  // Described for all paths at once: a literal path does not take the methods of the template beside it.
  if (statusCode === 405) return isError(JSON.parse(payload)) ? null : `which is no error body: ${payload}`
  const expected = expectedOf(route, statusCode)
  if (!expected) return `which the document does not name: ${payload.slice(0, 500)}`
  if (!expected.contents) return payload === '' ? null : 'with a body, of which the document knows nothing'
  const content = expected.contents.get(type)
  if (!content) return payload === '' ? null : `as ${type}, which the document does not name`
  const body: unknown = type === 'application/json' ? JSON.parse(payload) : payload
  const validate = (content.validate ??= validatorOf(content.schema))
  if (!validate(body)) {
    const errors = (validate.errors ?? []).slice(0, 5).map(({ instancePath, message, params }) => {
      return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`
    })
    return `not as the document says: ${errors.join('; ')} in ${payload.slice(0, 1_500)}`
  }
  const code = (body as { error?: { code?: string } }).error?.code
  if (!content.codes || code === undefined || content.codes.includes(code)) return null
  return `with the code ${code}; the document names ${content.codes.join(', ')}`
}

/** Returns what the document says of a status of a route, null where it does not name it. */
function expectedOf(route: RequestRoute, status: number): Expected | null {
  let byStatus = expectedByRoute.get(route.settings)
  if (!byStatus) {
    const replies = Object.entries(describeRoute(route).responses as Record<string, DescribedReply>)
    byStatus = new Map(replies.map(([name, reply]) => [name, parseReply(reply)]))
    expectedByRoute.set(route.settings, byStatus)
  }
  return byStatus.get(String(status)) ?? byStatus.get(`${Math.floor(status / 100)}XX`) ?? null
}

function parseReply({ content }: DescribedReply): Expected {
  if (!content) return { contents: null }
  const contents = Object.entries(content).map(([type, { schema, examples }]) => {
    return [type, { schema, codes: examples && Object.keys(examples) }] as const
  })
  return { contents: new Map(contents) }
}

function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema)
  const validate = validators.get(key) ?? ajv.compile(schema)
  validators.set(key, validate)
  return validate
}
