/** The command `freshness ASSET`, a gate for pipelines: exits with 0 only when the data is fresh. */
import { setTimeout as pause } from 'node:timers/promises'
import { Option } from 'commander'
import { withRemoteOptions, withTimedClient, type ClientOptions } from '../../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withCompanyOption,
  type CommandContribution,
  type Terminal,
} from '../../../server/cli/command.ts'
import { checkFreshness, type FreshnessLook } from './freshness-check.ts'
import { parseSeconds, timeoutOption, withCommandTimeout } from '../../../server/cli/timeouts.ts'
import { formatClockTime, type FreshnessStatus, type FreshnessVerdict } from './freshness-result.ts'

interface FreshnessCommandOptions extends ClientOptions {
  refresh: boolean
  /** Seconds. */
  wait?: number
  timeout: number
}

const EXIT_CODE_BY_STATUS: Record<FreshnessStatus, number> = {
  fresh: EXIT.success,
  stale: EXIT.failed,
  unknown: EXIT.error,
  error: EXIT.error,
}

/** A check is tried three times, each statement for up to a minute. */
const DEFAULT_TIMEOUT_SECONDS = 600
/** Each check with `--wait` queries the monitored database. */
const CHECK_INTERVAL_MS = 60_000

export const freshnessCommand: CommandContribution = {
  name: 'freshness',
  define(command, terminal, outcome) {
    withRemoteOptions(withCompanyOption(command.argument('<asset>')))
      .description(
        'check whether the data of a table, or of all monitored tables of a source, is fresh; the exit code is the answer',
      )
      .option('--no-refresh', 'use the last check, with the age counted up to now, instead of checking now')
      .addOption(
        new Option(
          '--wait <duration>',
          'wait until it is fresh, for at most this long; checks once a minute',
        ).argParser(parseSeconds),
      )
      .addOption(timeoutOption('how long one check may take', DEFAULT_TIMEOUT_SECONDS))
      .addHelpText('after', HELP)
      .action(async (asset: string, options: FreshnessCommandOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const verdict = await runFreshnessCommand(asset, options, terminal)
        printResult(terminal, options, verdict, verdict.message)
        outcome.exitCode = EXIT_CODE_BY_STATUS[verdict.status]
      })
  },
}

const HELP = `
<asset> is an id or a qualified name: <source>.<database>.<schema>.<table> for a table, <source> for a source, which
is fresh when each of its monitored tables is. Durations are such as 30m, 24h or 7d.

Ends with
  0  fresh
  1  stale
  2  wrong usage, credentials or settings; also an asset without a freshness schedule
  3  no such asset
  5  unknown: never checked, no data, still learning, the check failed, or the service cannot be reached

Before a job that needs today's orders, waiting up to half an hour for them:
  tidemark freshness shop.shop.public.orders --wait 30m && ./nightly-report`

function runFreshnessCommand(asset: string, options: FreshnessCommandOptions, terminal: Terminal) {
  const { signal } = terminal
  const note = withoutRepeats(line => terminal.err(line))
  const limits = { signal, timeout: options.timeout }
  return withTimedClient(options, signal, client => {
    const lookOnce = () =>
      withCommandTimeout(limits, looking =>
        checkFreshness(client, asset, { refresh: options.refresh, note, signal: looking }),
      )
    return waitUntilFresh(lookOnce, {
      waitMs: (options.wait ?? 0) * 1000,
      intervalMs: CHECK_INTERVAL_MS,
      signal,
      note,
    })
  })
}

/** Drops lines that were written before. */
function withoutRepeats(write: (line: string) => void): (line: string) => void {
  const written = new Set<string>()
  return line => {
    if (!written.has(line)) write(line)
    written.add(line)
  }
}

/**
 * Checks until the asset is fresh, the time is over, or waiting cannot help; at least once.
 * @returns the last verdict
 */
export async function waitUntilFresh(
  lookOnce: () => Promise<FreshnessLook>,
  options: { waitMs: number; intervalMs: number; signal: AbortSignal; note(line: string): void },
): Promise<FreshnessVerdict> {
  const { waitMs, intervalMs, signal, note } = options
  const end = performance.now() + waitMs
  for (let isFirst = true; ; isFirst = false) {
    const look = await lookOnce().catch((error: unknown) => {
      if (error instanceof CommandError && error.isTransient) return error
      throw error
    })
    const left = end - performance.now()
    const isFailed = look instanceof CommandError
    if (isFailed && left <= 0) throw look
    if (!isFailed && (left <= 0 || !look.mayTurnFresh || look.verdict.status === 'fresh')) return look.verdict
    if (isFirst) {
      const now = new Date()
      const until = formatClockTime(new Date(now.getTime() + left), now)
      note(`${isFailed ? look.message : look.verdict.message}; waiting until ${until}`)
    }
    await pause(Math.min(intervalMs, left), undefined, { signal }).catch(() => {
      throw new CommandError('Stopped before it was fresh', EXIT.error)
    })
  }
}
