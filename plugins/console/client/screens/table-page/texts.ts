import { countOf, formatSpan } from '../../lib/format.ts'

/** The sentences of the header and the tabs of a table, in English. */
export const pageTexts = {
  editDescription: 'Edit the description',
  addDescription: 'Add a description',
  description: 'Description',
  noOwner: 'no owner',
  owner: 'Owner',
  history: 'Time between updates',
  historyOf: (count: number, from: string, until: string, threshold: string | null) =>
    `Time between ${countOf(count, 'update')} from ${from} to ${until}${threshold ? `, late after ${threshold}` : ''}`,
  longest: (seconds: number, at: string) => `longest ${formatSpan(seconds)}, until ${at}`,
  usual: (seconds: number) => `usually ${formatSpan(seconds)}`,
  late: (count: number) => (count === 0 ? 'never late' : `late ${countOf(count, 'time')}`),
  gap: (seconds: number, at: string) => `${at}: ${formatSpan(seconds)} after the update before`,
  running: (seconds: number) => `now: ${formatSpan(seconds)} since the last update`,
  noUpdates: 'No update was seen until now.',
  volume: 'Rows',
  rowsAt: (rows: string, at: string) => `${rows} rows, counted ${at}`,
  volumeOf: (count: number, first: string, last: string) =>
    `The last ${count} row counts, from ${first} to ${last}`,
  changesWait: 'Schema changes wait for review',
  ages: 'Age at each check',
} as const
