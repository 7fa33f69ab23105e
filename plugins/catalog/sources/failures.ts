import { ConnectorError, type ConnectorErrorKind } from '../../../connectors/errors.ts'
import { storable } from '../../../server/database/storable.ts'
import { ExtensionCallError } from '../../../server/extension-errors.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { GiveUp } from '../../../server/jobs/jobs.ts'

/** The `error_code` of the API for each kind of failure. */
const ERROR_CODES: Record<ConnectorErrorKind, string> = {
  credentials: 'credentials',
  network: 'network',
  timeout: 'timeout',
  tls: 'tls',
  permission: 'permission',
  'missing-object': 'missing_object',
  'invalid-query': 'other',
  'driver-missing': 'driver_missing',
  'egress-refused': 'egress_refused',
  busy: 'busy',
  other: 'other',
}

/** Whether a connector may give an error this kind; one in JavaScript may give it any. */
export function isErrorKind(kind: unknown): kind is ConnectorErrorKind {
  return typeof kind === 'string' && Object.hasOwn(ERROR_CODES, kind)
}

/** A failure in replies. The message of an error that is neither a connector's nor the API's is not shown. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ConnectorError)
    return { code: ERROR_CODES[error.kind] ?? 'other', message: storable(error.message) }
  if (hasErrorData(error) || error instanceof GiveUp || error instanceof ExtensionCallError)
    return { code: 'other', message: storable(error.message) }
  return { code: 'other', message: 'Something unexpected went wrong; the log has more' }
}
