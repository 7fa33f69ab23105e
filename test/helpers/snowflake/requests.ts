import { createHash, createPublicKey } from 'node:crypto'
import jwt from 'jsonwebtoken'
import type { Exchange } from '../warehouse.ts'
import { SnowflakeError } from './tokens.ts'

/** Who may sign in, and how. */
export interface Users {
  account: string
  user: string
  /** PEM of the public key that the user has. */
  publicKey: string
  accessToken: string
}

/** A reply that is no statement's own: `status` and a body with a code. */
export class Refused extends SnowflakeError {
  readonly status: number

  constructor(status: number, code: string, message: string) {
    super(code, '', message)
    this.status = status
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Verifies the token of a request as Snowflake does: signature, issuer with the fingerprint of the key, subject, and
 * an end within an hour (https://docs.snowflake.com/en/developer-guide/sql-api/authenticating).
 */
export function authenticate({ headers }: Exchange, { account, user, publicKey, accessToken }: Users): void {
  if (!/^[\w-]+\/[\w.]+/.test(headers['user-agent'] ?? ''))
    throw new Refused(400, '391903', 'The User-Agent header is missing or malformed.')
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  const type = headers['x-snowflake-authorization-token-type']
  if (type === 'PROGRAMMATIC_ACCESS_TOKEN') {
    if (token !== accessToken) throw new Refused(401, '394400', 'Programmatic access token is invalid.')
    return
  }
  if (type !== 'KEYPAIR_JWT') throw new Refused(401, '390303', 'Invalid OAuth access token.')
  const name = `${account}.${user}`
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const fingerprint = createHash('sha256').update(der).digest('base64')
  try {
    const issuer = `${name}.SHA256:${fingerprint}`
    const claims = jwt.verify(token, publicKey, {
      algorithms: ['RS256'],
      issuer,
      subject: name,
    }) as jwt.JwtPayload
    const { iat = Infinity, exp = Infinity } = claims
    if (exp - iat > 3600 || iat > Date.now() / 1000 + 5) throw new Error('times')
  } catch {
    throw new Refused(401, '390144', 'JWT token is invalid. [7fb87e37-2f26-4a10-9f9c-72276ea898bf]')
  }
}

/** Query parameters by what is asked. */
const QUERIES: Record<string, readonly string[]> = {
  submit: ['requestId', 'async', 'nullable', 'retry'],
  status: ['requestId', 'partition'],
  cancel: ['requestId', 'retry'],
}

/** Refuses what the reference does not know (https://docs.snowflake.com/en/developer-guide/sql-api/reference). */
export function checkQuery({ query }: Exchange, operation: string): void {
  for (const name of query.keys()) {
    if (!QUERIES[operation]?.includes(name)) throw malformed(`query parameter ${name}`)
  }
  const id = query.get('requestId')
  if (id !== null && !UUID.test(id)) throw malformed('requestId')
  for (const name of ['async', 'retry', 'nullable']) {
    if (!['true', 'false', null].includes(query.get(name))) throw malformed(name)
  }
}

const FIELDS: Record<string, (value: unknown) => boolean> = {
  statement: value => typeof value === 'string' && value !== '',
  timeout: value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 604_800,
  database: isText,
  schema: isText,
  warehouse: isText,
  role: isText,
  bindings: value =>
    Object.entries(value as object).every(([key, item]) => /^\d+$/.test(key) && isBinding(item)),
  parameters: value =>
    Object.entries(value as object).every(([key, item]) => PARAMETERS.has(key) && isText(item)),
}

const PARAMETERS = new Set(
  'BINARY_OUTPUT_FORMAT CLIENT_RESULT_CHUNK_SIZE DATE_OUTPUT_FORMAT MULTI_STATEMENT_COUNT QUERY_TAG ROWS_PER_RESULTSET TIME_OUTPUT_FORMAT TIMESTAMP_LTZ_OUTPUT_FORMAT TIMESTAMP_NTZ_OUTPUT_FORMAT TIMESTAMP_OUTPUT_FORMAT TIMESTAMP_TZ_OUTPUT_FORMAT TIMEZONE USE_CACHED_RESULT'.split(
    ' ',
  ),
)

/** How the values of each type are written. */
const BINDINGS: Record<string, RegExp> = {
  FIXED: /^-?\d{1,38}$/,
  REAL: /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity)$/,
  TEXT: /[^]*/,
  BOOLEAN: /^(true|false)$/,
  BINARY: /^([0-9a-fA-F]{2})*$/,
  TIMESTAMP_NTZ: /^-?\d+$/,
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isBinding(item: unknown): boolean {
  const { type, value, ...more } = item as { type: string; value: string | null }
  if (Object.keys(more).length > 0) return false
  return value === null ? type === 'TEXT' : typeof value === 'string' && BINDINGS[type]?.test(value) === true
}

/** Refuses a body with a field that is unknown or of the wrong form. */
export function checkBody({ headers, body }: Exchange): void {
  if (headers['content-type'] !== 'application/json')
    throw new Refused(415, '391902', 'Unsupported media type.')
  if (typeof body !== 'object' || body === null) throw malformed('body')
  for (const [name, value] of Object.entries(body)) {
    if (!FIELDS[name]?.(value)) throw malformed(`field ${name}`)
  }
  if (!('statement' in body)) throw malformed('field statement')
}

function malformed(what: string): Refused {
  return new Refused(400, '391908', `The request is malformed: ${what}.`)
}
