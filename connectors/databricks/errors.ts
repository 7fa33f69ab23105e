import { amendError, errorRule, isInEngineWords, OVER_TIME_HINT } from '../errors.ts'
import type { ConnectorError, ConnectorErrorKind, ErrorRule } from '../errors.ts'
import { classifyRestError, RestFailure } from '../rest/errors.ts'

/** The code of a result that does not fit into replies. */
export const REPLY_TOO_LARGE = 'RESULT_TOO_LARGE'

/**
 * What a request is refused with, by the codes of the API (https://docs.databricks.com/api/workspace/introduction),
 * and a statement that never began. Some are recognized by their messages alone, and the message of a statement's own
 * error can quote names and values that read like them: no rule here is for those.
 */
const REQUEST_RULES: readonly ErrorRule[] = [
  errorRule('network', { message: /IP access list|blocked by Databricks IP ACL/i }).say(
    "The workspace lets only listed addresses in: add this server's address to its IP access list.",
  ),
  errorRule('credentials', { code: /^(UNAUTHENTICATED|HTTP_401|401|INVALID_TOKEN)$/ }).say(
    'Databricks does not take the token: check access_token, and whether it has run out or was revoked.',
  ),
  errorRule('credentials', {
    message: /invalid access token|token (is|has) (expired|invalid|been revoked)|credential was not sent/i,
  }).say(
    'Databricks does not take the token: check access_token, and whether it has run out or was revoked.',
  ),
  errorRule('permission', {
    message: /(not have|no|lacks?) (the )?\S* ?(permissions?|access|authoriz\w+).{0,60}(warehouse|endpoint)/i,
  }).say('The token may not use the SQL warehouse: grant its owner CAN USE on the warehouse.'),
  errorRule('missing-object', {
    code: /^(RESOURCE_DOES_NOT_EXIST|NOT_FOUND|ENDPOINT_NOT_FOUND|INVALID_PARAMETER_VALUE|BAD_REQUEST|HTTP_404)$/,
    message: /(warehouse|endpoint).*(not found|not exist|not a valid|deleted|invalid)|No API found/is,
  }).say('There is no such SQL warehouse in the workspace: check host and http_path.'),
  errorRule('missing-object', { code: 'HTTP_404' }).say(
    'The host knows no such SQL warehouse: check host and http_path.',
  ),
  errorRule('other', { code: 'NO_WORKSPACE' }).say(
    'The host does not answer as a Databricks workspace does: check host.',
  ),
  errorRule('network', { code: /^(REQUEST_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED|429|HTTP_429)$/ }).say(
    'Databricks takes no more requests just now: try again later, or check fewer tables at once.',
  ),
  errorRule('network', { code: /^(WORKSPACE_)?TEMPORARILY_UNAVAILABLE$|^SERVICE_UNDER_MAINTENANCE$/ }).say(
    'Databricks is not available just now: try again later.',
  ),
  errorRule('network', {
    message: /(warehouse|endpoint).*(stopp|not running|failed to start|cannot be started|is starting)/i,
  }).say('The SQL warehouse does not run: start it in Databricks, or let it start by itself, and try again.'),
]

/**
 * What a statement fails with, by the error conditions that messages begin with in brackets
 * (https://docs.databricks.com/error-messages/error-classes.html), and what is left of the API's codes. Rules without `say` keep the message until a
 * session redacts it.
 */
