import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the forms that add and tune checks, in English. */
export const tuningTexts = {
  addTitle: (table: string) => `Add a check to ${table}`,
  editTitle: (name: string) => `Edit ${name}`,
  back: 'Back to the checks',
  groups: { rule: 'Rules: which rows are invalid', metric: 'Metrics: is a number unusual' },
  referential: 'Referential check',
  referentialText: 'The values of a column occur in a column of another table of this source.',

  // Fields
  filterColumns: 'Find a column',
  severities: { info: 'Info', warning: 'Warning', critical: 'Critical' },
  modes: { manual: 'above a threshold', auto: 'outside a range that it learns' },
  sensitivity: 'Sensitivity',
  sensitivities: {
    '1': '1: alerts most often',
    '2': '2',
    '3': '3',
    '4': '4: alerts least often',
  },
  intervals: { hourly: 'every hour', daily: 'every day', weekly: 'every week' },
  hourModes: { off: 'Not looked at', auto: 'Found by itself', schedule: 'By a schedule' },
  managedBy: (file: string, key: string) => `Managed by ${file} (key ${key}).`,
  managedByContract: 'Managed by the contract',

  // Sending
  create: (count: number) => (count > 1 ? `Create ${count} checks` : 'Create check'),
  created: (count: number) =>
    `${countOf(count, 'check was', 'checks were')} created. The first run follows in a minute.`,
  outcomes: (created: number, total: number) => `${created} of ${total} checks were created`,

  // Dry run
  dryRun: 'Dry run',
  days: (count: number) => countOf(count, 'day'),
  now: 'Now',
  invalidNow: (percent: number, invalid: number, rows: number) =>
    `${formatNumber(percent)} % invalid (${invalid.toLocaleString('en-GB')} of ${countOf(rows, 'row')})`,
  valueNow: (value: number | null) => (value === null ? 'no value' : formatNumber(value)),
  orphansNow: (orphans: number, rows: number) =>
    `${countOf(orphans, 'row')} of ${rows.toLocaleString('en-GB')} without a parent`,
  parentsBelow: (count: number) => `${countOf(count, 'parent has', 'parents have')} too few rows`,
  parentsAbove: (count: number) => `${countOf(count, 'parent has', 'parents have')} too many rows`,
  groupsNow: (count: number, anomalies: number) => `${countOf(count, 'group')}, ${anomalies} unusual`,
  isLearning: 'knows too little to judge',
  past: 'What the past would have said',
  pastFrom: (points: number, days: number, source: string) =>
    `${countOf(points, 'value')} of the last ${countOf(days, 'day')}, ${source}.`,
  computed: (column: string | null) =>
    `computed from ${column ?? 'timestamps'}, as if rows had only been added`,
  alertsAt: (alerts: number, days: number) =>
    `${countOf(alerts, 'alert')} in the last ${countOf(days, 'day')}`,
  atThreshold: (threshold: number) => `At ${formatNumber(threshold)} %`,
  alertsIn: (days: number) => `Alerts in the last ${countOf(days, 'day')}`,
  use: (sensitivity: number) => `Use sensitivity ${sensitivity}`,
  noBand: (sensitivity: number) =>
    `Try it again to see the range at sensitivity ${formatNumber(sensitivity)}.`,
  sql: 'SQL',
  values: 'Values',

  // Actions
  pause: 'Pause',
  resume: 'Resume',
  remove: 'Delete',
  runNow: 'Run now',
  running: (seconds: number) => `Running, ${seconds} s…`,
  ran: { passed: 'It passed.', failed: 'It failed.', error: 'It could not run.' },
  confirmRemove: (name: string) => `Delete ${name}?`,
  removed: (name: string) => `${name} was deleted.`,
}
