import type { AlertKind } from '../alerts/api.ts'
import { learnExpected } from './feedback.ts'

export const validityFailure: AlertKind = {
  name: 'validity_failure',
  label: 'validity',
  isRechecked: true,
  ruleIdOf: ({ cause }) => cause,
  learnExpected,
  facts: ({ column_name, invalid_count, total_rows, threshold, band }, { fill, range }) => [
    ['Column', column_name],
    ['Found', fill`${invalid_count} of ${total_rows} rows are invalid`],
    ['Expected', fill`${range(band) ?? fill`at most ${threshold}`} % invalid`],
  ],
}
