import type { AlertKind } from '../alerts/api.ts'

export const referentialFailure: AlertKind = {
  name: 'referential_failure',
  label: 'referential',
  isRechecked: true,
  ruleIdOf: ({ cause }) => cause,
  facts: (details, { fill, join }) => [
    ['Column', details.child_column_name],
    ['Parent', join([details.parent_table_path, details.parent_column_name], '.')],
    ['Found', fill`${details.orphan_count} of ${details.total_child_rows} rows are orphans`],
    [
      'Expected',
      join([
        fill`at most ${details.max_orphan_count} orphans`,
        fill`at most ${details.max_orphan_percent} % orphans`,
        fill`at least ${details.min_child_count} rows of each parent`,
        fill`at most ${details.max_child_count} rows of each parent`,
      ]),
    ],
  ],
}
