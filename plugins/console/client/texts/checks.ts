import { countOf } from '../lib/format.ts'

/** Sentences of the screen of all checks. */
export const checkTexts = {
  title: (count: number) => `${countOf(count, 'check watches', 'checks watch')} your data`,
  found: (count: number) => `${countOf(count, 'check')} found`,
  searchChecks: 'Search checks',
  needAttention: 'failing or in error',
  activity: 'Paused or active',
  activeOrPaused: 'Active or paused',
  noChecks: 'No check watches your data yet',
  noMatch: 'No check matches',
  selectAll: 'Select all checks of this page',
  openCheck: 'Open the check',
  pause: 'Pause',
  resume: 'Resume',
  remove: 'Delete',
  done: { pause: 'paused', resume: 'resumed', run: 'run', remove: 'deleted' },
  changed: (count: number, done: string) => `${countOf(count, 'check')} ${done}.`,
  partlyChanged: (failed: number, total: number) => `${failed} of ${total} checks could not be changed.`,
  removeTitle: (count: number) => `Delete ${countOf(count, 'check')}?`,
  removeText: 'Their results are deleted, too. It cannot be undone; a paused check keeps its results.',
  more: (count: number) => `and ${count.toLocaleString('en-GB')} more`,
} as const
