/** How long commands wait. */
import { InvalidArgumentError, Option } from 'commander'
import { CommandError, EXIT } from './command.ts'
import { formatDuration, parseDuration } from '../settings/durations.ts'

/** Seconds; timers count no more than 24 days. */
const LONGEST = 7 * 86_400

/** Seconds of an option's duration, from a minute to a week. @throws InvalidArgumentError */
export function seconds(text: string): number {
  const duration = parseDuration(text)
  if (duration === null || duration === 0 || duration > LONGEST)
    throw new InvalidArgumentError('Give a duration from 1m to 7d, such as 30m.')
  return duration
}

/** The option `--timeout`. @param most seconds unless it is given */
export function timeLimit(about: string, most: number): Option {
  return new Option('--timeout <duration>', about).argParser(seconds).default(most, formatDuration(most))
}

/**
 * Limits work in time, in seconds, and says in a sentence why it was cut short.
 * @throws CommandError
 */
export async function limited<T>(
  { signal, timeout }: { signal: AbortSignal; timeout: number },
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await work(AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]))
  } catch (error) {
    if (!['AbortError', 'TimeoutError'].includes((error as Error).name)) throw error
    if (signal.aborted) throw new CommandError('Stopped before it was known', EXIT.error)
    const message = `No answer within ${formatDuration(timeout)}: try again, or give more time with --timeout`
    throw new CommandError(message, EXIT.error, { mayPass: true })
  }
}
