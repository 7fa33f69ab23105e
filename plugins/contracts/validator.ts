import { apiError, unprocessable } from '../../server/http/errors.ts'
import type { ContractVerdict } from './validation.ts'
import { PoolBusyError, createThreadPool, type ContractInput, type ThreadPool } from './thread-pool.ts'

/** Bytes of a contract's text. */
export const MAX_BYTES = 256 * 1024

/** Seconds after which a busy validator has done what waits now. */
const RETRY_AFTER_SECONDS = 2

/** Judges contracts; stops when the service does. */
export interface ContractValidator {
  /**
   * @param address of the client that asks: few of one address wait at once; absent: no such limit
   * @throws 413 for too large a contract, 422 for a text that is none, 400 for one nested too deeply, 503 when too
   * many wait
   */
  validate(question: ContractInput, address?: string): Promise<ContractVerdict>
  stop(): Promise<void>
}

/** Makes a validator with threads of its own. */
export function createValidator(threads: ThreadPool = createThreadPool()): ContractValidator {
  return {
    async validate(question, address) {
      const size = Buffer.byteLength('text' in question ? question.text : JSON.stringify(question.value))
      if (size > MAX_BYTES)
        throw apiError(
          'PAYLOAD_TOO_LARGE',
          `The contract has ${size} bytes, and ${MAX_BYTES} are the most: split it`,
          { size, limit: MAX_BYTES },
        )
      const answer = await threads.ask(question, address).catch(rethrowBusy)
      if ('verdict' in answer) return answer.verdict
      const { unreadable } = answer
      const deep = unreadable.find(({ type }) => type === 'yaml.depth')
      if (deep) throw apiError('BAD_REQUEST', `The contract cannot be read: ${deep.message}`)
      throw unprocessable(unreadable.map(({ type, message }) => ({ loc: ['body'], msg: message, type })))
    },
    stop: () => threads.stop(),
  }
}

function rethrowBusy(error: unknown): never {
  if (!(error instanceof PoolBusyError)) throw error
  const busy = apiError('UNAVAILABLE', error.message, { retry_after: RETRY_AFTER_SECONDS })
  busy.output.headers['Retry-After'] = String(RETRY_AFTER_SECONDS)
  throw busy
}

/** Judges one contract, as the command line does, and leaves nothing behind. */
export async function validateText(text: string): Promise<ContractVerdict> {
  const validator = createValidator()
  try {
    return await validator.validate({ text })
  } finally {
    await validator.stop()
  }
}
