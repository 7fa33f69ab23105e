import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind } from '../alerts/api.ts'

export const comparisonFailure: AlertKind = {
  name: 'comparison_failure',
  title: 'tables differ',
  label: 'comparison',
  isRechecked: true,
  details: Joi.object({
    check_id: held.id,
    table_path: held.text,
    right_source: held.text,
    right_table_path: held.text,
    level: held.text,
    filter: held.text.description('The rows of the left table that it is about, of a check with a filter.'),
    differing_rows: held.count,
    rows_left: held.count,
    rows_right: held.count,
    only_left: held.count.allow(null),
    only_right: held.count.allow(null),
    differing: held.count.allow(null),
    differing_percent: held.number,
    differing_columns: Joi.object()
      .pattern(Joi.string(), held.count)
      .description('Rows that differ in each column.'),
    max_differing_rows: held.count.allow(null),
    max_differing_percent: held.number.allow(null),
    bucket_start: held.time.description('The bucket of time that it is about, of a check with a window.'),
    bucket_end: held.time,
  }),
  ruleIdOf: ({ cause }) => cause,
  facts: (details, { join }) => [
    ['Compared with', join([details.right_source, details.right_table_path], ': ')],
    ['Rows', details.filter],
    ['Only left', details.only_left],
    ['Only right', details.only_right],
    ['Other values', details.differing],
  ],
}
