import { apiError } from '../http/errors.ts'
import { TextLimitError } from './text-pool.ts'

/**
 * What a caller is answered when a text exceeded the limits of the pool: for `catch` of `TextPool.run`.
 * @param what the text is, as in "The contract"
 * @param advice what to do about it, as in "split it"
 * @throws 413 for a `TextLimitError`, any other error as it is
 */
export function refuseTooLarge(what: string, advice: string): (error: unknown) => never {
  return error => {
    if (!(error instanceof TextLimitError)) throw error
    throw apiError('PAYLOAD_TOO_LARGE', `${what} cannot be read: ${error.message}: ${advice}`)
  }
}
