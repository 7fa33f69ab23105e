/** Durations and time limits of commands. */
import { InvalidArgumentError, Option } from 'commander'
import { CommandError, EXIT } from './command.ts'
import { formatDuration, parseDuration } from '../settings/durations.ts'

/** A week; timers overflow after 24 days. */
const MAX_TIMEOUT_SECONDS = 7 * 86_400

/** Parses a duration of 1 minute to 7 days into seconds. @throws InvalidArgumentError */
export function parseSeconds(text: string): number {
  const duration = parseDuration(text)
  if (duration === null || duration === 0 || duration > MAX_TIMEOUT_SECONDS)
    throw new InvalidArgumentError('Give a duration from 1m to 7d, such as 30m.')
  return duration
}

/** The option `--timeout`. @param fallback its default, in seconds */
export function timeoutOption(description: string, fallback: number): Option {
  return new Option('--timeout <duration>', description)
    .argParser(parseSeconds)
    .default(fallback, formatDuration(fallback))
}

/** Aborts work after `timeout` seconds, or with `signal`. @throws CommandError when it was aborted */
export async function withCommandTimeout<T>(
  { signal, timeout }: { signal: AbortSignal; timeout: number },
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await work(AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]))
  } catch (error) {
    if (!['AbortError', 'TimeoutError'].includes((error as Error).name)) throw error
    if (signal.aborted) throw new CommandError('Stopped before the result was known', EXIT.error)
    const message = `No answer within ${formatDuration(timeout)}: try again, or give more time with --timeout`
    throw new CommandError(message, EXIT.error, { isTransient: true })
  }
}
