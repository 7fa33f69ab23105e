import jwt from 'jsonwebtoken'
import type { Exchange } from '../warehouse.ts'
import { BigqueryFailure } from './tokens.ts'

/** The service account that may sign in. */
export interface Account {
  email: string
  keyId: string
  publicKey: string
  /** Tokens made before this moment, in seconds since 1970, have run out. */
  validFrom: number
}

const WRITE = 'https://www.googleapis.com/auth/bigquery'
const READ = 'https://www.googleapis.com/auth/bigquery.readonly'

function unauthenticated(): never {
  throw new BigqueryFailure(
    401,
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  )
}

/**
 * Verifies the token of a request (https://google.aip.dev/auth/4111) and that its scope is enough for the method
 * (https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/cancel, …/query, …/getQueryResults, …/datasets/list).
 */
export function authenticate({ headers, path }: Exchange, account: Account): void {
  const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) unauthenticated()
  let decoded: jwt.Jwt
  try {
    decoded = jwt.verify(token, account.publicKey, { algorithms: ['RS256'], complete: true })
  } catch {
    unauthenticated()
  }
  const { header, payload } = decoded
  const { iss, sub, aud, scope, iat = 0, exp = 0 } = payload as jwt.JwtPayload & { scope?: string }
  const isOurs = iss === account.email && sub === account.email && header.kid === account.keyId
  // One of scope and audience, never both; an hour at most.
  const isFormed = aud === undefined && typeof scope === 'string' && exp - iat <= 3600 && header.typ === 'JWT'
  if (!isOurs || !isFormed || iat < account.validFrom || iat > Date.now() / 1000 + 60) unauthenticated()
  const scopes = scope.split(' ')
  const isEnough = scopes.includes(WRITE) || (scopes.includes(READ) && !path.endsWith('/cancel'))
  if (!isEnough)
    throw new BigqueryFailure(
      403,
      'insufficientPermissions',
      'Request had insufficient authentication scopes.',
    )
}

type Rule = (value: unknown) => boolean

const isText: Rule = value => typeof value === 'string'
const isCount: Rule = value => Number.isInteger(value) && Number(value) >= 0
const isLong: Rule = value => typeof value === 'string' && /^\d+$/.test(value)
const isFlag: Rule = value => typeof value === 'boolean'
const isLabels: Rule = value =>
  Object.entries(value as object).every(
    ([name, label]) => /^[a-z][a-z0-9_-]{0,62}$/.test(name) && /^[a-z0-9_-]{0,63}$/.test(String(label)),
  )

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query#QueryRequest */
const QUERY_FIELDS: Readonly<Record<string, Rule>> = {
  query: isText,
  maxResults: isCount,
  defaultDataset: value => hasOnly(value, { datasetId: isText, projectId: isText }),
  timeoutMs: isCount,
  jobTimeoutMs: isLong,
  dryRun: isFlag,
  useQueryCache: isFlag,
  useLegacySql: isFlag,
  parameterMode: value => value === 'POSITIONAL' || value === 'NAMED',
  queryParameters: value => Array.isArray(value) && value.every(isParameter),
  location: isText,
  formatOptions: value => hasOnly(value, { useInt64Timestamp: isFlag }),
  connectionProperties: value =>
    Array.isArray(value) && value.every(each => hasOnly(each, { key: isText, value: isText })),
  labels: isLabels,
  maximumBytesBilled: isLong,
  requestId: value => typeof value === 'string' && /^[\x21-\x7e]{1,36}$/.test(value),
}

const PARAMETER_TYPES = /^(INT64|FLOAT64|NUMERIC|BIGNUMERIC|BOOL|STRING|BYTES|DATE|TIME|DATETIME|TIMESTAMP)$/

const isParameter: Rule = value =>
  hasOnly(value, {
    parameterType: type => hasOnly(type, { type: name => PARAMETER_TYPES.test(String(name)) }),
    parameterValue: given => hasOnly(given, { value: isText }),
  })

function hasOnly(value: unknown, fields: Readonly<Record<string, Rule>>): boolean {
  return faultOf(value, fields) === null
}

/** The name of a field that is unknown or of the wrong form. */
function faultOf(value: unknown, fields: Readonly<Record<string, Rule>>): string | null {
  if (typeof value !== 'object' || value === null) return 'body'
  const fault = Object.entries(value).find(
    ([name, field]) => !Object.hasOwn(fields, name) || !fields[name]?.(field),
  )
  return fault?.[0] ?? null
}

/** What a query is asked with. */
export interface QueryRequest {
  query: string
  dryRun?: boolean
  maxResults?: number
  defaultDataset?: { datasetId: string; projectId: string }
  timeoutMs?: number
  jobTimeoutMs?: string
  useLegacySql?: boolean
  parameterMode?: string
  queryParameters?: { parameterType: { type: string }; parameterValue: { value: string } }[]
  location?: string
  formatOptions?: { useInt64Timestamp?: boolean }
  connectionProperties?: { key: string; value: string }[]
  maximumBytesBilled?: string
  requestId?: string
}

/** Refuses a body with a field that is unknown or of the wrong form, as Google's services do. */
export function readQueryRequest({ body, headers }: Exchange): QueryRequest {
  if (!headers['content-type']?.startsWith('application/json')) invalid('Content-Type')
  const fault = faultOf(body, QUERY_FIELDS)
  if (fault !== null) invalid(fault)
  const request = body as QueryRequest
  if (request.useLegacySql !== false) invalid('useLegacySql: the double has GoogleSQL only')
  if ((request.queryParameters === undefined) !== (request.parameterMode === undefined))
    invalid('parameterMode')
  return request
}

/** Refuses parameters of a path that are unknown. */
export function checkQuery({ query }: Exchange, known: readonly string[]): void {
  const other = [...query.keys()].find(name => !known.includes(name))
  if (other !== undefined) invalid(other)
}

function invalid(name: string): never {
  const message = `Invalid JSON payload received. Unknown name or invalid value: "${name}".`
  throw new BigqueryFailure(400, 'badRequest', message)
}
