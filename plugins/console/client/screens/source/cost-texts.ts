import { countOf, formatBytes, formatNumber } from '../../lib/format.ts'

/** What was read of the parts of a table, as replies have it. */
interface PartsUse {
  total: number
  read: number
  rows_read: number
  rows_known: number
}

/** `0.22 statements`: a share with two digits. */
function share(value: number, one: string): string {
  const short = Number(value.toPrecision(2))
  return `${formatNumber(short)} ${short === 1 ? one : `${one}s`}`
}

/** The sentences of what is said of costs, in English. */
export const costTexts = {
  tab: 'Cost',
  lastScan: 'Last scan',
  /** What a scan read of the parts of a table. */
  partsRead: ({ total, read, rows_read: rows, rows_known: known }: PartsUse) =>
    `${formatNumber(read)} of ${countOf(total, 'part')} read with ${countOf(rows, 'row')}, ${countOf(known, 'row')} known`,
  seconds: (milliseconds: number) => `took ${formatNumber(milliseconds / 1_000)} s`,
  usedBy: (scan: { checks: number; statements: number; rows: number; duration_ms: number }) =>
    `${countOf(scan.checks, 'check')}, ${countOf(scan.statements, 'statement')}, ${countOf(scan.rows, 'row')}, ${formatNumber(scan.duration_ms / 1_000)} s`,
  total: (statements: number, days: number) =>
    `${countOf(statements, 'statement')} in ${days === 1 ? 'one day' : `${days} days`}`,
  aCheck: 'One run of a check',
  sharedNote:
    'The checks of a table share the statements of its scans. The cost of a check is its share: that of the table, divided by its scans and its active checks.',
  noBytes: 'This engine does not report how many bytes it read.',
  ofOneCheck: (milliseconds: number, bytes: number) =>
    `${formatNumber(Number(milliseconds.toPrecision(2)))} ms${bytes > 0 ? `, ${formatBytes(bytes)}` : ''}`,
  shareOf: (statements: number, rows: number) => `${share(statements, 'statement')}, ${share(rows, 'row')}`,
  lastDays: (days: number) => `Last ${days} days`,
  measures: { statements: 'Statements', seconds: 'Seconds', rows: 'Rows', bytes: 'Bytes' },
  most: (value: string) => `The most is ${value}`,
  numbers: 'The numbers by day',
  purposes: {
    scan: 'Checks',
    freshness: 'Freshness',
    discovery: 'Discovery',
    profile: 'Profiles',
    test: 'Connection tests',
    dry_run: 'Tried out',
  },
  tables: 'The most expensive tables',
  pause: 'Pause its checks',
  resume: 'Resume its checks',
}
