import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import type { ConnectorLog } from '../connector.ts'

/** The `result` of an answer. */
export type ProgramResult = Record<string, unknown>

/** A program that answers requests as JSON lines, one at a time, in a process of its own. */
export interface Program {
  /**
   * Sends a request and waits for the answer.
   * @throws ProgramError; after its codes TIMEOUT, ABORTED, ENDED, MALFORMED and TOO_LARGE the process is gone
   */
  ask(
    method: string,
    params: object,
    limits: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<ProgramResult>
  isAlive(): boolean
  /** Ends the process and those that it started. */
  kill(): void
}

/** How a program is started. */
export interface ProgramOptions {
  engine: string
  command: readonly [program: string, ...words: string[]]
  env?: Record<string, string>
  cwd?: string
  /** Megabytes of address space, where the system limits it. */
  memoryMb?: number
  log: ConnectorLog
}

/** What a program, or the want of an answer, failed with. */
export class ProgramError extends Error {
  readonly code: string
  /** As the program gave them. */
  readonly fields: Record<string, unknown>

  constructor(code: string, message: string, fields: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.fields = fields
  }
}

/** Characters of one answer; a session refuses results well below it. */
const MAX_LINE = 128 * 1024 * 1024
const MAX_LOGGED = 2_000

const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' }

const living = new Set<Program>()
// A program that is stuck does not notice that its host has gone.
process.on('exit', () => living.forEach(program => program.kill()))

/** Starts a program, which gets nothing of the environment of the service: that holds secrets. */
export function startProgram({ engine, command, env, cwd, memoryMb, log }: ProgramOptions): Program {
  const [program, ...words] = limited(command, memoryMb)
  const child = spawn(program, words, {
    cwd,
    env: { ...ENVIRONMENT, ...env },
    stdio: 'pipe',
    // A group of its own, so that what it starts is ended with it.
    detached: process.platform !== 'win32',
  })
  let isAlive = true
  let id = 0
  let settle: ((answer: ProgramResult | ProgramError) => void) | undefined

  const end = (error: ProgramError) => {
    if (isAlive) killGroup(child)
    isAlive = false
    living.delete(self)
    settle?.(error)
  }
  const onLine = (line: string) => {
    const answer = readAnswer(line, id)
    if (answer instanceof ProgramError && answer.code === 'MALFORMED') end(answer)
    else settle?.(answer)
  }
  readLines(child, onLine, () =>
    end(new ProgramError('TOO_LARGE', `An answer has more than ${MAX_LINE} characters`)),
  )
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log.debug({ engine, words: text.slice(0, MAX_LOGGED) }, 'a connector program wrote to stderr')
  })
  child.stdin.on('error', () => undefined)
  child.on('error', ({ message }) => end(new ProgramError('ENOPROGRAM', message)))
  child.on('close', (code, signal) =>
    end(new ProgramError('ENDED', `The program of the connector ${engine} ended (${signal ?? code})`)),
  )

  const self: Program = {
    isAlive: () => isAlive,
    kill: () => end(new ProgramError('ENDED', 'The program was ended')),
    ask: (method, params, { timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(new ProgramError('ABORTED', 'The caller gave up'))
        if (!isAlive) return reject(new ProgramError('ENDED', 'The program has ended'))
        id += 1
        const abort = () => end(new ProgramError('ABORTED', 'The caller gave up'))
        const late = () => end(new ProgramError('TIMEOUT', `Not done within ${timeoutMs} ms`))
        const timer = setTimeout(late, Math.min(timeoutMs, 2 ** 31 - 1))
        signal?.addEventListener('abort', abort, { once: true })
        settle = answer => {
          settle = undefined
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
          hold(child, false)
          if (answer instanceof ProgramError) reject(answer)
          else resolve(answer)
        }
        hold(child, true)
        child.stdin.write(`${JSON.stringify({ id, method, params })}\n`)
      }),
  }
  hold(child, false)
  living.add(self)
  return self
}

/** The shell sets the limit and then becomes the program; where it cannot, the program runs without. */
function limited(command: ProgramOptions['command'], memoryMb: number | undefined): [string, ...string[]] {
  if (memoryMb === undefined || process.platform === 'win32') return [...command]
  const kilobytes = Math.round(memoryMb * 1024)
  return ['/bin/sh', '-c', `ulimit -v ${kilobytes} 2>/dev/null; exec "$@"`, 'sh', ...command]
}

function killGroup(child: ChildProcessWithoutNullStreams): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
  child.kill('SIGKILL')
}

/** A program that waits does not keep the host from ending; one that works does. */
function hold(child: ChildProcessWithoutNullStreams, isHeld: boolean): void {
  for (const handle of [child, child.stdin, child.stdout, child.stderr]) {
    const held = handle as { ref?(): void; unref?(): void }
    if (isHeld) held.ref?.()
    else held.unref?.()
  }
}

function readLines(
  { stdout }: ChildProcessWithoutNullStreams,
  onLine: (line: string) => void,
  onTooLong: () => void,
): void {
  let parts: string[] = []
  let length = 0
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n')
    length += first.length
    if (length > MAX_LINE) return onTooLong()
    parts.push(first)
    for (const other of others) {
      onLine(parts.join(''))
      parts = [other]
      length = other.length
    }
  })
}

/** What a line says: the result, or an error. Anything else than an answer to the request is MALFORMED. */
function readAnswer(line: string, id: number): ProgramResult | ProgramError {
  const malformed = (problem: string) => new ProgramError('MALFORMED', `An answer is wrong: ${problem}`)
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch {
    return malformed('a line on stdout is no JSON; write nothing else there')
  }
  const answer = (typeof read === 'object' && read !== null ? read : {}) as Record<string, unknown>
  if (answer.id !== id) return malformed('it must have the id of the request')
  const { result, error } = answer
  if (typeof error === 'object' && error !== null) {
    const fields = error as Record<string, unknown>
    return new ProgramError(String(fields.code ?? 'ERROR'), String(fields.message ?? ''), fields)
  }
  if (typeof result === 'object' && result !== null) return result as ProgramResult
  return malformed('it must have a result or an error, which are objects')
}
