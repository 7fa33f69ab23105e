import { countOf } from '../lib/format.ts'

/** The sentences about what lies downstream of a change, in English. */
export const impactTexts = {
  impact: 'what it hits',
  tables: 'Tables made from it',
  outside: 'Dashboards and others',
  owners: 'Owners to notify',
  checks: 'Checks',
  contracts: 'Contracts',
  steps: (steps: number) => countOf(steps, 'step'),
  possible: 'possibly',
  columnsUnknown: 'Its columns are not known, so it may not use what is changed.',
  rows: 'its rows',
  assets: (count: number) => countOf(count, 'asset'),
  incomplete: 'There is more than was followed.',
  seeLineage: 'See the lineage',
} as const
