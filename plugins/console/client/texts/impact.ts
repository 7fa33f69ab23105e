import { countOf } from '../lib/format.ts'

/** The sentences about what lies downstream of a change, in English. */
export const impactTexts = {
  steps: (steps: number) => countOf(steps, 'step'),
  assets: (count: number) => countOf(count, 'asset'),
} as const
