import type { FieldSpec } from '../../forms/schema.ts'

/** How long a person pauses before a request is tried. */
export const PAUSE_MS = 400

/** The fields that choose tables of a source. */
export const patternFields: FieldSpec[] = [
  {
    ...{ name: 'include_patterns', label: 'Tables to watch', kind: 'lines' },
    hint: 'Such as sales.* or *.orders_*, one on each line. Empty for all.',
  },
  {
    ...{ name: 'exclude_patterns', label: 'Tables to leave out', kind: 'lines' },
    hint: 'Such as tmp_*, also where they are included above.',
  },
]
