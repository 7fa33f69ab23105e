import { setTimeout as delay } from 'node:timers/promises'
import type { TransferListItem, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { apiError } from '../http/errors.ts'
import { withTimeout } from '../with-timeout.ts'
import { makeFairSlots, SlotRefusedError, type SlotOptions } from '../fairness/fair-slots.ts'
import { TASK_FIELDS } from './retire.ts'
import type { ThreadTask } from './thread.ts'

/**
 * A function that reads text from outside, such as SQL, YAML or artifacts, in a thread of the pool. Its argument and its
 * result are copied between threads, so they hold plain values.
 */
export interface TextTask<Input, Output> {
  /** The module that exports the function. */
  module: string
  name: string
  /** Exists for the compiler only. */
  types?: (input: Input) => Output
}

/** What a task may take before its thread is ended. */
export interface TextLimits {
  /** Milliseconds of CPU time: a busy machine makes no text too large. */
  cpuMs: number
  /** MiB of objects that it adds, with those of the parser; at most `MAX_THREAD_MEGABYTES`. */
  megabytes: number
}

export interface TextPool {
  /**
   * Runs a task in a thread. Owners take turns, and each has at most one thread.
   * @param owner the company whose text it is, or the address of a client without one
   * @throws TextLimitError when it takes more than the limits, 503 with `Retry-After` when too many texts of the owner wait
   *   or the service stops, what the function throws
   */
  run<Input, Output>(
    task: TextTask<Input, Output>,
    input: Input,
    options: TextLimits & SlotOptions & { owner: string; transfer?: readonly TransferListItem[] },
  ): Promise<Awaited<Output>>
  /** Ends the threads; what runs or waits is rejected with 503. */
  stop(): Promise<void>
}

/** A text takes more time or memory to read than any honest one of its size. */
export class TextLimitError extends Error {
  override readonly name = 'TextLimitError'
  readonly limit: 'time' | 'memory'

  constructor(limit: 'time' | 'memory') {
    super(limit === 'time' ? 'it takes too much time to read' : 'it takes too much memory to read')
    this.limit = limit
  }
}

/** Names the function of a task with its types: `textTask<typeof readViews>(url, 'readViews')`. */
export function textTask<Run extends (input: never) => unknown>(
  module: URL,
  name: string,
): TextTask<Parameters<Run>[0], ReturnType<Run>> {
  return { module: module.href, name }
}

/** The ending of this program's modules: they run as they are, and compiled. */
export const MODULE_EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** Two companies with harmful texts at the same time make others wait; one does not. */
const MAX_THREADS = 2
/** MiB that no task exceeds, whatever its limit: Node ends the thread itself. */
export const MAX_THREAD_MEGABYTES = 1_024
/**
 * MiB of young objects of a thread. Node ends a thread that reaches its limit, for which it has a reserve of 16 MiB; all
 * young objects may become old at once, and more of them than the reserve would end the process.
 */
const MAX_YOUNG_MEGABYTES = 8
/** A thread is kept for some time: starting one takes longer than reading most texts. */
const IDLE_MS = 30_000
/** How often a thread is asked what it has taken. */
const WATCH_INTERVAL_MS = 50
/** A thread that answers no question, as within JSON.parse, is ended after this many times the CPU time of its task. */
const MAX_WALL_FACTOR = 10
/** Threads leave the CPU to the one that serves people, where the system knows priorities of threads. */
const NICE_INCREMENT = process.platform === 'linux' ? 10 : 0
const RETRY_AFTER_SECONDS = 2

export function createTextPool({ threads = MAX_THREADS } = {}): TextPool {
  const slots = makeFairSlots(threads)
  const stopping = new AbortController()
  let pool: Piscina | undefined

  async function run<Input, Output>(
    { module, name }: TextTask<Input, Output>,
    input: Input,
    { cpuMs, megabytes, owner, transfer = [], ...turn }: Parameters<TextPool['run']>[2],
  ): Promise<Awaited<Output>> {
    const release = await slots.take(owner, turn)
    const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
    const over = new AbortController()
    const ended = new AbortController()
    try {
      pool ??= open(threads)
      const task: ThreadTask = { module, name, input, shared }
      const signals = [over.signal, stopping.signal, ...(turn.signal ? [turn.signal] : [])]
      const reading = pool.run(task, {
        signal: AbortSignal.any(signals),
        transferList: [...transfer],
      })
      void watch(pool, shared, { cpuMs, megabytes }, ended.signal).then(
        limit => limit && over.abort(new TextLimitError(limit)),
        () => undefined,
      )
      return (await reading) as Awaited<Output>
    } catch (error) {
      if (over.signal.aborted) throw over.signal.reason as Error
      if (stopping.signal.aborted) throw busyError('The service is stopping: try again later')
      if (turn.signal?.aborted) throw turn.signal.reason as Error
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') throw new TextLimitError('memory')
      throw error
    } finally {
      ended.abort()
      if (pool && Atomics.load(shared, TASK_FIELDS.isRetired) === 1) retire(findThread(pool, shared))
      release()
    }
  }

  return {
    run: (task, input, options) => run(task, input, options).catch(refuseBusy),
    async stop() {
      slots.stop()
      stopping.abort()
      await pool?.destroy()
    },
  }
}

/** For `catch` of a wait for a slot. @throws 503 with `Retry-After` for a `SlotRefusedError`, any other error as it is */
export function refuseBusy(error: unknown): never {
  if (!(error instanceof SlotRefusedError)) throw error
  throw busyError('Too many texts wait to be read: try again in a few seconds')
}

function busyError(message: string): Error {
  const error = apiError('UNAVAILABLE', message, { retry_after: RETRY_AFTER_SECONDS })
  error.output.headers['Retry-After'] = String(RETRY_AFTER_SECONDS)
  return error
}

function open(maxThreads: number): Piscina {
  const pool = new Piscina({
    filename: new URL(`./thread.${MODULE_EXTENSION}`, import.meta.url).href,
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    niceIncrement: NICE_INCREMENT,
    // Its waiting thread could not be asked what it has taken.
    atomics: 'disabled',
    recordTiming: false,
    // Threads inherit neither arguments nor settings, among which are secrets.
    argv: [],
    execArgv: [],
    env: {},
    resourceLimits: {
      maxOldGenerationSizeMb: MAX_THREAD_MEGABYTES,
      maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES,
    },
  })
  // Without a listener, a thread that dies while it is idle would end the process.
  pool.on('error', () => undefined)
  return pool
}

/** Ends a thread that runs nothing, so that no later task finds what an earlier one broke. */
function retire(thread: Worker | undefined): void {
  // The pool ends a thread that fails, and forgets it at once: one that ends by itself could be given a task before.
  thread?.emit('error', new Error('The thread is retired'))
}

/** Asks a thread what its task has taken. @returns the limit that it exceeds, or undefined when the task ends before */
async function watch(
  pool: Piscina,
  shared: Int32Array,
  { cpuMs, megabytes }: TextLimits,
  ended: AbortSignal,
): Promise<TextLimitError['limit'] | undefined> {
  let before: Usage | undefined
  // What earlier tasks left counts for none: it is taken away when there is need.
  let least = Infinity
  while (!ended.aborted) {
    await delay(WATCH_INTERVAL_MS, undefined, { signal: ended, ref: false })
    const thread = findThread(pool, shared)
    if (!thread) continue
    const used = await withTimeout(usageOf(thread), MAX_WALL_FACTOR * cpuMs, () => null)
    before ??= used ?? undefined
    if (!used || !before || used.cpuMs - before.cpuMs > cpuMs) return 'time'
    least = Math.min(least, used.megabytes)
    if (used.megabytes - least > megabytes) return 'memory'
  }
  return undefined
}

/** The thread that has begun the task. */
function findThread(pool: Piscina, shared: Int32Array): Worker | undefined {
  const id = Atomics.load(shared, TASK_FIELDS.thread)
  return id === 0 ? undefined : pool.threads.find(({ threadId }) => threadId === id)
}

interface Usage {
  cpuMs: number
  megabytes: number
}

/** @throws Error when the thread has ended */
async function usageOf(thread: Worker): Promise<Usage> {
  const { used_heap_size: bytes } = await thread.getHeapStatistics()
  return { cpuMs: await cpuMsOf(thread), megabytes: bytes / 1_048_576 }
}

async function cpuMsOf(thread: Worker): Promise<number> {
  // Node 22 has no CPU time of threads: there, it is the time in which the thread was not idle.
  if (typeof thread.cpuUsage !== 'function') return thread.performance.eventLoopUtilization().active
  const { user, system } = await thread.cpuUsage()
  return (user + system) / 1_000
}
