import type { FieldSpec } from '../../forms/schema.ts'
import { watchTexts } from '../../texts/watching.ts'

/** How long a person pauses before a request is tried. */
export const PAUSE_MS = 400

/** The fields that choose tables of a source. */
export const patternFields: FieldSpec[] = [
  {
    ...{ name: 'include_patterns', label: watchTexts.include, kind: 'lines' },
    hint: watchTexts.includeHint,
  },
  {
    ...{ name: 'exclude_patterns', label: watchTexts.exclude, kind: 'lines' },
    hint: watchTexts.excludeHint,
  },
]
