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

/** The windows of a table, its own and the one that is proposed. */
export type WindowedTable = Pick<Table, 'columns' | 'default_window'>

/** Columns that a window can be of. */
function timeColumns({ columns = [], default_window: window }: WindowedTable): string[] {
  const names = columns.filter(({ kind }) => TEMPORAL_KINDS.includes(kind)).map(({ name }) => name)
  // A pseudo column of the engine is none of the table's.
  return window && !names.includes(window.time_column) ? [...names, window.time_column] : names
}

/**
 * The fields of a check about one bucket of time at a time; none for a table without a column of dates or timestamps. They
 * begin with the default window of the table.
 */
export function windowSpecs(table: WindowedTable): FieldSpec[] {
  const { default_window: window } = table
  const names = timeColumns(table)
  if (names.length === 0) return []
  return [
    {
      name: 'time_column',
      label: 'Time column',
      hint: 'With the time of a row.',
      kind: 'choice',
      choices: names.map(name => [name, name]),
      initial: window?.time_column,
    },
    {
      name: 'window',
      label: 'Bucket',
      hint: window
        ? 'The default of the table. Leave it empty for a check of all rows.'
        : 'Such as 1h, 6h, 1d or 1w. Each run measures the newest bucket that is over.',
      kind: 'text',
      suggestions: ['1h', '6h', '1d', '1w'],
      maxLength: 4,
      initial: window?.window,
    },
    ...LATE_DATA.map(spec =>
      spec.name === 'window_delay' ? { ...spec, initial: window?.window_delay ?? undefined } : spec,
    ),
  ]
}

/** The body of a new check whose form was left without a bucket: all rows, also of a table with a default window. */
export function withoutWindow(
  body: Record<string, unknown>,
  { default_window: window }: WindowedTable,
): Record<string, unknown> {
  if (!window || body.window !== undefined) return body
  const { time_column: _column, window_delay: _delay, revisit: _revisit, ...rest } = body
  return { ...rest, window: null }
}

/** The fields of the default window of a table. */
export function defaultWindowSpecs(table: WindowedTable): FieldSpec[] {
  return windowSpecs(table)
    .filter(({ name }) => name !== 'revisit')
    .map(spec =>
      spec.name === 'window'
        ? { ...spec, isRequired: true, hint: 'Such as 1h, 6h, 1d or 1w.' }
        : spec.name === 'time_column'
          ? { ...spec, isRequired: true }
          : spec,
    )
}
