import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the profile of a table, in English. */
export const profileTexts = {
  profile: 'profile',
  profileNow: 'Profile now',
  profiling: 'Profiling…',
  compareWith: 'Compare with',
  sample: (rows: number) => `a sample of ${countOf(rows, 'row')}`,
  about: (rows: number) => `about ${formatNumber(rows)}`,
  statements: (statements: number, seconds: number) =>
    `${countOf(statements, 'statement')}, ${formatNumber(seconds)} s`,
  approximate: (count: number) => `about ${formatNumber(count)}`,
  percent: (value: number) => (value > 0 && value < 0.01 ? 'under 0.01 %' : `${formatNumber(value)} %`),
  to: (from: string, until: string) => `${from} to ${until}`,
  median: (value: number) => `median ${formatNumber(value)}`,
  characters: (least: number, most: number) =>
    least === most ? countOf(least, 'character') : `${least} to ${countOf(most, 'character')}`,
  quantiles: (low: string, high: string) => `90 % of the values are from ${low} to ${high}`,
  more: (count: number) => `${count} more`,
  summary: (changed: number, total: number) =>
    changed === 0 ? 'No column changed' : `${changed} of ${countOf(total, 'column')} changed`,
  since: (time: string) => ` since ${time}.`,
  newValues: (values: string) => `new values: ${values}`,
  goneValues: (values: string) => `gone values: ${values}`,
  removed: (names: string) => `Columns that are gone: ${names}`,
  change: (field: string, before: string, after: string) => `${field} ${before} → ${after}`,
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
