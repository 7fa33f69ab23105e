import type { Logger } from 'pino'
import { maskedErrorFields } from './telemetry/log-errors.ts'

/** An error of an extension, whose message names it and quotes nothing: what it threw is in the log. */
export class ExtensionCallError extends Error {
  override readonly name = 'ExtensionCallError'
}

/**
 * Logs what an extension threw: whole, with its stack, and without secrets.
 * @param what whose error it is: `connector acme`
 * @param context `secrets` that it was given, and `fields` for the log
 * @returns the sentence for callers, who never see the extension's own words
 */
export function reportThrown(
  log: Pick<Logger, 'error'>,
  what: string,
  thrown: unknown,
  { secrets = [], fields = {} }: { secrets?: readonly string[]; fields?: object } = {},
): string {
  log.error(
    { ...fields, extension: what, err: maskedErrorFields(thrown, secrets) },
    `the ${what} threw an error`,
  )
  return `The ${what} threw an error; the log has more`
}
