import { classifyError, type ConnectorError, type ErrorRule } from 'tidemark/connector'

/** The engine's name, as sources and errors carry it. */
export const ENGINE = 'sqlite'

/** What SQLite, the file system and the reader process complain of, and what to do about it. */
const RULES: readonly ErrorRule[] = [
  { kind: 'missing-object', code: /^(ENOENT|ENOTDIR)$/, hint: 'There is no such file: check path.' },
  { kind: 'missing-object', code: 'NOT_A_FILE' },
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
    kind: 'other',
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
    code: 'SQLITE_NOMEM',
    hint: 'The statement needs more memory than a session may take: make it smaller.',
  },
  {
    kind: 'missing-object',
    code: 'SQLITE_ERROR',
    message: /^no such (table|column|index|collation|module|view)/,
  },
  { kind: 'permission', code: 'SQLITE_ERROR', message: /^not authorized/ },
  {
    kind: 'invalid-query',
    code: /^(SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE)|NOT_A_SELECT|NOT_ONE_STATEMENT|UNBINDABLE)$/,
  },
  { kind: 'invalid-query', code: /^(ERR_INVALID_ARG_(TYPE|VALUE)|ERR_OUT_OF_RANGE|SyntaxError|RangeError)$/ },
  { kind: 'timeout', code: 'TIMEOUT' },
  { kind: 'other', code: /^(ENDED|ABORTED)$/ },
]

/** Whatever was thrown, as an error of the connector. */
export function toConnectorError(thrown: unknown): ConnectorError {
  return classifyError(ENGINE, RULES, thrown)
}
