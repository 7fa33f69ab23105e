/** Lists as CSV (RFC 4180). */

export type CsvValue = string | number | boolean | null | undefined

/** A column of a file: its head, and what a row has there. */
export type CsvField<Row> = readonly [name: string, value: (row: Row) => CsvValue]

/** Rows that a file has at most. */
export const MAX_CSV_ROWS = 10_000

const END = '\r\n'

/** A file with a head. */
export function toCsv<Row>(rows: readonly Row[], fields: readonly CsvField<Row>[]): string {
  const lines = [fields.map(([name]) => name), ...rows.map(row => fields.map(([, valueOf]) => valueOf(row)))]
  return lines.map(line => line.map(writeValue).join(',') + END).join('')
}

function writeValue(value: CsvValue): string {
  if (value == null) return ''
  if (typeof value !== 'string') return String(value)
  // A spreadsheet would take a text such as =cmd() for a formula; an apostrophe makes it a text. Numbers stay numbers.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export interface CsvPage<Row> {
  rows: readonly Row[]
  total: number
}

export type LoadCsvPage<Row> = (
  page: { limit: number; offset: number },
  signal: AbortSignal,
) => Promise<CsvPage<Row>>

/** The longest page that all lists of the API give. */
const PAGE = 100

/**
 * Reads the rows of all pages, at most MAX_CSV_ROWS, one page after the other.
 * @param progress hears after each page how many rows there are, of how many
 */
export async function loadRows<Row>(
  load: LoadCsvPage<Row>,
  signal: AbortSignal,
  progress: (done: number, total: number) => void,
): Promise<CsvPage<Row>> {
  const rows: Row[] = []
  for (let total = Infinity; ;) {
    const limit = Math.min(PAGE, MAX_CSV_ROWS - rows.length)
    const page = await load({ limit, offset: rows.length }, signal)
    signal.throwIfAborted()
    rows.push(...page.rows)
    total = page.total
    progress(rows.length, Math.min(total, MAX_CSV_ROWS))
    if (page.rows.length < limit || rows.length >= Math.min(total, MAX_CSV_ROWS)) return { rows, total }
  }
}
