import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the forms that add and tune checks, in English. */
export const tuningTexts = {
  addTitle: (table: string) => `Add a check to ${table}`,
  editTitle: (name: string) => `Edit ${name}`,
  fixed:
    'What it measures cannot be changed, nor its filter, time column and window. Add another check instead.',
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
  detections: {
    threshold: 'breaks a limit',
    anomaly: 'is unusual',
    both: 'breaks a limit or is unusual',
  },
  directions: { both: 'rises and drops', rise: 'rises only', drop: 'drops only' },
  changes: { previous: 'the previous value', same_weekday: 'the same weekday before' },
  intervals: { hourly: 'every hour', daily: 'every day', weekly: 'every week' },
  window: 'Window: only one bucket of time',
  hourModes: { off: 'Ignored', auto: 'Learned', schedule: 'By a schedule' },
  managedBy: (file: string, key: string) => `Managed by ${file} (key ${key}).`,
  managedByContract: 'Managed by the contract',

  // Sending
  outcomes: (created: number, total: number) => `${created} of ${total} checks were created`,

  // Dry run
  dryRun: 'Dry run',
  now: 'Now',
  newestBucket: 'Newest bucket',
  cost: 'Cost',
  isLearning: 'knows too little to judge',
  past: 'What the past would have said',
  pastFrom: (points: number, days: number, source: string) =>
    `${countOf(points, 'value')} of the last ${countOf(days, 'day')}, ${source}.`,
  /** @param before null where the past is not known */
  alertsAt: (now: number, before: number | null, days: number) =>
    before === null
      ? `${countOf(now, 'alert')} now; its past is not known`
      : `${countOf(now, 'alert')} now, ${formatNumber(before)} in the ${countOf(days, 'day')} before`,
  atThreshold: (threshold: number) => `At ${formatNumber(threshold)} %`,
  noBand: (sensitivity: number) =>
    `Try it again to see the range at sensitivity ${formatNumber(sensitivity)}.`,
  sql: 'SQL',
  values: 'Values',

  // An equal check
  exists: 'This check exists',
  open: 'Open',
  edit: 'Edit',
  paused: 'paused',
  createAnyway: 'Create it anyway',

  // Actions
  pause: 'Pause',
  resume: 'Resume',
  remove: 'Delete',
  runNow: 'Run now',
  running: (seconds: number) => `Running, ${seconds} s…`,
  ran: { passed: 'It passed.', failed: 'It failed.', error: 'It could not run.' },
}
