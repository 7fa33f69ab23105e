import type { Table } from 'tidemark/client'
import type { FieldSpec } from '../forms/schema.ts'

/** The rows that a check is about. */
export const FILTER: FieldSpec = {
  name: 'filter',
  label: 'Only rows where',
  hint: "A condition in the SQL of the source, such as country = 'DE'.",
  kind: 'long',
  rows: 2,
  maxLength: 2_000,
}

/** How late data is waited for; both can be changed later. */
export const LATE_DATA: readonly FieldSpec[] = [
  {
    name: 'window_delay',
    label: 'Delay',
    hint: 'How long data of a bucket may still arrive, such as 2h or 1d.',
    kind: 'text',
    maxLength: 4,
  },
  {
    name: 'revisit',
    label: 'Buckets measured again',
    hint: 'How many of the last ones, for late data: from 0 to 31. Without a number, 2.',
    kind: 'integer',
    min: 0,
    max: 31,
  },
]

const TEMPORAL_KINDS = ['date', 'timestamp']

/** The fields of a check about one bucket of time at a time; none for a table without a column of dates or timestamps. */
export function windowSpecs({ columns = [] }: Pick<Table, 'columns'>): FieldSpec[] {
  const names = columns.filter(({ kind }) => TEMPORAL_KINDS.includes(kind)).map(({ name }) => name)
  if (names.length === 0) return []
  return [
    {
      name: 'time_column',
      label: 'Time column',
      hint: 'With the time of a row.',
      kind: 'choice',
      choices: names.map(name => [name, name]),
    },
    {
      name: 'window',
      label: 'Bucket',
      hint: 'Such as 1h, 6h, 1d or 1w. Each run measures the newest bucket that is over.',
      kind: 'text',
      suggestions: ['1h', '6h', '1d', '1w'],
      maxLength: 4,
    },
    ...LATE_DATA,
  ]
}
