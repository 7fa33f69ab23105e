/** What the commands share: how they end, where they write, and the server they work on. */
import type { Command } from 'commander'
import { readConfig } from '../settings/config.ts'
import { makeLog } from '../telemetry/log.ts'
import type { OpenProcess } from '../process/start.ts'
import { withoutControls } from './terminal-text.ts'

/** How commands end: what went wrong can be told from the number. */
export const EXIT = { fine: 0, failed: 1, usage: 2, notFound: 3, error: 5 } as const

/** A sentence that ends a command, and the code it ends with. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exit: number
  /** Whether the same command may go through later. */
  readonly mayPass: boolean

  constructor(
    message: string,
    exit: number,
    { mayPass = false, cause }: { mayPass?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.exit = exit
    this.mayPass = mayPass
  }
}

/** How a command ends: its code, and the one for errors that have no code of their own. */
export interface Ending {
  exit: number
  unexpected: number
}

/** Where a command writes and how it hears that it shall stop. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP, whose name is the message of its reason. */
  signal: AbortSignal
}

/** Options that most commands take. */
export interface Options {
  json?: true
  company?: string
}

/** Lets a command print JSON. */
export function json(command: Command): Command {
  return command.option('--json', 'print JSON')
}

/** Lets a command say whose it is about. */
export function ofCompany(command: Command): Command {
  return json(command).option('--company <company>', 'id or name; needed when there is more than one')
}

/** Prints the value as JSON where that was asked for, else the lines. */
export function answer(terminal: Terminal, options: Options, value: unknown, ...lines: string[]): void {
  if (options.json) terminal.out(JSON.stringify(value, null, 2))
  else for (const line of lines) terminal.out(withoutControls(line))
}

/**
 * Commands run on the database of the settings, beside a service that uses it or alone.
 * @param signal ends the waiting for a database that is away
 */
export async function withServer<T>(
  { signal }: Pick<Terminal, 'signal'>,
  work: (server: OpenProcess['server']) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const quiet = config.logLevel === 'info' ? 'warn' : config.logLevel
  // Loaded by the commands that need it only: the others start in half the time.
  const { openProcess } = await import('../process/start.ts')
  const { server, stop } = await openProcess(config, makeLog({ ...config, logLevel: quiet }), signal)
  try {
    return await work(server)
  } finally {
    await stop()
  }
}

/** Does not wait for what cannot be aborted itself. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([work, aborted])
}
