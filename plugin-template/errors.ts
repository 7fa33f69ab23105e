import { classifyError, type ConnectorError, type ErrorRule } from 'tidemark/connector'

/** The engine's name, as sources and errors carry it. */
export const ENGINE = 'sqlite'

/** What SQLite, the file system and the reader process complain of, and what to do about it. */
const RULES: readonly ErrorRule[] = [
  { kind: 'missing-object', code: /^(ENOENT|ENOTDIR)$/, hint: 'There is no such file: check path.' },
  {
    kind: 'missing-object',
    code: 'NOT_A_FILE',
    hint: 'path names a folder or a device: it must name an SQLite file.',
  },
  {
    kind: 'permission',
    code: /^(EACCES|EPERM)$/,
    hint: 'The file may not be read: give this service the right to read it and to enter its folders.',
  },
  {
    kind: 'permission',
    code: 'SQLITE_CANTOPEN',
    hint: 'SQLite cannot open the file: give this service the right to read it and, for a database in WAL mode, to write its -shm file beside it.',
  },
  {
    kind: 'other',
    code: 'SQLITE_NOTADB',
    hint: 'The file is not a database: path must name an SQLite file, and one that is not encrypted.',
  },
  {
    kind: 'other',
    code: 'SQLITE_CORRUPT',
    hint: 'The database file is damaged: restore it, or look at it with PRAGMA integrity_check.',
  },
  {
    kind: 'busy',
    code: /^SQLITE_(BUSY|LOCKED)$/,
    hint: 'A writer held the database locked for too long: try again later, or put the database in WAL mode.',
  },
  {
    kind: 'permission',
    code: /^SQLITE_(READONLY|AUTH|PERM)$/,
    hint: 'The database is open for reading only; nothing was written.',
  },
  {
    kind: 'invalid-query',
    code: /^(SQLITE_NOMEM|OUT_OF_MEMORY)$/,
    hint: 'The statement needs more memory than a session may take: make it smaller.',
  },
  // Without a hint, what is shown is the sentence of the fault: SQLite's own message may quote values.
  { kind: 'missing-object', code: 'SQLITE_ERROR', message: /^no such column/, fault: 'column' },
  { kind: 'missing-object', code: 'SQLITE_ERROR', message: /^no such (table|view)/, fault: 'table' },
  { kind: 'missing-object', code: 'SQLITE_ERROR', message: /^no such (index|collation|module)/ },
  {
    kind: 'permission',
    code: 'SQLITE_ERROR',
    message: /^not authorized/,
    hint: 'SQLite does not allow this here: leave it out of the statement.',
  },
  { kind: 'invalid-query', code: 'SQLITE_ERROR', message: /^no such function/, fault: 'function' },
  { kind: 'invalid-query', code: 'SQLITE_ERROR', message: /syntax error|^incomplete input/, fault: 'syntax' },
  { kind: 'invalid-query', code: 'SyntaxError', fault: 'pattern' },
  {
    kind: 'invalid-query',
    code: 'SQLITE_ERROR',
    message: /^Inf input to percentile/,
    hint: 'The percentile of SQLite takes no infinite values.',
  },
  {
    kind: 'invalid-query',
    code: 'NOT_A_SELECT',
    hint: 'Only SELECT statements run in a monitored database.',
  },
  {
    kind: 'invalid-query',
    code: 'NOT_ONE_STATEMENT',
    hint: 'The text holds more than one statement: send one at a time.',
  },
  { kind: 'invalid-query', code: 'UNBINDABLE', hint: 'A value of the statement cannot be sent to SQLite.' },
  {
    kind: 'invalid-query',
    code: 'TOO_LARGE',
    hint: 'The statement returns more than 32 MB: select fewer or shorter values.',
  },
  { kind: 'invalid-query', code: /^SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE)$/ },
  { kind: 'invalid-query', code: /^(ERR_INVALID_ARG_(TYPE|VALUE)|ERR_OUT_OF_RANGE|RangeError)$/ },
  {
    kind: 'timeout',
    code: 'TIMEOUT',
    hint: 'The statement ran over its time and was ended: allow more time, or check fewer rows or columns at once.',
  },
  {
    kind: 'other',
    code: /^(ENDED|ABORTED)$/,
    hint: 'The process that reads the file ended: try again, and look at the log.',
  },
]

/** Whatever was thrown, as an error of the connector. */
export function toConnectorError(thrown: unknown): ConnectorError {
  return classifyError(ENGINE, RULES, thrown)
}
