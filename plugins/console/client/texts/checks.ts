import { countOf } from '../lib/format.ts'

/** Sentences of the screen of all checks. */
export const checkTexts = {
  title: (count: number) => `${countOf(count, 'check watches', 'checks watch')} your data`,
  found: (count: number) => `${countOf(count, 'check')} found`,
  remove: 'Delete',
  done: { pause: 'paused', resume: 'resumed', run: 'run', remove: 'deleted' },
  changed: (count: number, done: string) => `${countOf(count, 'check')} ${done}.`,
  partlyChanged: (failed: number, total: number) => `${failed} of ${total} checks could not be changed.`,
  removeTitle: (count: number) => `Delete ${countOf(count, 'check')}?`,
  more: (count: number) => `and ${count.toLocaleString('en-GB')} more`,
} as const
