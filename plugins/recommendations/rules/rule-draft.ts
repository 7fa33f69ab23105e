import type { Suggestion } from './evidence.ts'

export type RuleName = 'NOT_NULL' | 'UNIQUE' | 'ENUM' | 'RANGE' | 'REGEX' | 'DATE_FORMAT'

/** What is particular of a suggested rule. */
export type RuleDraft = Pick<Suggestion, 'confidence' | 'reason' | 'basis' | 'evidence'> &
  Partial<Pick<Suggestion, 'config' | 'settings' | 'isQuietByProfile'>>

/** Fewer rows, such as those of less than three weeks of days, say nothing of the next. */
export const MIN_ROWS = 20
/** Fewer values say nothing of how a column is written. */
export const MIN_VALUES = 100
