import { apiError, unprocessable } from '../../server/http/errors.ts'
import type { ContractVerdict } from './findings.ts'
import { PoolBusyError, createThreadPool, type ContractInput, type ThreadPool } from './thread-pool.ts'

export const MAX_BYTES = 256 * 1024

const RETRY_AFTER_SECONDS = 2

export interface ContractValidator {
  /**
   * @param address of the client, which limits how many of its contracts wait; without one there is no such limit
   * @throws 413 for too large a contract, 422 for an unreadable one, 400 for one nested too deeply, 503 when too many
   *   are waiting
   */
  validate(input: ContractInput, address?: string): Promise<ContractVerdict>
  /** Validates a contract, and returns its parsed value beside the verdict if it is valid. Throws as `validate` does. */
  read(input: ContractInput): Promise<{ verdict: ContractVerdict; value?: unknown }>
  stop(): Promise<void>
}

export function createValidator(threads: ThreadPool = createThreadPool()): ContractValidator {
  async function read(input: ContractInput, address?: string) {
    const size = Buffer.byteLength('text' in input ? input.text : JSON.stringify(input.value))
    if (size > MAX_BYTES)
      throw apiError(
        'PAYLOAD_TOO_LARGE',
        `The contract has ${size} bytes, but at most ${MAX_BYTES} are allowed: split it`,
        { size, limit: MAX_BYTES },
      )
    const answer = await threads.validate(input, address).catch(rethrowBusy)
    if ('verdict' in answer) return answer
    const { unreadable } = answer
    const deep = unreadable.find(({ type }) => type === 'yaml.depth')
    if (deep) throw apiError('BAD_REQUEST', `The contract cannot be read: ${deep.message}`)
    throw unprocessable(unreadable.map(({ type, message }) => ({ loc: ['body'], msg: message, type })))
  }
  return {
    validate: async (input, address) => (await read(input, address)).verdict,
    read: input => read({ ...input, isKept: true }),
    stop: () => threads.stop(),
  }
}

function rethrowBusy(error: unknown): never {
  if (!(error instanceof PoolBusyError)) throw error
  const busy = apiError('UNAVAILABLE', error.message, { retry_after: RETRY_AFTER_SECONDS })
  busy.output.headers['Retry-After'] = String(RETRY_AFTER_SECONDS)
  throw busy
}

/** Validates one contract for the command line. */
export async function validateText(text: string): Promise<ContractVerdict> {
  const validator = createValidator()
  try {
    return await validator.validate({ text })
  } finally {
    await validator.stop()
  }
}
