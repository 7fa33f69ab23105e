import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReaderFailure, ReaderReply, ReaderRequest } from './messages.ts'
import { OUT_OF_MEMORY_SIGNAL } from './watch.ts'

/** A process of its own that reads for one session, seen from the host. It takes one request at a time. */
export interface Reader<Request extends ReaderRequest = ReaderRequest> {
  /**
   * Sends a request and waits for its answer.
   * @throws Error with a `code`: the backend's, or `TIMEOUT`, `ABORTED`, `OUT_OF_MEMORY` or `ENDED`, after which the reader is
   *   gone, or `UNBINDABLE`: a value of the request cannot be sent
   */
  ask<Answer>(request: Request, limits: ReaderLimits): Promise<Answer>
  isAlive(): boolean
  /** Has the reader close what it has open and keeps it for the next session, or ends it. */
  giveBack(): Promise<void>
}

export interface ReaderLimits {
  timeoutMs: number
  signal?: AbortSignal
}

export interface ReaderOptions {
  /** The module with the `backend` (see `ReaderBackend`), which is run in a process of its own. */
  backend: URL
  /** Megabytes that the process may take in all; a request that takes more ends it. Defaults to 1,024. */
  memoryMb?: number
}

/** Readers kept for the next session: starting a process takes a tenth of a second, taking one up no time. */
const MAX_IDLE = 4

/** Milliseconds after which an idle reader is ended. */
const IDLE_TIME = 10_000

/** Longest time that a timer takes, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The extension is this file's own: `.ts` in the sources, `.js` in the published package. */
const CHILD = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url))

const living = new Set<Process>()

/** Readers that wait, and the timers that end them. */
const idle = new Map<Process, NodeJS.Timeout>()

/** A reader with what only the pool uses of it. */
interface Process extends Reader {
  /** What it was started for. */
  key: string
  isBusy(): boolean
  end(): void
}

// Within an engine's own code a reader does not notice that its host has gone.
process.on('exit', () => living.forEach(reader => reader.end()))

/** A reader that has nothing open: one that waits, else a new process, without the host's environment and its secrets. */
export function startReader<Request extends ReaderRequest>({
  backend,
  memoryMb = 1024,
}: ReaderOptions): Reader<Request> {
  const key = `${memoryMb} ${backend.href}`
  for (const [reader, timer] of [...idle].reverse()) {
    if (reader.key !== key) continue
    clearTimeout(timer)
    idle.delete(reader)
    if (reader.isAlive()) return reader as Reader<Request>
  }
  return startProcess(key, [backend.href, String(memoryMb)]) as Reader<Request>
}

async function giveBack(reader: Process): Promise<void> {
  if (reader.isBusy()) return reader.end()
  try {
    await reader.ask({ type: 'close' }, { timeoutMs: 1000 })
  } catch {
    return reader.end()
  }
  if (idle.size >= MAX_IDLE) return reader.end()
  const forget = () => {
    idle.delete(reader)
    reader.end()
  }
  idle.set(reader, setTimeout(forget, IDLE_TIME).unref())
}

const ABORTED: ReaderFailure = { code: 'ABORTED', message: 'The statement was ended, as its caller asked.' }
const ENDED: ReaderFailure = { code: 'ENDED', message: 'The reader was ended.' }

function toError({ code, message }: ReaderFailure): Error {
  return Object.assign(new Error(message), { code })
}

function exitFailure(code: number | null, signal: NodeJS.Signals | null): ReaderFailure {
  if (signal === OUT_OF_MEMORY_SIGNAL)
    return { code: 'OUT_OF_MEMORY', message: 'The reader took more memory than it may; it was ended.' }
  const how = signal ?? code
  return {
    code: 'ENDED',
    message: `The process that reads the file exited (${how}): try again, and look at the log.`,
  }
}

function startProcess(key: string, args: string[]): Process {
  const child = fork(CHILD, args, {
    // Neither the host's preloads nor its environment, which holds secrets, are any business of a reader.
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=256'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let isAlive = true
  let settle: ((reply: ReaderReply) => void) | undefined

  /** A reader that waits does not keep the host from ending; one that works does. */
  function hold(isHeld: boolean) {
    const channel = child.channel as { ref(): void; unref(): void } | null | undefined
    for (const handle of [child, channel]) handle?.[isHeld ? 'ref' : 'unref']()
  }

  function end(failure: ReaderFailure = ENDED) {
    isAlive = false
    living.delete(reader)
    child.kill('SIGKILL')
    settle?.({ failure })
  }

  child.on('message', reply => settle?.(reply as ReaderReply))
  child.on('error', ({ message }) => end({ code: 'ENDED', message }))
  child.on('exit', (code, signal) => end(exitFailure(code, signal)))

  const reader: Process = {
    key,
    isAlive: () => isAlive,
    isBusy: () => settle !== undefined,
    end: () => end(),
    giveBack: () => giveBack(reader),
    ask: <Answer>(request: ReaderRequest, { timeoutMs, signal }: ReaderLimits) =>
      new Promise<Answer>((resolve, reject) => {
        if (signal?.aborted) return reject(toError(ABORTED))
        if (!isAlive) return reject(toError(ENDED))
        const late = { code: 'TIMEOUT', message: `Not done within ${timeoutMs} ms; it was ended.` }
        const timer = setTimeout(() => end(late), Math.min(timeoutMs, LONGEST_TIMER_MS))
        const abort = () => end(ABORTED)
        settle = reply => {
          settle = undefined
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
          hold(false)
          if ('answer' in reply) resolve(reply.answer as Answer)
          else reject(toError(reply.failure))
        }
        hold(true)
        signal?.addEventListener('abort', abort, { once: true })
        try {
          child.send(
            { ...request, timeoutMs },
            error => error && end({ code: 'ENDED', message: error.message }),
          )
        } catch (error) {
          settle?.({ failure: { code: 'UNBINDABLE', message: (error as Error).message } })
        }
      }),
  }
  living.add(reader)
  return reader
}
