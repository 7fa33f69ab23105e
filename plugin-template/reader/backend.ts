/**
 * What the reader process does. SQLite runs in a process of its own because node:sqlite blocks its thread and cannot be
 * interrupted, and a worker thread that is inside SQLite cannot be terminated either: only a process can be ended for
 * certain. Of `tidemark/connector` it imports types alone, so that it starts at once.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { addFunctions } from './functions.ts'
import type { ReaderBackend, ReaderFailure } from 'tidemark/connector'
import type { Answer, Request } from './messages.ts'

/** Milliseconds that a statement waits for a writer's lock. */
const BUSY_TIMEOUT = 5000

/** Bytes that SQLite may take in this process. */
const HEAP_LIMIT = 512 * 1024 * 1024

/** SQLite's primary result codes, by number. */
const CODES: Record<number, string> = {
  1: 'SQLITE_ERROR',
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  18: 'SQLITE_TOOBIG',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  25: 'SQLITE_RANGE',
  26: 'SQLITE_NOTADB',
}

const NOTHING: Answer = { columns: [], rows: [] }

let database: DatabaseSync | undefined

class Refusal extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

function open(path: string): Answer {
  close()
  const opened = new DatabaseSync(path, { readOnly: true })
  try {
    opened.exec(
      `pragma busy_timeout = ${BUSY_TIMEOUT}; pragma query_only = on; pragma trusted_schema = off; ` +
        `pragma cache_size = -32768; pragma hard_heap_limit = ${HEAP_LIMIT}`,
    )
    addFunctions(opened)
    // SQLite reads nothing when it opens a file; this fails now if it is no database.
    opened.exec('select count(*) from sqlite_schema')
  } catch (error) {
    opened.close()
    throw error
  }
  database = opened
  return NOTHING
}

function close(): Answer {
  database?.close()
  database = undefined
  return NOTHING
}

// Each comment can be matched in one way only, so that no text takes these patterns long.
const BLANK = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))*$/
const FIRST_WORD = /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*([a-z]+)/i
const READS = new Set(['select', 'with', 'values', 'explain'])

/**
 * One statement that reads. The file is open for reading only, so that SQLite refuses to write into it by
 * itself; ATTACH, VACUUM INTO, PRAGMA and BEGIN would still reach other files or change the session.
 */
function prepare(text: string): StatementSync {
  if (!database) throw new Refusal('CLOSED', 'The database is closed.')
  if (!READS.has(FIRST_WORD.exec(text)?.[1]?.toLowerCase() ?? '')) {
    throw new Refusal('NOT_A_SELECT', 'Only SELECT statements run in a monitored database.')
  }
  const statement = database.prepare(text)
  if (!BLANK.test(text.slice(statement.sourceSQL.length))) {
    throw new Refusal('NOT_ONE_STATEMENT', 'The text holds more than one statement; send one at a time.')
  }
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

/** Integers beyond 2^53, which a number cannot hold, become texts. */
function toValue(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** Characters and bytes of a result; this process and the one that asked hold it at once. */
const MOST_KEPT = 32 * 1024 * 1024

function query(text: string, values: unknown[], maxRows = Infinity): Answer {
  const statement = prepare(text)
  const columns = statement.columns().map(column => column.name)
  const rows: unknown[][] = []
  if (maxRows < 1) return { columns, rows }
  let size = 0
  for (const row of statement.iterate(...(values as SQLInputValue[]))) {
    const values = row as unknown as unknown[]
    for (const value of values)
      size += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
    if (size > MOST_KEPT)
      throw new Refusal('TOO_LARGE', 'The statement returns more than 32 MB: select fewer or shorter values.')
    rows.push(values.map(toValue))
    if (rows.length >= maxRows) break
  }
  return { columns, rows }
}

function answer(request: Request): Answer {
  switch (request.type) {
    case 'open':
      return open(request.path)
    case 'close':
      return close()
    case 'validate':
      // It resolves every name. SQLite runs a statement with its first step, and plans it without running a function.
      prepare(request.text)
      return NOTHING
    case 'query':
      return query(request.text, request.values, request.maxRows)
  }
}

function describe(thrown: unknown): ReaderFailure {
  const { name, code, errcode, message } = thrown as Error & { code?: string; errcode?: number }
  if (errcode !== undefined) return { code: CODES[errcode & 0xff] ?? `SQLITE_${errcode}`, message }
  return { code: code ?? name, message }
}

export const backend: ReaderBackend<Request> = { answer, describe }
