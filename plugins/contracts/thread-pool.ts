import { Worker } from 'node:worker_threads'
import { within } from '../../server/with-timeout.ts'
import type { ContractVerdict } from './validation.ts'
import type { ParseFailure } from './yaml.ts'

/** A contract: a text in YAML, or a value that came as JSON. */
export type ContractInput = { text: string } | { value: unknown }

/** What became of it. */
export type ContractResult = { verdict: ContractVerdict } | { unreadable: ParseFailure[] }

/** Judges contracts in threads of their own. */
export interface ThreadPool {
  /**
   * Takes a turn of its own; after the deadline the contract counts as unreadable.
   * @param address of the client; contracts without one are only limited together
   * @throws BusyError when too many wait already, of all clients or of this address
   */
  ask(question: ContractInput, address?: string): Promise<ContractResult>
  /** Ends the threads; what was asked is not answered any more. */
  stop(): Promise<void>
}

/** Too many contracts wait. */
export class PoolBusyError extends Error {
  override readonly name = 'BusyError'
}

/** How much contracts may take together. */
export interface PoolLimits {
  /** Threads at the same time. */
  threads: number
  /** Contracts that wait for one. */
  waiting: number
  /** Contracts of one address among them, so that one client cannot take all the places. */
  waitingPerAddress: number
  /** Milliseconds of a thread for one contract. */
  deadline: number
  /** MiB of a thread. */
  memory: number
}

const DEFAULT_LIMITS: PoolLimits = {
  threads: 2,
  waiting: 8,
  waitingPerAddress: 2,
  deadline: 2_000,
  memory: 64,
}

interface QueuedContract {
  question: ContractInput
  address: string | undefined
  resolve(answer: ContractResult): void
  reject(error: Error): void
}

/** Threads are started when they are needed and kept: starting one takes longer than judging most contracts. */
export function createThreadPool(given: Partial<PoolLimits> = {}): ThreadPool {
  const bounds = { ...DEFAULT_LIMITS, ...given }
  const idle: ValidationThread[] = []
  const running = new Set<ValidationThread>()
  const queue: QueuedContract[] = []
  let isStopped = false

  const next = (): void => {
    while (queue.length > 0 && !isStopped) {
      const thread = awake() ?? (running.size < bounds.threads ? open() : undefined)
      if (!thread) return
      void serve(thread, queue.shift() as QueuedContract)
    }
  }
  const awake = (): ValidationThread | undefined => {
    const thread = idle.pop()
    if (!thread || thread.isAlive) return thread
    running.delete(thread)
    return awake()
  }
  const open = (): ValidationThread => {
    const thread = new ValidationThread(bounds)
    running.add(thread)
    return thread
  }
  const serve = async (thread: ValidationThread, turn: QueuedContract): Promise<void> => {
    try {
      turn.resolve(await thread.take(turn.question))
    } catch (error) {
      turn.reject(error as Error)
    } finally {
      if (thread.isAlive) idle.push(thread)
      else running.delete(thread)
      next()
    }
  }
  return {
    ask(question, address) {
      const ofAddress = queue.filter(turn => address !== undefined && turn.address === address).length
      if (isStopped || queue.length >= bounds.waiting || ofAddress >= bounds.waitingPerAddress)
        return Promise.reject(
          new PoolBusyError('Too many contracts wait to be validated: try again in a second'),
        )
      const { promise, resolve, reject } = Promise.withResolvers<ContractResult>()
      queue.push({ question, address, resolve, reject })
      next()
      return promise
    },
    async stop() {
      isStopped = true
      for (const { reject } of queue.splice(0)) reject(new PoolBusyError('The service stops'))
      await Promise.all([...running].map(thread => thread.end()))
    },
  }
}

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** One thread, which takes one contract at a time and ends with the first that it cannot manage. */
class ValidationThread {
  isAlive = true
  readonly #worker: Worker
  readonly #deadline: number
  readonly #ready: Promise<unknown>

  constructor({ deadline, memory }: PoolLimits) {
    this.#deadline = deadline
    this.#worker = new Worker(new URL(`./validation-thread.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memory },
      // The command line's own arguments and the process's output are not for it.
      argv: [],
      execArgv: [],
      stderr: false,
    })
    // One that ends while nobody listens, as when its memory is tidied up too late, must not end the process.
    this.#worker.on('error', () => undefined).on('exit', () => (this.isAlive = false))
    // An idle thread keeps no process alive.
    this.#worker.unref()
    this.#ready = this.#hear()
    this.#ready.catch(() => undefined)
  }

  async take(question: ContractInput): Promise<ContractResult> {
    this.#worker.ref()
    try {
      // Its start is not the contract's.
      await this.#ready
      const heard = this.#hear() as Promise<ContractResult>
      this.#worker.postMessage(question)
      const answer = await within(heard, this.#deadline, () => null)
      return answer ?? (await this.#giveUp('it takes longer than it may'))
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY')
        return await this.#giveUp('it takes too much memory')
      await this.end()
      throw error
    } finally {
      this.#worker.unref()
    }
  }

  async end(): Promise<void> {
    this.isAlive = false
    await this.#worker.terminate()
  }

  async #giveUp(why: string): Promise<ContractResult> {
    await this.end()
    return {
      unreadable: [
        { type: 'yaml.too_much', message: `${why}: send a smaller or simpler contract`, line: null },
      ],
    }
  }

  /** The next message, or the error that ends the thread. */
  #hear(): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const worker = this.#worker
    const settle = (act: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      act()
    }
    const onMessage = (message: unknown) => settle(() => resolve(message))
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => settle(() => reject(new PoolBusyError('The thread ended')))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    return promise
  }
}
