import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of what is said of costs, in English. */
export const costTexts = {
  tab: 'Cost',
  lastScan: 'Last scan',
  usedBy: (scan: { checks: number; statements: number; rows: number; duration_ms: number }) =>
    `${countOf(scan.checks, 'check')}, ${countOf(scan.statements, 'statement')}, ${countOf(scan.rows, 'row')}, ${formatNumber(scan.duration_ms / 1_000)} s`,
  total: (statements: number, days: number) =>
    `${countOf(statements, 'statement')} in ${days === 1 ? 'one day' : `${days} days`}`,
  unused: 'This source was not used in these days.',
  days: 'Days',
  lastDays: (days: number) => `Last ${days} days`,
  measure: 'Measure',
  measures: { statements: 'Statements', seconds: 'Seconds', rows: 'Rows', bytes: 'Bytes' },
  sessions: 'Sessions',
  failures: 'Failures',
  perDay: (measure: string) => `${measure} by day, UTC`,
  most: (value: string) => `The most is ${value}`,
  numbers: 'The numbers by day',
  day: 'Day',
  purpose: 'Purpose',
  byPurpose: 'By purpose',
  purposes: {
    scan: 'Checks',
    freshness: 'Freshness',
    discovery: 'Discovery',
    profile: 'Profiles',
    test: 'Connection tests',
    dry_run: 'Tried out',
  },
  all: 'All',
  tables: 'The most expensive tables',
  tablesHint: 'The checks of a table share statements, so the cost is known by table.',
  noTables: 'No table was scanned for checks in these days.',
  table: 'Table',
  scans: 'Scans',
  action: 'Action',
  pause: 'Pause its checks',
  pauseOf: (name: string) => `Pause its checks: ${name}`,
  resume: 'Resume its checks',
  resumeOf: (name: string) => `Resume its checks: ${name}`,
  paused: (count: number, name: string) =>
    `${countOf(count, 'check')} of ${name} ${count === 1 ? 'is' : 'are'} paused.`,
  resumed: (count: number, name: string) =>
    `${countOf(count, 'check')} of ${name} ${count === 1 ? 'runs' : 'run'} again.`,
  allPaused: 'None is active',
}
