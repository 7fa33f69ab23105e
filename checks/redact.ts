import { ConnectorError } from '../connectors/errors.ts'

/** Kinds whose message comes from the engine and may quote values. */
const QUOTING_KINDS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'other'])

/** Messages about a pattern quote the pattern, or are themselves in quotes. */
const PATTERN_MESSAGE = /^(regex|got error .* from regexp|invalid regular expression)/i

/**
 * From the first quote to the last one of its kind, since the quoted text may contain quotes. A cut message has no
 * closing quote.
 */
const QUOTED_TEXT = /(["'`])(?:.*\1|.*$)/s
/** Values that are printed without quotes, as BigQuery does: `Bad int64 value: abc`, `int64 overflow: 3 * 9`. */
const UNQUOTED_VALUE = /\b(value|string|date|datetime|timestamp|time|overflow|zero|range)s?: (?!["'`]).*$/is
/** Length at which drivers' messages are cut, so that a closing quote may be missing. */
const TRUNCATED_LENGTH = 500

/**
 * Redacts an error for everyone who may see results: engines print the value that they could not convert. For user SQL,
 * which can make the engine print any row, only the engine's code is shown; its syntax was validated before. For SQL
 * that we wrote, quoted parts are removed, except names of missing objects.
 * @param isOwnSql whether the SQL is the user's own
 */
export function redactError(error: ConnectorError, isOwnSql: boolean): ConnectorError {
  const { kind, engine, code } = error
  if (!QUOTING_KINDS.has(kind)) return error
  const withMessage = (message: string) => new ConnectorError({ kind, engine, code, message, cause: error })
  if (isOwnSql) {
    const codeOf = code === '' ? '' : ` (${code})`
    return withMessage(
      `The engine could not run this SQL over the rows${codeOf}. Its message is not shown: it may quote them.`,
    )
  }
  if (kind === 'missing-object' || PATTERN_MESSAGE.test(error.message)) return error
  return withMessage(withoutValues(error.message))
}

function withoutValues(message: string): string {
  const bare = message.replace(UNQUOTED_VALUE, '$1: …')
  const start = bare.search(/["'`]/)
  if (start !== -1 && message.length >= TRUNCATED_LENGTH) return `${bare.slice(0, start + 1)}…`
  return bare.replace(QUOTED_TEXT, '$1…$1')
}
