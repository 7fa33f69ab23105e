import { classifyError, errorRule, OVER_TIME_HINT, type ConnectorError, type ErrorRule } from '../errors.ts'

/** The engine's name, as sources and errors carry it. */
export const ENGINE = 'duckdb'

export const duckdbDriver = { package: '@duckdb/node-api', version: '1.5.5-r.5' }

/** Said of a file whose end is missing, at discovery with its name. */
export const HALF_WRITTEN = 'is not a whole file: it is being written, or was cut off'

/** What DuckDB (by the class that its messages begin with), the file system and the reader complain of. */
const RULES: readonly ErrorRule[] = [
  errorRule('driver-missing', { code: /^(ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$/ }).say(
    `The driver of ${ENGINE} is not installed: run npm install ${duckdbDriver.package}@${duckdbDriver.version}`,
  ),
  errorRule('missing-object', { code: /^(ENOENT|ENOTDIR)$/ }).say(
    'There is no such file or folder: check path.',
  ),
  errorRule('missing-object', { code: 'NO_FILES' }).say(
    'There are no Parquet, CSV or JSON files at path: check it. Names that begin with . or _ are left out.',
  ),
  errorRule('permission', { code: /^(EACCES|EPERM)$/ }).say(
    'The file may not be read: give this service the right to read it and to enter its folders.',
  ),
  errorRule('busy', { code: 'LOCKED' }).say(
    'Another process has the database open for writing, and DuckDB cannot read it meanwhile: try again later, or watch a copy.',
  ),
  errorRule('missing-object', { code: 'DUCKDB_IO', message: /database does not exist|No files found/ }).say(
    'There is no such file: check path.',
  ),
  errorRule('other', { code: 'DUCKDB_IO', message: /not a valid DuckDB database|Is a directory/ }).say(
    'The file is not a database of DuckDB: path must name one, or a folder of Parquet, CSV or JSON files.',
  ),
  errorRule('other', {
    code: /^DUCKDB_(IO|SERIALIZATION)$/,
    message: /different version|storage version|newer version/,
  }).say(
    'The database was written by another version of DuckDB, which this one cannot read: install that version of @duckdb/node-api.',
  ),
  errorRule('missing-object', {
    message: /No magic bytes found|too small to be a Parquet file|Footer length/i,
  }).say(
    `A file of the table ${HALF_WRITTEN}. Write files under another name and rename them when they are done.`,
  ),
  errorRule('missing-object', {
    code: 'DUCKDB_INVALID_INPUT',
    message: /schema mismatch|columns? .* (was|were) read from the original file/i,
  }).say('The files of the table do not have one layout: its folder may hold files of one kind only.'),
  errorRule('permission', { code: /^DUCKDB_PERMISSION$/ }).say(
    'DuckDB may only read the files of the source here: leave other files, settings and extensions out of the statement.',
  ),
  errorRule('permission', {
    code: 'DUCKDB_INVALID_INPUT',
    message: /read-only|configuration has been locked/,
  }).say('The database is open for reading only; nothing was written.'),
  errorRule('invalid-query', { code: /^(DUCKDB_OUT_OF_MEMORY|OUT_OF_MEMORY)$/ }).say(
    'The statement needs more memory than a session may take: raise memory_mb of the source, or check fewer columns at once.',
  ),
  // Without a hint, what is shown is the sentence of the fault: DuckDB's own message may quote values.
  errorRule('missing-object', {
    code: 'DUCKDB_BINDER',
    message: /column .* not found|does not have a column/i,
    fault: 'column',
  }),
  errorRule('missing-object', { code: 'DUCKDB_CATALOG', message: /^Table(?! Function)/, fault: 'table' }),
  errorRule('missing-object', { code: 'DUCKDB_BINDER', message: /^Referenced table/, fault: 'table' }),
  errorRule('invalid-query', { code: 'DUCKDB_CATALOG', message: /Function/, fault: 'function' }),
  errorRule('invalid-query', { code: 'DUCKDB_BINDER', message: /^No function matches/, fault: 'function' }),
  errorRule('invalid-query', { code: /^DUCKDB_PARSER$/, fault: 'syntax' }),
  errorRule('invalid-query', { code: 'NOT_A_SELECT' }).say(
    'Only SELECT statements run in a monitored database.',
  ),
  errorRule('invalid-query', { code: 'NOT_ONE_STATEMENT' }).say(
    'The text holds more than one statement: send one at a time.',
  ),
  errorRule('invalid-query', { code: 'UNBINDABLE' }).say(
    'A value of the statement cannot be sent to DuckDB.',
  ),
  errorRule('invalid-query', { code: 'TOO_LARGE' }).say(
    'The statement returns more than 32 MB: select fewer or shorter values.',
  ),
  errorRule('invalid-query', {
    code: 'DUCKDB_INVALID_INPUT',
    message: /^(missing|invalid|unexpected|no argument|bad) .*(\)|\]|:|escape|repetition|range|perl|group)/,
    fault: 'pattern',
  }),
  errorRule('invalid-query', { code: /^DUCKDB_(?!IO|FATAL|INTERNAL|SERIALIZATION)/ }),
  errorRule('invalid-query', { code: 'SyntaxError' }),
  errorRule('timeout', { code: 'TIMEOUT' }).say(OVER_TIME_HINT),
  errorRule('other', { code: /^(ENDED|ABORTED)$/ }).say(
    'The process that reads the file ended: try again, and look at the log.',
  ),
]

/** Whatever was thrown, as an error of the connector. */
export function toDuckdbError(thrown: unknown): ConnectorError {
  return classifyError(ENGINE, RULES, thrown)
}
