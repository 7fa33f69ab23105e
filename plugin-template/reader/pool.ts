import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer, Failure, Reply, Request } from './messages.ts'

/** A reader process, seen from the host. It takes one request at a time. */
export interface Reader {
  /**
   * Sends a request and waits for its answer.
   * @throws Error with a `code` that errors.ts knows. After `TIMEOUT`, `ABORTED` and `ENDED` the reader is gone.
   */
  ask(request: Request, limits: Limits): Promise<Answer>
  isAlive(): boolean
  isBusy(): boolean
  end(): void
}

export interface Limits {
  timeoutMs: number
  signal?: AbortSignal
}

/** Readers kept for the next session: starting a process takes a tenth of a second, taking one up no time. */
const MAX_IDLE = 4

/** Milliseconds after which an idle reader is ended. */
const IDLE_TIME = 10_000

/** Longest time that a timer takes, in milliseconds. */
const LONGEST = 2 ** 31 - 1

/** The extension is this file's own: `.ts` in the sources, `.js` in the published package. */
const CHILD = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url))

const living = new Set<Reader>()

/** Readers that wait, and the timers that end them. */
const idle = new Map<Reader, NodeJS.Timeout>()

// Inside SQLite a reader does not notice that its host has gone.
process.on('exit', () => living.forEach(reader => reader.end()))

/** A reader that has no database open: one that waits, else a new one. */
export function takeReader(): Reader {
  for (const [reader, timer] of [...idle].reverse()) {
    clearTimeout(timer)
    idle.delete(reader)
    if (reader.isAlive()) return reader
  }
  return startReader()
}

/** Closes the reader's database and keeps the reader for the next session, or ends it. */
export async function giveBack(reader: Reader): Promise<void> {
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

const ABORTED: Failure = { code: 'ABORTED', message: 'The statement was ended, as its caller asked.' }

function toError({ code, message }: Failure): Error {
  return Object.assign(new Error(message), { code })
}

function startReader(): Reader {
  const child = fork(CHILD, {
    // Neither the host's preloads nor its environment, which holds secrets, are any business of a reader.
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=256'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let isAlive = true
  let settle: ((reply: Reply) => void) | undefined

  /** A reader that waits does not keep the host from ending; one that works does. */
  function hold(isHeld: boolean) {
    const channel = child.channel as { ref(): void; unref(): void } | null | undefined
    for (const handle of [child, channel]) handle?.[isHeld ? 'ref' : 'unref']()
  }

  function end(failure: Failure = { code: 'ENDED', message: 'The reader was ended.' }) {
    isAlive = false
    living.delete(reader)
    child.kill('SIGKILL')
    settle?.({ failure })
  }

  child.on('message', reply => settle?.(reply as Reply))
  child.on('error', ({ message }) => end({ code: 'ENDED', message }))
  child.on('exit', (code, signal) =>
    end({
      code: 'ENDED',
      message: `The process that reads the file exited (${signal ?? code}): try again, and look at the log.`,
    }),
  )

  const reader: Reader = {
    isAlive: () => isAlive,
    isBusy: () => settle !== undefined,
    end: () => end(),
    ask: (request, { timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(toError(ABORTED))
        if (!isAlive) return reject(toError({ code: 'ENDED', message: 'The reader was ended.' }))
        const late = { code: 'TIMEOUT', message: `Not done within ${timeoutMs} ms; it was ended.` }
        const timer = setTimeout(() => end(late), Math.min(timeoutMs, LONGEST))
        const abort = () => end(ABORTED)
        settle = reply => {
          settle = undefined
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
          hold(false)
          if ('answer' in reply) resolve(reply.answer)
          else reject(toError(reply.failure))
        }
        hold(true)
        signal?.addEventListener('abort', abort, { once: true })
        try {
          child.send(request, error => error && end({ code: 'ENDED', message: error.message }))
        } catch (error) {
          settle?.({ failure: { code: 'UNBINDABLE', message: (error as Error).message } })
        }
      }),
  }
  living.add(reader)
  return reader
}
