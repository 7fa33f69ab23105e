import { countOf, formatNumber } from '../../lib/format.ts'

/** The sentences of incidents, in English. */
export const incidentTexts = {
  title: 'Incidents',
  count: (count: number) =>
    count === 0 ? 'No incident is open' : countOf(count, 'incident is open', 'incidents are open'),
  found: (count: number) => countOf(count, 'incident'),
  about: 'Alerts that belong together, with the one that caused the others.',
  all: 'All incidents',
  incident: 'Incident',
  tabs: { open: 'Open', closed: 'Closed', all: 'All' },
  assignee: 'Assigned to',
  unassigned: 'no user',
  alerts: 'Alerts',
  opened: 'Opened',
  state: 'State',
  states: {
    open: 'open',
    acknowledged: 'acknowledged',
    snoozed: 'snoozed',
    resolved: 'resolved',
    dismissed: 'dismissed',
  },
  tables: 'Tables',
  age: 'Age',
  lastMonth: 'In the last 30 days',
  medians: (acknowledge: number | null, resolve: number | null) =>
    `half were acknowledged within ${span(acknowledge)} and resolved within ${span(resolve)}`,
  cause: 'Cause',
  causeSure: (confidence: number) => `${formatNumber(confidence * 100)} % sure`,
  affected: 'What is affected downstream',
  acknowledged: 'Acknowledged after',
  notYet: 'not yet',
  unknown: 'not known',
  span: (minutes: number | null) => span(minutes),
  timeline: 'Timeline',
  postMortem: 'Post-mortem',
  assign: 'Assign',
  acknowledge: 'Acknowledge',
  snooze: 'Snooze',
  resolve: 'Resolve',
  dismiss: 'Dismiss',
  done: { acknowledge: 'acknowledged', snooze: 'snoozed', resolve: 'resolved', dismiss: 'dismissed' },
  notes: 'Note',
  split: 'Split',
  splitHint: 'The chosen alerts become a new incident. Grouping does not put them together again.',
  splitNone: 'Choose at least one alert, and leave at least one.',
  isSplit: 'The alerts are in a new incident.',
  merge: 'Merge',
  mergeInto: 'Merge into',
  mergeHint: 'The other incident gets all alerts of this one, which ends.',
  mergeNone: 'There is no other incident that is open.',
  activities: {
    opened: 'opened',
    alerts_joined: 'alerts joined',
    cause_changed: 'cause changed',
    severity_raised: 'got worse',
    merged: 'merged',
    split: 'split',
    acknowledged: 'acknowledged',
    snoozed: 'snoozed',
    reopened: 'open again',
    resolved: 'resolved',
    dismissed: 'dismissed',
    comment: 'comment',
    assigned: 'assigned',
    post_mortem_changed: 'post-mortem changed',
  } as Record<string, string>,
  until: (when: string) => `until ${when}`,
  symptoms: {
    connection: 'connection failed',
    drift: 'schema changed',
    failed_run: 'run failed',
    stale: 'stale',
    volume: 'volume',
    quality: 'quality',
  } as Record<string, string>,
} as const

function span(minutes: number | null): string {
  if (minutes === null) return '–'
  if (minutes < 120) return `${formatNumber(Math.round(minutes))} min`
  return minutes < 2_880
    ? `${formatNumber(Math.round(minutes / 6) / 10)} h`
    : `${formatNumber(Math.round(minutes / 144) / 10)} d`
}
