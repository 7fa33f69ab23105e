/** Malformed requests: those of the OpenAPI document with parts of them gone wrong. */
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { unzipSync } from 'node:zlib'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc, { type GeneratorValue } from 'fast-check'
import type { OpenApiDocument, Operation } from '../../server/openapi/document.ts'
import { failure, unusable } from '../../server/http/envelopes.ts'
import { jsonSchema } from '../../server/openapi/json-schema.ts'
import { withoutReferences } from './references.ts'

const MAX_TRIES = 5

/** A request as it is sent. */
export interface Malformed {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  body?: Buffer
}

/** What came back. */
export interface Answer {
  /** Seconds after which to send again; 0 where the reply does not say. */
  retryAfter: number
  status: number
  type: string
  text: string
}

type Schema = Record<string, unknown> & { properties?: Record<string, Schema> }

/** Values of parameters and fields that programs trip over. */
export const ODD = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e309',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '..',
    '%',
    '\u{10FFFF}',
    '\u202e',
    'constructor',
  ],
  ...[
    '__proto__',
    `' or 1=1 --`,
    '"',
    '\\',
    '\n',
    '9'.repeat(400),
    'ä'.repeat(300),
    '2026-02-30T25:61:61Z',
    'v_',
    '$1',
  ],
]
/** Paths of bytes that are no UTF-8, of NUL, and of other paths. */
const ODD_BYTES = ['%00', '%ff%fe', '%c0%af', '%ed%a0%80', '%2e%2e%2f', '%25', '%0d%0a', '%f0%9f%92%a9']
const ODD_TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'application/xml',
  '',
  ';',
]
const ODD_HEADERS: [name: string, values: string[]][] = [
  ['idempotency-key', ['', 'x'.repeat(300), 'ü', '\t', 'same']],
  ['x-forwarded-for', ['::1', '999.1.1.1', ',,,', 'a'.repeat(2_000)]],
  ['accept-encoding', ['gzip;q=9', '*', 'br, zstd']],
  ['content-encoding', ['gzip', 'br', 'nothing']],
  ['if-none-match', ['*', '"']],
  ['range', ['bytes=0-', 'bytes=9-1', 'x']],
  ['cookie', ['a=b; =; ;;', '"', `x=${'y'.repeat(3_000)}`]],
  ['expect', ['100-continue']],
  ['traceparent', ['00-0-0-0', 'x']],
]

// Made once: a text of all of Unicode takes long to be made ready.
const TEXT = fc.string({ unit: 'grapheme', maxLength: 40 })
const NUMBER = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 2 ** 31, 2 ** 53, 1e308))
const WORD = fc.oneof(TEXT, fc.uuid(), fc.constantFrom(...ODD, 'a\u0000b', '\ud800'))
const ANYTHING = fc.jsonValue({ maxDepth: 3 })
const [text, number, word, anything] = [() => TEXT, () => NUMBER, () => WORD, () => ANYTHING]

/**
 * Makes so many, always the same of a seed.
 * @param keys credentials that are used in turn, so that none comes to its limit
 */
export function malformedRequests(
  document: Pick<OpenApiDocument, 'paths'>,
  { count, seed, keys }: { count: number; seed: number; keys: readonly string[] },
): Malformed[] {
  const operations = Object.entries(withoutReferences(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const each = fc.gen().map(gen => {
    const { method, path, operation } = pick(gen, operations)
    return requestOf(gen, { method, path, operation })
  })
  return fc.sample(each, { numRuns: count, seed }).map((request, index) => ({
    ...request,
    headers: {
      authorization: `Bearer ${keys[index % keys.length]}`,
      ...request.headers,
    },
  }))
}

function requestOf(
  gen: GeneratorValue,
  { method, path, operation }: { method: string; path: string; operation: Operation },
): Malformed {
  const parameters = (operation.parameters ?? []) as { name: string; in: string }[]
  const filled = path.replaceAll(/\{[^}]+\}/g, () => segment(gen))
  const named = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)
  const query = Array.from({ length: chance(gen, 4) }, () => {
    const name = encodeURIComponent(pick(gen, ['limit', 'offset', 'x', ...named]))
    return `${name}${pick(gen, ['=', '[]=', '[a]=', ''])}${segment(gen)}`
  })
  const target = query.length > 0 ? `${filled}?${query.join('&')}` : filled
  const headers: Record<string, string> = {}
  for (let times = chance(gen, 2); times > 0; times--) {
    const [name, values] = pick(gen, ODD_HEADERS)
    headers[name] = Buffer.from(pick(gen, values)).toString('latin1')
  }
  if (chance(gen, 30) === 0) headers.authorization = pick(gen, ['Basic x', 'Bearer', 'Bearer aa_'])
  const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { schema: Schema }> }
  const schema = content?.['application/json']?.schema
  const hasBody = schema ? true : chance(gen, 5) === 0
  if (!hasBody || method === 'get' || method === 'head')
    return { method: method.toUpperCase(), path: target, headers }
  const isOddType = chance(gen, 9) === 0
  headers['content-type'] = isOddType ? pick(gen, ODD_TYPES) : 'application/json'
  return {
    method: method.toUpperCase(),
    path: target,
    headers,
    body: bytesOf(gen, JSON.stringify(valueOf(gen, schema ?? {}, 0)) ?? ''),
  }
}

/** A whole number of 0 to `most`. */
function chance(gen: GeneratorValue, most: number): number {
  return gen(fc.nat, { max: most })
}

