import type { Answer } from '../warehouse.ts'
import type { SentParameter } from './rewrite.ts'

/** The body of a request that starts a statement. */
export interface StatementRequest {
  warehouse_id: string
  statement: string
  parameters: SentParameter[]
  catalog?: string
  row_limit?: number
  waitMs: number
  isCancelledLate: boolean
}

const FIELDS = [
  'warehouse_id',
  'statement',
  'parameters',
  'catalog',
  'schema',
  'wait_timeout',
  'on_wait_timeout',
  'disposition',
  'format',
  'row_limit',
  'byte_limit',
  'query_tags',
]
const PARAMETER_TYPE =
  /^(STRING|TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|TIMESTAMP_NTZ|DECIMAL\(\d+,\d+\))$/
const MAX_PARAMETERS = 256
const MAX_STATEMENT_BYTES = 16 * 1024 * 1024

/** A refused request, in the shape of all of Databricks' APIs. */
export function refusal(status: number, code: string | number, message: string): Answer {
  return { status, body: { error_code: code, message, details: [] } }
}

/**
 * Reads the body of `POST /api/2.0/sql/statements` as strictly as its reference allows
 * (https://docs.databricks.com/api/workspace/statementexecution/executestatement). That 256 parameters are the
 * most is said by Databricks' own drivers (databricks-sql-nodejs, issue 308).
 * @returns a refusal for what is not in it
 */
export function readRequest(body: unknown): StatementRequest | Answer {
  const bad = (message: string) => refusal(400, 'INVALID_PARAMETER_VALUE', message)
  if (typeof body !== 'object' || body === null) return refusal(400, 'MALFORMED_REQUEST', 'No JSON body.')
  const sent = body as Record<string, unknown>
  const unknown = Object.keys(sent).find(field => !FIELDS.includes(field))
  if (unknown) return refusal(400, 'BAD_REQUEST', `Unknown field ${unknown}.`)
  const { warehouse_id: id, statement, parameters = [], catalog, row_limit: limit } = sent
  const { wait_timeout: wait = '10s', on_wait_timeout: late = 'CONTINUE' } = sent
  const { disposition = 'INLINE', format = 'JSON_ARRAY' } = sent
  if (typeof id !== 'string' || id === '') return bad('warehouse_id is required.')
  if (typeof statement !== 'string' || statement.trim() === '') return bad('statement is required.')
  if (Buffer.byteLength(statement) > MAX_STATEMENT_BYTES) return bad('statement is larger than 16 MiB.')
  if (!/^(0|[5-9]|[1-4]\d|50)s$/.test(String(wait))) return bad('wait_timeout must be 0s, or 5s to 50s.')
  if (late !== 'CONTINUE' && late !== 'CANCEL') return bad('on_wait_timeout must be CONTINUE or CANCEL.')
  if (disposition !== 'INLINE' || format !== 'JSON_ARRAY') return bad('INLINE goes with JSON_ARRAY.')
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) > 0)) return bad('row_limit is bad.')
  if (catalog !== undefined && typeof catalog !== 'string') return bad('catalog must be a text.')
  const wrong = badParameter(parameters)
  if (wrong) return bad(wrong)
  return {
    warehouse_id: id,
    statement,
    parameters: parameters as SentParameter[],
    catalog,
    row_limit: limit as number | undefined,
    waitMs: Number.parseInt(String(wait), 10) * 1000,
    isCancelledLate: late === 'CANCEL',
  }
}

function badParameter(parameters: unknown): string | undefined {
  if (!Array.isArray(parameters)) return 'parameters must be a list.'
  if (parameters.length > MAX_PARAMETERS) return `There are more than ${MAX_PARAMETERS} parameters.`
  for (const { name, value, type = 'STRING', ...more } of parameters as Record<string, unknown>[]) {
    if (Object.keys(more).length > 0) return `A parameter has the unknown field ${Object.keys(more)[0]}.`
    if (typeof name !== 'string' || !/^[A-Za-z_]\w*$/.test(name)) return 'A parameter needs a name.'
    if (value !== undefined && value !== null && typeof value !== 'string') return `${name} is no text.`
    if (!PARAMETER_TYPE.test(String(type))) return `${name} has the unknown type ${String(type)}.`
  }
  return undefined
}
