import { countOf, formatBytes } from '../lib/format.ts'

/** What computing the past of new metrics reads. */
export interface BackfillCost {
  days: number
  statements: number
  rows: number | null
  bytes: number | null
}

/** The sentences of the screens on which people choose what to watch, in English. */
export const watchTexts = {
  checks: 'Checks for many tables',
  levels: {
    light: 'Light: row counts, freshness and keys',
    standard: 'Standard: also what constraints and profiles make sure of',
    deep: 'Deep: all that is recommended',
    once: 'Once, the kinds that I choose',
  },
  levelNames: { light: 'Light', standard: 'Standard', deep: 'Deep' },
  policyOf: (level: string) => `All tables that match are watched at the level ${level}.`,
  appliedAt: 'Last applied',
  endPolicy: 'Stop watching new tables',
  kinds: {
    row_count: 'Row count',
    freshness: 'Freshness',
    keys: 'Key columns',
  },
  kindHints: {
    row_count: 'A number of rows that is unusual for the table raises an alert.',
    freshness: 'When updates are due is learned from the table.',
    keys: 'Columns of primary keys have no NULL, and no value occurs twice.',
  },
  preview: 'What would be created',
  matched: (count: number) => `${countOf(count, 'table')} match.`,
  rows: {
    row_count: 'Row counts',
    freshness: 'Freshness schedules',
    not_null: 'Keys without NULL',
    unique: 'Keys without duplicates',
  },
  reasons: {
    no_primary_key: 'without a primary key',
    composite_key: 'with a key of several columns, which a rule cannot compare',
    no_signal: 'that do not show when they were updated',
    unsupported: 'of a type that the check does not apply to',
    not_readable: 'whose source allows only its catalog to be read',
  },
  skippedTables: (count: number, why: string) => `${countOf(count, 'table')} ${why}`,
  backfill: 'Backfill 30 days',
  backfillHint: 'New metrics learn the past of tables with a time column, by one grouped statement a table.',
  backfillCost: ({ days, statements, rows, bytes }: BackfillCost) => {
    const read = [rows === null ? '' : countOf(rows, 'row'), bytes === null ? '' : formatBytes(bytes)].filter(
      Boolean,
    )
    return `Backfilling ${countOf(days, 'day')} takes ${countOf(statements, 'statement')}, once${read.length > 0 ? `: about ${read.join(', ')}` : ''}.`
  },
  cost: (checks: number, freshness: number) =>
    `The database gets about ${countOf(checks + freshness, 'statement')} more a day: ${countOf(checks, 'scan')} of tables, ${countOf(freshness, 'statement')} for freshness.`,
  bulk: 'Freshness by patterns',
  bulkPreview: (created: number, existing: number) =>
    `${countOf(created, 'schedule')} would be created; ${countOf(existing, 'table')} ${existing === 1 ? 'has' : 'have'} one already.`,
  bulkCost: (count: number) => `About ${countOf(count, 'statement')} more a day.`,
  withoutSignal: (count: number) =>
    `${countOf(count, 'table')} ${count === 1 ? 'does' : 'do'} not show when they were updated.`,

  editSchedule: 'Change the schedule',
  signals: {
    '': 'Chosen automatically',
    column: 'A column',
    last_modified: 'The time that the database reports',
    expression: 'An expression',
  },
  modes: { auto_learn: 'Learned from its updates', explicit: 'After a time that I choose' },
  thresholdHint: 'Such as 90m, 24h or 7d.',
  intervals: {
    '5m': '5 minutes',
    '15m': '15 minutes',
    '30m': '30 minutes',
    '1h': 'hour',
    '4h': '4 hours',
    '12h': '12 hours',
    '1d': 'day',
  },
  dryRun: 'With this threshold',
  remove: 'Delete the schedule',

  clock: 'Clock of the week',
  clockOf: (zone: string) => `Updates by hour of the week, in ${zone}`,
  clockSentence(updates: number, days: readonly number[], hours: readonly string[]): string {
    const when = [
      days.length > 0 && `on ${days.map(day => this.days[day]).join(', ')}`,
      hours.length > 0 && `at ${hours.join(', ')}`,
    ].filter(Boolean)
    const often = updates === 1 ? ' ' : ', most of them '
    return `${countOf(updates, 'update')}${when.length > 0 ? often + when.join(' ') : ', spread over the week'}.`
  },
  updatesIn: (count: number, day: string, hour: string) => `${day} ${hour}: ${countOf(count, 'update')}`,
  days: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  shortDays: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  hour: 'Hour',
}
