/** A failure of a statement, as in `status.error`. */
export class StatementFailure extends Error {
  readonly state: string

  constructor(message: string, state: string) {
    super(message)
    this.state = state
  }
}

/** A failure with its error condition (https://docs.databricks.com/error-messages/error-classes.html). */
export function sqlError(condition: string, message: string, state: string): StatementFailure {
  return new StatementFailure(`[${condition}] ${message} SQLSTATE: ${state}`, state)
}

/** What DuckDB's messages begin with or hold, and what Databricks would have said. */
const CONDITIONS: readonly [RegExp, string, string][] = [
  [/^Parser Error/, 'PARSE_SYNTAX_ERROR', '42601'],
  [/^Catalog Error: Table with name/, 'TABLE_OR_VIEW_NOT_FOUND', '42P01'],
  [/^Catalog Error: .*schema/is, 'SCHEMA_NOT_FOUND', '42704'],
  [/^Binder Error: Catalog "/, 'NO_SUCH_CATALOG_EXCEPTION', '42704'],
  [
    /^Binder Error: (Referenced column|Table .* does not have a column|.*not found in FROM)/s,
    'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    '42703',
  ],
  [/^Conversion Error/, 'CAST_INVALID_INPUT', '22018'],
  [/^Out of Range Error/, 'ARITHMETIC_OVERFLOW', '22003'],
  [
    /^Invalid Input Error: .*(regex|missing \)|no argument|invalid)/is,
    'INVALID_PARAMETER_VALUE.PATTERN',
    '22023',
  ],
  [/^Binder Error/, 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE', '42K09'],
]

/** What Databricks would have said where DuckDB failed. */
export function translated(thrown: unknown): StatementFailure {
  if (thrown instanceof StatementFailure) return thrown
  const { message } = thrown as Error
  const [, condition, state] = CONDITIONS.find(([pattern]) => pattern.test(message)) ?? []
  if (!condition || !state) return new StatementFailure(message, 'XX000')
  return sqlError(condition, message.split('\n')[0] ?? '', state)
}
