import { amendError, errorRule, isInEngineWords, OVER_TIME_HINT } from '../errors.ts'
import type { ConnectorError, ConnectorErrorKind, ErrorRule } from '../errors.ts'
import { classifyRestError, RestFailure } from '../rest/errors.ts'

export const ENGINE = 'bigquery'

const RETRY_ADVICE = 'try again later, or check fewer tables at once'

/**
 * BigQuery's errors by reason (https://cloud.google.com/bigquery/docs/error-messages). Rules without `say` keep the
 * message until a session redacts it.
 */
const RULES: readonly ErrorRule[] = [
  errorRule('credentials', { code: /^(authError|UNAUTHENTICATED|HTTP_401)$/ }).say(
    'Google does not take the key of the service account: check that it was not deleted or disabled (IAM, Service accounts, Keys), and that the clock of this server is right.',
  ),
  errorRule('permission', { code: /^(accessNotConfigured|SERVICE_DISABLED)$/ }).say(
    'The BigQuery API is not enabled in the project: enable it (APIs and services), and allow it some minutes.',
  ),
  errorRule('permission', { message: /bigquery\.jobs\.create/ }).say(
    'The service account may not run queries in the project: grant it BigQuery Job User on the project.',
  ),
  errorRule('permission', { code: 'accessDenied', message: /region-[\w-]+(`?[.:])INFORMATION_SCHEMA/i }).say(
    "The service account may not read the project's catalog: grant it BigQuery Metadata Viewer on the project, or set dataset to read only one on which it has BigQuery Data Viewer.",
  ),
  errorRule('permission', { code: 'billingNotEnabled' }).say(
    'Billing is not enabled for the project: enable it, or use another project_id.',
  ),
  errorRule('network', { code: /^(rateLimitExceeded|jobRateLimitExceeded)$/ }).say(
    `BigQuery takes no more requests of the project just now: ${RETRY_ADVICE}.`,
  ),
  errorRule('network', { code: 'quotaExceeded' }),
  errorRule('network', {
    code: /^(backendError|internalError|jobBackendError|jobInternalError|tableUnavailable)$/,
  }).say('BigQuery could not do it just now: try again later.'),
  errorRule('missing-object', {
    code: 'notFound',
    message: /Not found: Project|project .* (not found|does not exist)/i,
  }).say('There is no such project: check project_id, which is not its name.'),
  errorRule('missing-object', { code: 'notFound', message: /Not found: Dataset/i }),
  errorRule('missing-object', { code: 'notFound', fault: 'table' }),
  errorRule('missing-object', {
    code: 'invalidQuery',
    message: /^(Unrecognized name|Name \S+ not found)/,
    fault: 'column',
  }),
  errorRule('invalid-query', { code: 'invalidQuery', message: /^Syntax error/, fault: 'syntax' }),
  errorRule('invalid-query', {
    code: 'invalidQuery',
    message: /^(Function not found|No matching signature)/,
    fault: 'function',
  }),
  errorRule('invalid-query', { code: 'invalidQuery', message: /^division by zero/i, fault: 'division' }),
  errorRule('invalid-query', {
    code: 'invalidQuery',
    message: /regular expression|missing \)/i,
    fault: 'pattern',
  }),
  errorRule('invalid-query', {
    code: 'invalidQuery',
    message: /^(Bad \w+ value|Could not (cast|convert)|Invalid (date|datetime|timestamp|time))/i,
    fault: 'value',
  }),
  errorRule('timeout', {
    code: /^(stopped|timeout|timedOut|jobTimeout|invalidQuery)$/,
    message: /time[d ]*out|timeout/i,
  }).say(OVER_TIME_HINT),
  errorRule('other', { code: 'stopped' }).say(
    'The statement was cancelled in BigQuery: try again, or ask who cancelled it.',
  ),
  errorRule('invalid-query', { code: 'bytesBilledLimitExceeded' }).say(
    'The statement would be billed for more bytes than max_bytes_per_statement of the source or its maximum_bytes_billed allows, and was not run: give the check a window or a filter, or raise the limit.',
  ),
  errorRule('invalid-query', { code: 'responseTooLarge' }).say(
    'The result is larger than BigQuery returns: select fewer rows or columns.',
  ),
  errorRule('invalid-query', {
    code: /^(invalidQuery|invalid|resourcesExceeded|badRequest|INVALID_ARGUMENT)$/,
  }),
  errorRule('permission', { code: /^(accessDenied|forbidden|insufficientPermissions|PERMISSION_DENIED)$/ }),
  errorRule('other', { code: 'INCOMPLETE' }).say(
    'BigQuery gave less of the result than it announced: try again.',
  ),
  errorRule('other', { code: 'NO_BIGQUERY' }).say(
    'The answer is not one of BigQuery: check whether a proxy stands before it.',
  ),
]

/** What to do, added to what is wrong. */
const ADVICE: Partial<Record<ConnectorErrorKind, string>> = {
  permission:
    'grant the service account BigQuery Data Viewer on the dataset, and BigQuery Job User on the project',
  'missing-object': 'run a discovery if it was renamed or dropped',
}

const QUOTA_ADVICE = 'wait for the next day or raise the quota (IAM, Quotas)'

/** Classifies what a request or a job threw. */
export function classifyBigqueryError(thrown: unknown): ConnectorError {
  const error = classifyRestError(ENGINE, RULES, thrown)
  const advice = error.code === 'quotaExceeded' ? QUOTA_ADVICE : ADVICE[error.kind]
  if (error === thrown || !advice || !(thrown instanceof RestFailure) || !isInEngineWords(error)) return error
  return amendError(error, { advice })
}

interface ErrorBody {
  error?: { message?: string; status?: string; errors?: { reason?: string; message?: string }[] }
}

/** The reason and the message in the body of a failure. */
export function readFailureBody(body: unknown): { code?: string; message?: string } {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody
  const [first] = error?.errors ?? []
  return { code: first?.reason ?? error?.status, message: error?.message ?? first?.message }
}