function pick<Item>(gen: GeneratorValue, items: readonly Item[]): Item {
  return items[chance(gen, items.length - 1)] as Item
}

function segment(gen: GeneratorValue): string {
  const kind = chance(gen, 5)
  if (kind === 0) return pick(gen, ODD_BYTES)
  if (kind === 1) return gen(fc.uuid)
  if (kind === 2) return encodeURIComponent(gen(text).toWellFormed())
  return encodeURIComponent(pick(gen, ODD))
}

/** Mostly what the schema says, so that what is wrong with it is met behind the first look. */
function valueOf(gen: GeneratorValue, schema: Schema, depth: number): unknown {
  const turn = chance(gen, 11)
  if (turn === 0) return pick(gen, ODD)
  if (turn === 1) return gen(anything)
  const [first] = ['anyOf', 'oneOf', 'allOf'].flatMap(name => (schema[name] as Schema[] | undefined) ?? [])
  if (first && depth < 6) return valueOf(gen, first, depth + 1)
  if (Array.isArray(schema.enum)) return pick(gen, schema.enum as unknown[])
  const type = Array.isArray(schema.type) ? (schema.type[0] as string) : schema.type
  if (schema.properties && depth < 6) {
    const fields = Object.entries(schema.properties).filter(() => chance(gen, 9) > 1)
    const more = chance(gen, 9) === 0 ? { [pick(gen, ODD)]: 1 } : {}
    return { ...Object.fromEntries(fields.map(([name, of]) => [name, valueOf(gen, of, depth + 1)])), ...more }
  }
  if (type === 'array')
    return Array.from({ length: chance(gen, 4) }, () =>
      valueOf(gen, (schema.items ?? {}) as Schema, depth + 1),
    )
  if (type === 'integer' || type === 'number') return gen(number)
  if (type === 'boolean') return gen(fc.boolean)
  if (type === 'string') return gen(word)
  return gen(anything)
}

/** Bytes of a text; of one in three some were changed, left out or said twice on the way. */
function bytesOf(gen: GeneratorValue, text: string): Buffer {
  const bytes = [...Buffer.from(text)]
  if (chance(gen, 2) > 0) return Buffer.from(bytes)
  for (let times = gen(fc.integer, { min: 1, max: 4 }); times > 0; times--) {
    const at = chance(gen, Math.max(0, bytes.length - 1))
    const how = pick(gen, ['change', 'cut', 'insert', 'repeat'])
    if (how === 'change') bytes[at] = chance(gen, 255)
    if (how === 'cut') bytes.splice(at)
    if (how === 'insert') bytes.splice(at, 0, chance(gen, 255))
    if (how === 'repeat') bytes.push(...bytes.slice(at))
  }
  return Buffer.from(bytes.slice(0, 200_000))
}

/** Sends one. Rejects when there is no answer. */
export function send(
  url: string,
  { method, path, headers, body }: Malformed,
  agent: http.Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method,
      path,
      headers: { ...headers, 'content-length': body?.length ?? 0 },
      agent,
    })
    request.on('error', reject)
    request.on('response', response => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: Number(response.headers['retry-after'] ?? 0),
          type: String(response.headers['content-type'] ?? ''),
          text: textOf(response.headers['content-encoding'], Buffer.concat(chunks)),
        }),
      )
    })
    request.end(body)
  })
}

function textOf(encoding: string | undefined, bytes: Buffer): string {
  return (encoding === undefined || bytes.length === 0 ? bytes : unzipSync(bytes)).toString()
}

const ajv = new Ajv2020({ strict: false })
const isError = ajv.compile(jsonSchema(failure, 'output'))
const isFailure = ajv.compile(jsonSchema(unusable, 'output'))

/** What is wrong with an answer to a request that may be right or wrong; null when nothing is. */
export function problemOf({ method }: Malformed, { status, type, text }: Answer): string | null {
  if (status >= 500) return `answered ${status}: ${text}`
  // A badge that is not there is a picture too.
  if (status < 400 || method === 'HEAD' || type === 'image/svg+xml') return null
  if (!type.startsWith('application/json'))
    return `answered ${status} as ${type || 'nothing'}: ${text.slice(0, 200)}`
  const body: unknown = JSON.parse(text)
  return isError(body) || isFailure(body)
    ? null
    : `answered ${status} with no error body: ${text.slice(0, 500)}`
}

/** Sends one again while the service asks for that: a text in turn behind others of its sender is no failure. */
async function sendUntilTaken(url: string, request: Malformed, agent: http.Agent): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await send(url, request, agent)
    if (answer.status !== 503 || answer.retryAfter === 0 || tries === MAX_TRIES) return answer
    await wait(answer.retryAfter * 1_000)
  }
}

/** Asks all of them, some at a time, and gives the problems, each with what was sent. */
export async function sendAll(url: string, requests: readonly Malformed[]): Promise<string[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const problems: string[] = []
  const next = requests.values()
  const one = async () => {
    for (const request of next) {
      const problem = await sendUntilTaken(url, request, agent).then(
        answer => problemOf(request, answer),
        (error: unknown) => `gave no answer: ${String(error)}`,
      )
      if (problem)
        problems.push(
          `${request.method} ${request.path} ${request.body?.toString('latin1') ?? ''} ${problem}`,
        )
    }
  }
  await Promise.all(Array.from({ length: 8 }, one))
  agent.destroy()
  return problems
}
