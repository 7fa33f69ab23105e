/** The cause of a job, stored beside its data under a key that its kind never sees. */
import { currentOrigin } from '../telemetry/origin.ts'
import { traceparent } from '../telemetry/spans.ts'

/** The one key that no kind of job may use for data of its own. */
const KEY = '_origin'

export interface Cause {
  /** The id of the request or sweep at the start of the chain of jobs. */
  id: string
  /** The span that sent it, as `traceparent` writes it. */
  trace?: string
}

/** The data of a job as stored: with its cause, if it has one. */
export function withCause<Data extends object>(data: Data): Data {
  const id = currentOrigin()?.id
  const trace = traceparent()
  if (!id) return data
  return { ...data, [KEY]: { id, ...(trace !== undefined && { trace }) } satisfies Cause }
}

/** Splits a stored job into data and cause; a malformed cause, edited by hand, counts as none. */
export function splitCause(stored: object): { data: object; cause: Cause | undefined } {
  const { [KEY]: cause, ...data } = stored as Record<string, unknown>
  const { id, trace } = (cause ?? {}) as Record<string, unknown>
  if (typeof id !== 'string') return { data, cause: undefined }
  return { data, cause: { id, ...(typeof trace === 'string' && { trace }) } }
}

/** The fields that log lines show of a job's data: its ids. */
export function idsOf(data: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).filter(
      (entry): entry is [string, string] => /_id$/.test(entry[0]) && typeof entry[1] === 'string',
    ),
  )
}
