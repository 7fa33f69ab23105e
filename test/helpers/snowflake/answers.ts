import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, RunningStatement, WarehouseResult } from '../warehouse.ts'
import { wireType, wireValue } from './catalog.ts'
import { Refused } from './requests.ts'
import { decodeNames, SnowflakeError } from './tokens.ts'

/** A statement that was handed over. */
export interface Statement {
  id: string
  running: RunningStatement
  /** Rows of the first page are few, so that every longer result has pages. */
  pages?: (string | null)[][][]
  columns?: WarehouseResult['columns']
  failure?: SnowflakeError
}

/** Rows of the first page and of the others; the first has few, so that every longer result has pages. */
const FIRST_PAGE = 3
const PAGE = 4_000

/** Waits for the end of a quick statement, as long as Snowflake itself takes to answer. */
export async function ended({ running }: Statement): Promise<void> {
  await Promise.race([running.result.catch(() => {}), sleep(60)])
}

/** Ends a statement that runs, in the words given. */
export function end(statement: Statement, failure: SnowflakeError): void {
  if (statement.pages) return
  statement.failure ??= failure
  statement.running.interrupt()
}

/** What Snowflake says of a statement that ran over its time. */
export function timeout(seconds: number): SnowflakeError {
  const message = `Statement reached its statement or warehouse timeout of ${seconds} second(s) and was canceled.`
  return new SnowflakeError('000630', '57014', message)
}

/** The rows of a result in pages. */
export function paged(rows: (string | null)[][]): (string | null)[][][] {
  const pages = [rows.slice(0, FIRST_PAGE)]
  for (let at = FIRST_PAGE; at < rows.length; at += PAGE) pages.push(rows.slice(at, at + PAGE))
  return pages
}

/** The reply of a statement that runs. */
export function inProgress({ id }: Statement): object {
  return {
    code: '333334',
    message:
      'Asynchronous execution in progress. Use provided query id to perform query monitoring and management.',
    statementHandle: id,
    statementStatusUrl: `/api/v2/statements/${id}`,
  }
}

/** The reply of a statement as far as it is: running, failed, or a page of its result. */
export function result(statement: Statement, partition: string | null): Answer {
  const { id, pages, columns = [], failure } = statement
  if (failure) return failed(failure, failure.code === '000630' ? 408 : 422, id)
  if (!pages) return { status: 202, body: inProgress(statement) }
  const wire = columns.map(column => wireType(column.type))
  const page = pages[Number(partition ?? 0)]
  if (!page) throw new Refused(400, '391917', 'There is no such partition.')
  const data = page.map(row =>
    row.map((value, index) => (value === null ? null : wireValue(value, wire[index]?.type ?? ''))),
  )
  if (partition !== null && partition !== '0') return { body: { data }, isGzipped: true }
  const rowType = columns.map(({ name }, index) => ({
    name: decodeNames(name),
    nullable: true,
    ...wire[index],
  }))
  const partitionInfo = pages.map(rows => ({ rowCount: rows.length, uncompressedSize: rows.length * 10 }))
  const numRows = pages.reduce((sum, rows) => sum + rows.length, 0)
  return {
    body: {
      resultSetMetaData: { numRows, format: 'jsonv2', partitionInfo, rowType },
      data,
      code: '090001',
      sqlState: '00000',
      message: 'Statement executed successfully.',
      statementHandle: id,
      createdOn: Date.now(),
    },
  }
}

/** The reply of a failure. */
export function failed({ code, sqlState, message }: SnowflakeError, status: number, id?: string): Answer {
  return {
    status,
    body: { code, message, ...(sqlState && { sqlState }), ...(id && { statementHandle: id }) },
  }
}

const FAILURES: readonly (readonly [RegExp, string, string])[] = [
  [
    /^Binder Error: Catalog "([^"]+)" does not exist/,
    '002003',
    "Database '$1' does not exist or not authorized.",
  ],
  [
    /^Catalog Error: Table with name ([^!]+?) does not exist/,
    '002003',
    "Object '$1' does not exist or not authorized.",
  ],
  [
    /^Binder Error: (?:Referenced|Values list).*?column "([^"]+)"/,
    '000904',
    "error line 1 at position 0\ninvalid identifier '$1'",
  ],
  [
    /^Binder Error: Table "[^"]+" does not have a column named "([^"]+)"/,
    '000904',
    "invalid identifier '$1'",
  ],
  [/Parser Error: (.*)/, '001003', 'syntax error: $1'],
  [/^Conversion Error: (.*)/, '100038', '$1'],
  [/^Invalid Input Error: (.*)/, '100048', 'Invalid regular expression: $1'],
]

/** Snowflake's words for what DuckDB threw. */
export function failureOf(error: Error): SnowflakeError {
  const text = decodeNames(error.message.split('\n')[0] ?? '')
  for (const [pattern, code, message] of FAILURES) {
    const match = pattern.exec(text)
    if (!match) continue
    const isCompilation = !code.startsWith('1')
    const said = message.replace('$1', () => match[1] ?? '')
    return new SnowflakeError(code, '42000', `${isCompilation ? 'SQL compilation error:\n' : ''}${said}`)
  }
  return new SnowflakeError('002000', '42601', `SQL compilation error:\n${text}`)
}
