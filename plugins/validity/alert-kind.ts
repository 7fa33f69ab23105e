import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind } from '../alerts/api.ts'

export const validityFailure: AlertKind = {
  name: 'validity_failure',
  title: 'invalid rows',
  label: 'validity',
  isRechecked: true,
  details: Joi.object({
    rule_id: held.text,
    rule_type: held.text,
    table_path: held.text,
    column_name: held.text.allow(null),
    filter: held.text.description('The rows that it is about, of a check with a filter.'),
    bucket_start: held.time.description('The bucket of time that it is about, of a check with a window.'),
    bucket_end: held.time,
    invalid_count: held.count.allow(null),
    invalid_percent: held.number.allow(null),
    total_rows: held.count.allow(null),
    finding: held.text.description(
      'What a rule found that is about a number: `40 %, expected at most 10 %`.',
    ),
    threshold: held.number.description('The highest percentage, of a rule in manual mode.'),
    band: Joi.object({
      expected: held.number.allow(null),
      low: held.number.allow(null),
      high: held.number.allow(null),
    }).description('The usual percentage, of a rule in auto mode.'),
    explanation: held.text,
    history: Joi.array().items(
      Joi.object({
        checked_at: held.time,
        value: held.number.allow(null),
        total_rows: held.count.allow(null),
      }),
    ),
  }),
  ruleIdOf: ({ cause }) => cause,
  // Its title says what was expected.
  facts: ({ column_name, filter, invalid_count, total_rows }, { fill }) => [
    ['Column', column_name],
    ['Rows', filter],
    ['Invalid', fill`${invalid_count} of ${total_rows} rows`],
  ],
}