const STATEMENT_RULES: readonly ErrorRule[] = [
  errorRule('invalid-query', { code: REPLY_TOO_LARGE }).say(
    'The result is larger than Databricks puts into replies (25 MiB): select fewer rows or columns.',
  ),
  errorRule('other', { code: 'INCOMPLETE' }).say(
    'Databricks gave less of the result than it announced: try again.',
  ),
  errorRule('other', { code: 'CANCELED' }).say(
    'The statement was cancelled in Databricks: try again, or ask who cancelled it.',
  ),
  errorRule('other', { code: 'CLOSED' }).say(
    'Databricks keeps the result of the statement no longer: try again.',
  ),
  errorRule('timeout', { code: /^DEADLINE_EXCEEDED$|TIMEOUT|TIMED_OUT/ }).say(OVER_TIME_HINT),
  errorRule('timeout', { message: /statement.*(timed out|timeout)|STATEMENT_TIMEOUT/i }).say(
    'The statement ran over its time and was ended: allow more time, raise STATEMENT_TIMEOUT of the warehouse, or check fewer rows or columns at once.',
  ),
  // Before what is missing: Unity Catalog says both of what may not be seen.
  errorRule('permission', {
    code: /^(INSUFFICIENT_(PERMISSIONS|PRIVILEGES)|PERMISSION_DENIED|UNAUTHORIZED_ACCESS)/,
  }),
  errorRule('permission', { message: /PERMISSION_DENIED|does not have [A-Z ]+ on |SQLSTATE: 42501/ }),
  errorRule('missing-object', { code: /^NO_SUCH_CATALOG|^CATALOG_NOT_FOUND/ }).say(
    "There is no such catalog, or the token's owner may not use it: check default_catalog, and run a discovery if it was renamed or dropped.",
  ),
  errorRule('missing-object', { code: /^(TABLE_OR_VIEW|VIEW|DELTA_TABLE)_NOT_FOUND/, fault: 'table' }),
  errorRule('missing-object', { code: /^(UNRESOLVED_COLUMN|COLUMN_NOT_FOUND)/, fault: 'column' }),
  errorRule('missing-object', {
    code: /^(TABLE_OR_VIEW|VIEW|SCHEMA|CATALOG|DATABASE|DELTA_TABLE|PATH|NAMESPACE)_NOT_FOUND|^NO_SUCH_|^(UNRESOLVED_(COLUMN|FIELD)|FIELD_NOT_FOUND|MISSING_COLUMN|COLUMN_NOT_FOUND)/,
  }),
  errorRule('invalid-query', { code: /^PARSE_SYNTAX_ERROR/, fault: 'syntax' }),
  errorRule('invalid-query', { code: /^UNRESOLVED_ROUTINE/, fault: 'function' }),
  errorRule('invalid-query', { code: /^DATATYPE_MISMATCH/, fault: 'type' }),
  errorRule('invalid-query', { code: /^(CAST_INVALID_INPUT|CANNOT_PARSE)/, fault: 'value' }),
  errorRule('invalid-query', {
    code: /^(ARITHMETIC|NUMERIC|CAST)_\w*(OVERFLOW|OUT_OF_RANGE)/,
    fault: 'range',
  }),
  errorRule('invalid-query', { code: /^(DIVIDE|REMAINDER)_BY_ZERO/, fault: 'division' }),
  errorRule('invalid-query', { code: 'INVALID_PARAMETER_VALUE.PATTERN', fault: 'pattern' }),
  errorRule('invalid-query', { code: /^SCALAR_SUBQUERY_TOO_MANY_ROWS/, fault: 'rows' }),
  errorRule('invalid-query', { code: /^USER_RAISED_EXCEPTION/, fault: 'raised' }),
  errorRule('missing-object', { message: /SQLSTATE: (42P01|42703|42704|3F000|3D000)/ }),
  errorRule('invalid-query', {
    code: /^(PARSE_|UNRESOLVED_|UNBOUND_|DATATYPE_MISMATCH|CAST_|DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|ARITHMETIC_|NUMERIC_|DECIMAL_|INVALID_|MISSING_|AMBIGUOUS_|UNSUPPORTED_|WRONG_NUM_ARGS|SCALAR_SUBQUERY|COLLATION_|CANNOT_PARSE)/,
  }),
  // Text that is no value of its type, more rows than one; bad SQL; what the engine does not have.
  errorRule('invalid-query', { message: /SQLSTATE: (0A|21|22|42|38|39|54)/ }),
  errorRule('invalid-query', { code: /^(BAD_REQUEST|HTTP_400|MALFORMED_REQUEST)$/ }),
]

const RULES: readonly ErrorRule[] = [...REQUEST_RULES, ...STATEMENT_RULES]

/** What to do, added to what is wrong. */
const ADVICE: Partial<Record<ConnectorErrorKind, string>> = {
  permission: "grant the token's owner USE CATALOG, USE SCHEMA and SELECT",
  'missing-object': 'run a discovery if it was renamed or dropped',
}

/** Classifies what a request or a statement threw. */
export function classifyDatabricksError(engine: string, thrown: unknown): ConnectorError {
  const isFailure =
    thrown instanceof RestFailure && thrown.status === 200 && ERROR_CONDITION.test(thrown.message)
  const error = classifyRestError(engine, isFailure ? STATEMENT_RULES : RULES, thrown)
  const advice = ADVICE[error.kind]
  return error === thrown || !advice || !isInEngineWords(error) ? error : amendError(error, { advice })
}

/** A condition in brackets: `[UNRESOLVED_COLUMN.WITH_SUGGESTION]`. Text of `raise_error` may follow a RuntimeException. */
const ERROR_CONDITION = /^(?:(?!\S*RuntimeException)\S*Exception: )?\[([A-Z0-9_.]+)\]/

/** Where in the text it failed; what follows is the text, or the plan. */
const ERROR_PLACE = /(\(?\bline \d+,? pos \d+\)?)[\s\S]*$/

/** A message may quote a whole statement or plan; what it says stands at its start. */
const MAX_MESSAGE_CHARACTERS = 2_000

const TOO_LARGE_MESSAGE = /inline.*(limit|exceed)|exceed.*inline|result.*(larger|size).*limit/is

/** The status of a statement. */
export interface StatementStatus {
  state: string
  error?: { error_code?: string; message?: string }
  sql_state?: string
}

/** The failure of a statement, with the most exact code that its status has. */
export function toStatementFailure({ error = {}, sql_state: state }: StatementStatus): RestFailure {
  const { error_code: code, message: whole = 'The statement failed.' } = error
  const message = whole.slice(0, MAX_MESSAGE_CHARACTERS)
  const condition = TOO_LARGE_MESSAGE.test(message) ? REPLY_TOO_LARGE : ERROR_CONDITION.exec(message)?.[1]
  const head = message.replace(ERROR_PLACE, '$1')
  const text = state === undefined || head.includes('SQLSTATE') ? head : `${head} SQLSTATE: ${state}`
  return new RestFailure(200, { code: condition ?? code ?? state, message: text })
}

/**
 * Reads the code and the message of a refused request, without the token, which some messages quote.
 * @param token the one that was sent
 */
export function makeFailureReader(token: string) {
  return (body: unknown): { code?: string; message?: string } => {
    if (typeof body !== 'object' || body === null) return {}
    const { error_code: code, message } = body as { error_code?: unknown; message?: unknown }
    return {
      ...((typeof code === 'string' || typeof code === 'number') && { code: String(code) }),
      ...(typeof message === 'string' && { message: message.replaceAll(token, '…') }),
    }
  }
}
