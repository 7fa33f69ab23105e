import { apiError, unprocessable } from '../../server/http/errors.ts'
import { makeFairSlots } from '../../server/fairness/fair-slots.ts'
import { MODULE_EXTENSION, refuseBusy, textTask, type TextPool } from '../../server/text-pool/text-pool.ts'
import { refuseTooLarge } from '../../server/text-pool/too-large.ts'
import type { ContractVerdict } from './findings.ts'
import { readGivenContract, type ContractInput, type ContractResult } from './read-contract.ts'

export const MAX_BYTES = 256 * 1024

export interface ContractValidator {
  /**
   * Validates a contract of a client without a credential.
   * @param address of the client, of which two contracts may wait
   * @throws 413 for a contract that is too large or takes too much to read, 422 for an unreadable one, 400 for one nested too
   *   deeply, 503 when too many are waiting
   */
  validate(input: ContractInput, address: string): Promise<ContractVerdict>
  /**
   * Validates a contract of a company. Throws as `validate` does.
   * @returns the verdict, and the JSON of a valid contract
   * @throws 413 also where the aliases of a valid contract make it too large
   */
  read(input: ContractInput, companyId: string): Promise<{ verdict: ContractVerdict; json?: string }>
}

/** The largest contracts take half a second and 100 MiB; those of nothing but mistakes take ten times as much. */
const LIMITS = { cpuMs: 5_000, megabytes: 256 }
const ADVICE = 'send a smaller or simpler one'

/** Contracts of clients without a credential that are read at once: they leave the other threads to companies. */
const PUBLIC_THREADS = 1
const PUBLIC_OWNER = 'contracts of the public'
const MAX_PUBLIC_WAITING = 8
const MAX_WAITING_OF_ADDRESS = 2
const MAX_WAITING_OF_COMPANY = 4

const task = textTask<typeof readGivenContract>(
  new URL(`./read-contract.${MODULE_EXTENSION}`, import.meta.url),
  'readGivenContract',
)

export function createValidator(pool: TextPool): ContractValidator {
  const addresses = makeFairSlots(PUBLIC_THREADS, { maxWaiting: MAX_PUBLIC_WAITING })
  const run = (input: ContractInput, owner: string) =>
    pool
      .run(task, input, { ...LIMITS, owner, maxWaiting: MAX_WAITING_OF_COMPANY })
      .catch(refuseTooLarge('The contract', ADVICE))
      .then(assertReadable)
  return {
    async validate(input, address) {
      assertSize(input)
      const release = await addresses.take(address, { maxWaiting: MAX_WAITING_OF_ADDRESS }).catch(refuseBusy)
      try {
        return (await run(input, PUBLIC_OWNER)).verdict
      } finally {
        release()
      }
    },
    async read(input, companyId) {
      assertSize(input)
      return withJson(await run(input, companyId))
    },
  }
}

/** Validates a contract of the command line: in this thread, and without limits of time. Throws as a validator does. */
export function validateOwn(input: ContractInput): ReadableContract {
  assertSize(input)
  return assertReadable(readGivenContract(input))
}

/** The same for what takes a validator. */
export const ownValidator: Pick<ContractValidator, 'read'> = {
  read: async input => withJson(validateOwn(input)),
}

/** @throws 413 for a valid contract whose JSON is too long */
function withJson({ verdict, json }: ReadableContract): { verdict: ContractVerdict; json?: string } {
  if (!verdict.valid) return { verdict }
  if (json !== undefined) return { verdict, json }
  throw apiError('PAYLOAD_TOO_LARGE', 'The contract is too large once its aliases are spelled out: split it')
}

function assertSize(input: ContractInput): void {
  const size = Buffer.byteLength('text' in input ? input.text : JSON.stringify(input.value))
  if (size > MAX_BYTES)
    throw apiError(
      'PAYLOAD_TOO_LARGE',
      `The contract has ${size} bytes, but at most ${MAX_BYTES} are allowed: split it`,
      { size, limit: MAX_BYTES },
    )
}

type ReadableContract = Extract<ContractResult, { verdict: unknown }>

/** @throws 422, or 400 for one nested too deeply */
function assertReadable(result: ContractResult): ReadableContract {
  if ('verdict' in result) return result
  const { unreadable } = result
  const deep = unreadable.find(({ type }) => type === 'yaml.depth')
  if (deep) throw apiError('BAD_REQUEST', `The contract cannot be read: ${deep.message}`)
  throw unprocessable(unreadable.map(({ type, message }) => ({ loc: ['body'], msg: message, type })))
}
