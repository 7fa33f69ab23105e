import { Worker } from 'node:worker_threads'
import { withTimeout } from '../../server/with-timeout.ts'
import { MAX_YOUNG_MEGABYTES } from '../../server/worker-memory.ts'
import type { ContractVerdict } from './findings.ts'
import type { ParseFailure } from '../../server/yaml.ts'

/** A contract as YAML text, or as a JSON value; with `isKept` the result has the parsed value of a valid one. */
export type ContractInput = ({ text: string } | { value: unknown }) & { isKept?: true }

export type ContractResult = { verdict: ContractVerdict; value?: unknown } | { unreadable: ParseFailure[] }

/** Validates contracts in worker threads. */
export interface ThreadPool {
  /**
   * Waits for a thread; a contract that misses the deadline counts as unreadable.
   * @param address of the client; without one, only the common limit applies
   * @throws PoolBusyError when too many are waiting, in total or from this address
   */
  validate(input: ContractInput, address?: string): Promise<ContractResult>
  /** Ends the threads; waiting contracts are rejected. */
  stop(): Promise<void>
}

export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError'
}

/** Limits of all contracts together. */
export interface PoolLimits {
  threads: number
  /** Contracts that wait for a thread. */
  waiting: number
  /** Waiting contracts of one address, so that one client cannot fill the queue. */
  waitingPerAddress: number
  /** Milliseconds for one contract. */
  deadline: number
  /** MiB per thread. */
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
  input: ContractInput
  address: string | undefined
  resolve(answer: ContractResult): void
  reject(error: Error): void
}

/** Starts threads on demand and keeps them: starting one takes longer than validating most contracts. */
export function createThreadPool(given: Partial<PoolLimits> = {}): ThreadPool {
  const bounds = { ...DEFAULT_LIMITS, ...given }
  const idle: ValidationThread[] = []
  const running = new Set<ValidationThread>()
  const queue: QueuedContract[] = []
  let isStopped = false

  const next = (): void => {
    while (queue.length > 0 && !isStopped) {
      const thread = takeIdle() ?? (running.size < bounds.threads ? open() : undefined)
      if (!thread) return
      void run(thread, queue.shift() as QueuedContract)
    }
  }
  const takeIdle = (): ValidationThread | undefined => {
    const thread = idle.pop()
    if (!thread || thread.isAlive) return thread
    running.delete(thread)
    return takeIdle()
  }
  const open = (): ValidationThread => {
    const thread = new ValidationThread(bounds)
    running.add(thread)
    return thread
  }
  const run = async (thread: ValidationThread, queued: QueuedContract): Promise<void> => {
    try {
      queued.resolve(await thread.validate(queued.input))
    } catch (error) {
      queued.reject(error as Error)
    } finally {
      if (thread.isAlive) idle.push(thread)
      else running.delete(thread)
      next()
    }
  }
  return {
    validate(input, address) {
      const ofAddress = queue.filter(queued => address !== undefined && queued.address === address).length
      if (isStopped || queue.length >= bounds.waiting || ofAddress >= bounds.waitingPerAddress)
        return Promise.reject(
          new PoolBusyError('Too many contracts are waiting to be validated: try again in a second'),
        )
      const { promise, resolve, reject } = Promise.withResolvers<ContractResult>()
      queue.push({ input, address, resolve, reject })
      next()
      return promise
    },
    async stop() {
      isStopped = true
      for (const { reject } of queue.splice(0)) reject(new PoolBusyError('The service is stopping'))
      await Promise.all([...running].map(thread => thread.end()))
    },
  }
}

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** Validates one contract at a time; ends after a contract that exceeds its time or memory. */
class ValidationThread {
  isAlive = true
  readonly #worker: Worker
  readonly #deadline: number
  readonly #ready: Promise<unknown>

  constructor({ deadline, memory }: PoolLimits) {
    this.#deadline = deadline
    this.#worker = new Worker(new URL(`./validation-thread.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES },
      // It inherits neither arguments nor output.
      argv: [],
      execArgv: [],
      stderr: false,
    })
    // An error without a listener, such as a late out-of-memory, would end the process.
    this.#worker.on('error', () => undefined).on('exit', () => (this.isAlive = false))
    // An idle thread must not keep the process alive.
    this.#worker.unref()
    this.#ready = this.#nextMessage()
    this.#ready.catch(() => undefined)
  }

  async validate(input: ContractInput): Promise<ContractResult> {
    this.#worker.ref()
    try {
      // The deadline starts when the thread has started.
      await this.#ready
      const reply = this.#nextMessage() as Promise<ContractResult>
      this.#worker.postMessage(input)
      const answer = await withTimeout(reply, this.#deadline, () => null)
      return answer ?? (await this.#giveUp('it exceeds the time limit'))
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY')
        return await this.#giveUp('it exceeds the memory limit')
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
        {
          type: 'yaml.too_much',
          message: `${why}: send a smaller or simpler contract`,
          line: null,
          column: null,
        },
      ],
    }
  }

  /** The next message, or the error that ends the thread. */
  #nextMessage(): Promise<unknown> {
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
