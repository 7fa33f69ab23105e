import { countOf, formatNumber } from '../../lib/format.ts'

/** The sentences of the profile of a table, in English. */
export const profileTexts = {
  profile: 'profile',
  profileNow: 'Profile now',
  profiling: 'Profiling…',
  compareWith: 'Compare with',
  statements: (statements: number, seconds: number) =>
    `${countOf(statements, 'statement')}, ${formatNumber(seconds)} s`,
  percent: (value: number) => (value > 0 && value < 0.01 ? 'under 0.01 %' : `${formatNumber(value)} %`),
  median: (value: number) => `median ${formatNumber(value)}`,
  characters: (least: number, most: number) =>
    least === most ? countOf(least, 'character') : `${least} to ${countOf(most, 'character')}`,
  more: (count: number) => `${count} more`,
  summary: (changed: number, total: number) =>
    changed === 0 ? 'No column changed' : `${changed} of ${countOf(total, 'column')} changed`,
  since: (time: string) => ` since ${time}.`,
  removed: (names: string) => `Columns that are gone: ${names}`,
  patterns: {
    uuid: 'UUID',
    email: 'email',
    url: 'URL',
    iso_date: 'ISO date',
    iso_timestamp: 'ISO timestamp',
    numeric_text: 'number as text',
    phone: 'phone number',
    enum: 'few values',
  } as Record<string, string>,
  fields: {
    type: 'type',
    null_percent: 'NULL',
    distinct: 'distinct',
    min: 'min',
    max: 'max',
    mean: 'mean',
    'quantiles.p50': 'median',
    min_length: 'min length',
    max_length: 'max length',
    'pattern.name': 'pattern',
    is_key_candidate: 'key candidate',
    top_values: 'frequent values',
  } as Record<string, string>,
}
