import { ConnectorError } from '../connectors/errors.ts'

/** Kinds whose message is the engine's own and may quote what it read. */
const QUOTING_KINDS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'other'])

/** What is wrong with a pattern quotes the pattern, or puts itself in quotes. */
const PATTERN_MESSAGE = /^(regex|got error .* from regexp|invalid regular expression)/i

/** From the first quote to the last one like it: what is quoted may hold quotes itself. Cut messages close none. */
const QUOTED_TEXT = /(["'`])(?:.*\1|.*$)/s
/** Values that are told without quotes, as BigQuery does: `Bad int64 value: abc`, `int64 overflow: 3 * 9`. */
const UNQUOTED_VALUE = /\b(value|string|date|datetime|timestamp|time|overflow|zero|range)s?: (?!["'`]).*$/is
/** Characters after which drivers' messages are cut, so that a quote may have lost its end. */
const TRUNCATED_LENGTH = 500

/**
 * An error as it may be shown to everyone who sees results: engines print the value that they could not convert.
 * Of the users' own SQL, which can make them print any row, nothing is told but the engine's code: that it could be
 * read at all was asked before. Of SQL that we wrote, what stands in quotes is left out, save the names of objects
 * that are missing.
 * @param isOwnSql whether the SQL is the user's own
 */
export function redactError(error: ConnectorError, isOwnSql: boolean): ConnectorError {
  const { kind, engine, code } = error
  if (!QUOTING_KINDS.has(kind)) return error
  const tell = (message: string) => new ConnectorError({ kind, engine, code, message, cause: error })
  if (isOwnSql) {
    const codeOf = code === '' ? '' : ` (${code})`
    return tell(
      `The engine could not run this SQL over the rows${codeOf}. What it said is not shown: it may quote them.`,
    )
  }
  if (kind === 'missing-object' || PATTERN_MESSAGE.test(error.message)) return error
  return tell(withoutValues(error.message))
}

function withoutValues(message: string): string {
  const bare = message.replace(UNQUOTED_VALUE, '$1: …')
  const start = bare.search(/["'`]/)
  if (start !== -1 && message.length >= TRUNCATED_LENGTH) return `${bare.slice(0, start + 1)}…`
  return bare.replace(QUOTED_TEXT, '$1…$1')
}
