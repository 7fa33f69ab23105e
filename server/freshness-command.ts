/** The gate of a pipeline: a command that ends with 0 only when the data is fresh. */
import { setTimeout as pause } from 'node:timers/promises'
import { Option, type Command } from 'commander'
import { fromAfar, withClient, type ClientOptions } from './cli/client.ts'
import { answer, CommandError, EXIT, ofCompany, type Ending, type Terminal } from './cli/command.ts'
import { look, type Look } from './freshness-check.ts'
import { limited, seconds, timeLimit } from './cli/timeouts.ts'
import { sayTime, type Status, type Verdict } from './freshness-result.ts'

interface GateOptions extends ClientOptions {
  refresh: boolean
  /** Seconds. */
  wait?: number
  timeout: number
}

const EXIT_OF: Record<Status, number> = {
  fresh: EXIT.fine,
  stale: EXIT.failed,
  unknown: EXIT.error,
  error: EXIT.error,
}

/** Seconds that one look may take unless told: a check is tried three times, each statement for a minute. */
const PATIENCE = 600
/** Milliseconds between two looks of one who waits: each asks the monitored database. */
const PACE = 60_000

/** Adds what `tidemark freshness ASSET` takes and does. */
export function freshnessGate(command: Command, terminal: Terminal, ending: Ending): void {
  fromAfar(ofCompany(command))
    .description(
      'say whether the data of a table, or of all monitored tables of a source, is fresh, by the exit code',
    )
    .option('--no-refresh', 'go by the last check, with the age counted up to now, instead of checking now')
    .addOption(
      new Option(
        '--wait <duration>',
        'wait for it to be fresh, at most so long; looks once a minute',
      ).argParser(seconds),
    )
    .addOption(timeLimit('how long one look may take', PATIENCE))
    .addHelpText('after', HELP)
    .action(async (asset: string, options: GateOptions) => {
      ending.unexpected = EXIT.error
      const verdict = await gate(asset, options, terminal)
      answer(terminal, options, verdict, verdict.message)
      ending.exit = EXIT_OF[verdict.status]
    })
}

const HELP = `
<asset> is an id or a qualified name: <source>.<database>.<schema>.<table> for a table, <source> for a source, which
is fresh when each of its monitored tables is. Durations are such as 30m, 24h or 7d.

Ends with
  0  fresh
  1  stale
  2  wrong usage, credentials or settings; also an asset whose freshness nobody watches
  3  no such asset
  5  not known: never checked, no data, still learning, the check failed, or the service cannot be reached

Before a job that needs today's orders, giving them half an hour to come:
  tidemark freshness shop.shop.public.orders --wait 30m && ./nightly-report`

function gate(asset: string, options: GateOptions, terminal: Terminal): Promise<Verdict> {
  const { signal } = terminal
  const note = once(line => terminal.err(line))
  const limits = { signal, timeout: options.timeout }
  return limited(limits, opening =>
    withClient(options, opening, client => {
      const lookOnce = () =>
        limited(limits, looking => look(client, asset, { refresh: options.refresh, note, signal: looking }))
      return untilFresh(lookOnce, { waitMs: (options.wait ?? 0) * 1000, paceMs: PACE, signal, note })
    }),
  )
}

/** Says nothing twice. */
function once(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>()
  return line => {
    if (!said.has(line)) say(line)
    said.add(line)
  }
}

/**
 * Looks until the asset is fresh, the time is over, or waiting cannot help; at least once.
 * @returns the last verdict
 */
export async function untilFresh(
  lookOnce: () => Promise<Look>,
  options: { waitMs: number; paceMs: number; signal: AbortSignal; note(line: string): void },
): Promise<Verdict> {
  const { waitMs, paceMs, signal, note } = options
  const end = performance.now() + waitMs
  for (let isFirst = true; ; isFirst = false) {
    const found = await lookOnce().catch((error: unknown) => {
      if (error instanceof CommandError && error.mayPass) return error
      throw error
    })
    const left = end - performance.now()
    const isFailed = found instanceof CommandError
    if (isFailed && left <= 0) throw found
    if (!isFailed && (left <= 0 || !found.mayTurn || found.verdict.status === 'fresh')) return found.verdict
    if (isFirst) {
      const now = new Date()
      const until = sayTime(new Date(now.getTime() + left), now)
      note(`${isFailed ? found.message : found.verdict.message}; waiting until ${until}`)
    }
    await pause(Math.min(paceMs, left), undefined, { signal }).catch(() => {
      throw new CommandError('Stopped before it was fresh', EXIT.error)
    })
  }
}
