import { countOf, formatNumber, formatSpan } from '../../lib/format.ts'

/** The sentences of the page of one alert, in English. */
export const alertTexts = {
  found: 'Found',
  expected: 'Expected',
  deviation: 'Deviation',
  newest: 'Newest data',
  lastPass: 'Last good value',
  neverPassed: 'none: it never passed in the results that are kept',
  incident: 'Incident',
  isCause: 'this alert is the cause',
  upstream: 'Upstream',
  upstreamOk: (watched: number, unwatched: number) =>
    watched === 0
      ? `Nothing is known to fail: none of ${countOf(unwatched, 'table')} upstream is watched`
      : `Nothing upstream is failing (${countOf(watched, 'table')} watched${unwatched > 0 ? `, ${unwatched} not` : ''})`,
  upstreamUnwatched: (count: number) => `${countOf(count, 'table')} upstream not watched`,
  steps: (count: number) => `${countOf(count, 'step')} upstream`,
  noLineage: 'No lineage is known',
  noUpstream: 'No table is known to be upstream',
  downstream: 'Affected downstream',
  noDownstream: 'Nothing is known to be made from it',
  tables: (count: number) => countOf(count, 'table'),
  dashboards: (count: number, areDashboards: boolean) =>
    areDashboards ? countOf(count, 'dashboard') : countOf(count, 'use', 'uses') + ' outside of the catalog',
  more: (count: number) => `and ${count} more`,
  owners: 'Owners',
  isIncomplete: 'There is more than was followed.',
  people: 'People and comments',
  owner: 'Owner',
  noOwner: 'no owner',
  copyLink: 'Copy link',
  why: 'Why',
} as const

/** The value of a result of the check that raised an alert, as people say it; null where its kind has no one value. */
export function describeValue(
  kind: string,
  details: { metric_type?: string },
  value: number | null,
): string | null {
  if (value === null) return null
  switch (kind) {
    case 'metric_anomaly': {
      const { metric_type: type = '' } = details
      return type === 'row_count'
        ? countOf(value, 'row')
        : `${formatNumber(value)}${type.endsWith('percent') ? ' %' : ''}`
    }
    case 'validity_failure':
      return value === 0 ? 'no invalid rows' : `${formatNumber(value)} % invalid`
    case 'freshness_violation':
      return `${formatSpan(value)} old`
    case 'referential_failure':
      return `${countOf(value, 'row')} without a match`
    default:
      return null
  }
}
