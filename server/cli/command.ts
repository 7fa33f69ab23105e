/** What the commands share: how they end, where they write, and the server they work on. */
import type { Server } from '@hapi/hapi'
import type { Command } from 'commander'
import Joi from 'joi'
import { readConfig } from '../settings/config.ts'
import { makeLog } from '../telemetry/log.ts'
import { withoutControls } from './terminal-text.ts'

export const EXIT = { success: 0, failed: 1, usage: 2, notFound: 3, error: 5 } as const

/** A sentence that ends a command, and the code it ends with. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: number
  /** Whether the same command may succeed later. */
  readonly isTransient: boolean

  constructor(
    message: string,
    exitCode: number,
    { isTransient = false, cause }: { isTransient?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.exitCode = exitCode
    this.isTransient = isTransient
  }
}

/** How a command ends: its code, and the one for errors that have no code of their own. */
export interface CommandOutcome {
  exitCode: number
  unexpectedExitCode: number
  /** For wrong options and arguments; defaults to 2. */
  usageExitCode?: number
}

/** Where a command writes and what stops it. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP, whose name is the message of its reason. */
  signal: AbortSignal
}

/**
 * A command, or a group of them, that the host, a feature or an extension contributes. Its module is loaded at every
 * start of the command line: load what only the action needs in the action.
 */
export interface CommandContribution {
  /** Its first word, such as `freshness`. */
  name: string
  /** Adds its arguments, options, subcommands and action to the command of that name. */
  define(command: Command, terminal: Terminal, outcome: CommandOutcome): void
}

export const commandShape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z-]*$/)
    .required(),
  define: Joi.function().required(),
})

/** Options that most commands take. */
export interface CommandOptions {
  json?: true
  company?: string
}

export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON')
}

export function withCompanyOption(command: Command): Command {
  return withJsonOption(command).option(
    '--company <company>',
    'id or name; needed when there is more than one',
  )
}

/** Prints the value as JSON with `--json`, else the lines. */
export function printResult(terminal: Terminal, options: CommandOptions, value: unknown, ...lines: string[]) {
  if (options.json) terminal.out(JSON.stringify(value, null, 2))
  else for (const line of lines) terminal.out(withoutControls(line))
}

/**
 * Runs work on the database of the settings, beside a service that uses it or alone.
 * @param signal stops waiting for a database that is unreachable
 */
export async function withServer<T>(
  { signal }: Pick<Terminal, 'signal'>,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const quiet = config.logLevel === 'info' ? 'warn' : config.logLevel
  // Imported here: commands that need no server start in half the time.
  const { openProcess } = await import('../process/start.ts')
  const { server, stop } = await openProcess(config, makeLog({ ...config, logLevel: quiet }), signal)
  try {
    return await work(server)
  } finally {
    await stop()
  }
}

/** `withServer` for the company of `--company`. */
export function withCompany<T>(
  terminal: Pick<Terminal, 'signal'>,
  { company }: CommandOptions,
  work: (server: Server, company: { id: string; name: string }) => Promise<T>,
): Promise<T> {
  return withServer(terminal, async server => work(server, await server.plugins.auth.findCompany(company)))
}

/** Rejects when `signal` aborts; the work, which cannot be aborted itself, is left to finish. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([work, aborted])
}
