/** Replies of the service that are not a success, as errors of commands. */
import { CommandError, EXIT } from './command.ts'
import { oneLine } from './terminal-text.ts'

/** The message of an error reply, with its suggestion unless it names candidates itself. */
export function errorMessageIn(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { error?: { message?: string; details?: { suggestion?: string } } }
  if (typeof error?.message !== 'string') return undefined
  const { message, details } = error
  return oneLine(
    details?.suggestion && !message.endsWith('?') ? `${message}. ${details.suggestion}` : message,
  )
}

/** What an error reply says of each field, if it does. */
export function fieldErrorsIn(body: unknown): string[] {
  const { error } = (body ?? {}) as { error?: { details?: { errors?: { error?: unknown }[] } } }
  return (error?.details?.errors ?? []).flatMap(each =>
    typeof each.error === 'string' ? [oneLine(each.error)] : [],
  )
}

/** Other statuses are failures of the service (`EXIT.error`). */
const EXIT_CODE_BY_STATUS: Record<number, number> = {
  400: EXIT.usage,
  401: EXIT.usage,
  403: EXIT.usage,
  404: EXIT.notFound,
  409: EXIT.usage,
  413: EXIT.usage,
  422: EXIT.usage,
}

/** The error of a reply that is not a success, by its status. */
export function serviceError(status: number, message: string, fieldErrors: string[] = []): CommandError {
  const isTransient = status >= 500 || status === 429
  return new ServiceError(status, message, EXIT_CODE_BY_STATUS[status] ?? EXIT.error, {
    isTransient,
    fieldErrors,
  })
}

/** A reply of the service that is not a success. */
export class ServiceError extends CommandError {
  readonly status: number
  /** What is wrong with each field of the request; the message has all of it. */
  readonly fieldErrors: readonly string[]

  constructor(
    status: number,
    message: string,
    exit: number,
    { fieldErrors = [], ...more }: { isTransient: boolean; fieldErrors?: readonly string[] },
  ) {
    super(message, exit, more)
    this.status = status
    this.fieldErrors = fieldErrors
  }
}
