import { watchTexts } from '../texts/watching.ts'
import type { FieldSpec, Values } from './schema.ts'

const MODE: FieldSpec = {
  ...{ name: 'monitoring_mode', label: 'When it is late', kind: 'choice', initial: 'auto_learn' },
  choices: Object.entries(watchTexts.modes),
}

const THRESHOLD: FieldSpec = {
  ...{ name: 'sla_threshold', label: 'Greatest age', kind: 'text', isRequired: true, maxLength: 20 },
  hint: watchTexts.thresholdHint,
}

/** The interval of checks. @param stored an interval that the API was given */
const intervalField = (stored?: string): FieldSpec => ({
  ...{ name: 'check_interval', label: 'Checked every', kind: 'choice', initial: '1h' },
  choices: [
    ...Object.entries(watchTexts.intervals),
    ...(stored !== undefined && !Object.hasOwn(watchTexts.intervals, stored)
      ? [[stored, stored] as const]
      : []),
  ],
})

/** The fields of when a table is late: all of them, and those to show for what was chosen. */
export function termFields(values: Values, stored?: string): FieldSpec[] {
  return [MODE, ...(values[MODE.name] === 'explicit' ? [THRESHOLD] : []), intervalField(stored)]
}

/** All fields of terms, whatever is chosen. */
export const allTermFields = (stored?: string): FieldSpec[] => [MODE, THRESHOLD, intervalField(stored)]
