import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind } from '../alerts/api.ts'

export const referentialFailure: AlertKind = {
  name: 'referential_failure',
  title: 'broken references',
  label: 'referential',
  isRechecked: true,
  details: Joi.object({
    check_id: held.id,
    child_table_path: held.text,
    child_column_name: held.text,
    filter: held.text.description('The rows that it is about, of a check with a filter.'),
    bucket_start: held.time.description('The bucket of time that it is about, of a check with a window.'),
    bucket_end: held.time,
    parent_table_path: held.text,
    parent_column_name: held.text,
    orphan_count: held.count.allow(null),
    orphan_percent: held.number.allow(null),
    total_child_rows: held.count.allow(null),
    parents_below_min: held.count.allow(null),
    parents_above_max: held.count.allow(null),
    max_orphan_count: held.count.allow(null),
    max_orphan_percent: held.number.allow(null),
    min_child_count: held.count.allow(null),
    max_child_count: held.count.allow(null),
  }),
  ruleIdOf: ({ cause }) => cause,
  facts: (details, { fill, join }) => [
    ['Column', details.child_column_name],
    ['Rows', details.filter],
    ['Parent', join([details.parent_table_path, details.parent_column_name], '.')],
    ['Without a match', fill`${details.orphan_count} of ${details.total_child_rows} rows`],
  ],
}
