/** The words of charts, in English. */
export const chartTexts = {
  view: 'View',
  changes: 'Change',
  total: 'Total',
  compare: 'Compare with last week',
  weekBefore: '7 days before',
  change: 'schema change',
  run: 'run',
  incident: 'incident',
  alert: 'this alert',
} as const
