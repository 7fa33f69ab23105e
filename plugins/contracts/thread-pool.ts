import { Worker } from 'node:worker_threads'
import { within } from '../../server/with-timeout.ts'
import type { Verdict } from './validation.ts'
import type { Unreadable } from './yaml.ts'

/** A contract: a text in YAML, or a value that came as JSON. */
export type Question = { text: string } | { value: unknown }

/** What became of it. */
export type Answer = { verdict: Verdict } | { unreadable: Unreadable[] }

/** Judges contracts in threads of their own. */
export interface Threads {
  /**
   * Takes a turn of its own; after the deadline the contract counts as unreadable.
   * @param address of the client; contracts without one are only limited together
   * @throws BusyError when too many wait already, of all clients or of this address
   */
  ask(question: Question, address?: string): Promise<Answer>
  /** Ends the threads; what was asked is not answered any more. */
  stop(): Promise<void>
}

/** Too many contracts wait. */
export class BusyError extends Error {
  override readonly name = 'BusyError'
}

/** How much contracts may take together. */
export interface Bounds {
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

const BOUNDS: Bounds = { threads: 2, waiting: 8, waitingPerAddress: 2, deadline: 2_000, memory: 64 }

interface Turn {
  question: Question
  address: string | undefined
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** Threads are started when they are needed and kept: starting one takes longer than judging most contracts. */
export function makeThreads(given: Partial<Bounds> = {}): Threads {
  const bounds = { ...BOUNDS, ...given }
  const idle: Thread[] = []
  const running = new Set<Thread>()
  const queue: Turn[] = []
  let isStopped = false

  const next = (): void => {
    while (queue.length > 0 && !isStopped) {
      const thread = awake() ?? (running.size < bounds.threads ? open() : undefined)
      if (!thread) return
      void serve(thread, queue.shift() as Turn)
    }
  }
  const awake = (): Thread | undefined => {
    const thread = idle.pop()
    if (!thread || thread.isAlive) return thread
    running.delete(thread)
    return awake()
  }
  const open = (): Thread => {
    const thread = new Thread(bounds)
    running.add(thread)
    return thread
  }
  const serve = async (thread: Thread, turn: Turn): Promise<void> => {
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
        return Promise.reject(new BusyError('Too many contracts wait to be validated: try again in a second'))
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      queue.push({ question, address, resolve, reject })
      next()
      return promise
    },
    async stop() {
      isStopped = true
      for (const { reject } of queue.splice(0)) reject(new BusyError('The service stops'))
      await Promise.all([...running].map(thread => thread.end()))
    },
  }
}

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** One thread, which takes one contract at a time and ends with the first that it cannot manage. */
class Thread {
  isAlive = true
  readonly #worker: Worker
  readonly #deadline: number
  readonly #ready: Promise<unknown>

  constructor({ deadline, memory }: Bounds) {
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

  async take(question: Question): Promise<Answer> {
    this.#worker.ref()
    try {
      // Its start is not the contract's.
      await this.#ready
      const heard = this.#hear() as Promise<Answer>
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

  async #giveUp(why: string): Promise<Answer> {
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
    const onExit = () => settle(() => reject(new BusyError('The thread ended')))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    return promise
  }
}
