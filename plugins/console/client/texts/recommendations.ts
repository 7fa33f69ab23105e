import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the screen of recommended checks, in English. */
export const recommendationTexts = {
  title: 'Recommended checks',
  found: (count: number) => countOf(count, 'recommended check'),
  chooseSource: 'Source',
  kinds: {
    validity: 'Rules',
    metric: 'Metrics',
    referential: 'References',
    freshness: 'Freshness',
  },
  anyConfidence: 'Any confidence',
  confidenceFrom: (percent: number) => `Confidence from ${percent} %`,
  offered: 'Offered',
  statuses: {
    applied: 'There already',
    dismissed: 'Dismissed',
    removed: 'Removed by a person',
    noisy: 'Would have alerted',
  },
  status: 'Status',
  check: 'Check',
  reason: 'Why',
  confidence: 'Confidence',
  cost: 'Cost a day',
  noFurther: 'No further statement',
  statements: (statements: number, rows: number | null) =>
    `${countOf(statements, 'statement')}${rows === null ? '' : `, ${formatNumber(rows)} rows`}`,
  quiet: { profile: 'All rows of the profile are valid.', past: 'Its past was quiet.' },
  apply: 'Create',
  applying: 'Creating…',
  applyAll: (count: number) => `Create all ${formatNumber(count)}`,
  applyAllTitle: 'Create all that match',
  applyAllText: (checks: number, statements: number) =>
    `${countOf(checks, 'check')} would be created, with ${countOf(statements, 'statement')} more a day at the source.`,
  applied: (count: number) => `Created ${countOf(count, 'check')}. The first results come within minutes.`,
  dismiss: 'Dismiss',
  dismissed: (count: number) => `Dismissed ${countOf(count, 'recommendation')}.`,
  restore: 'Offer again',
  restored: (count: number) =>
    `${countOf(count, 'recommendation')} ${count === 1 ? 'is' : 'are'} offered again.`,
  selectAll: 'Select all recommendations on this page',
  details: 'Details',
  evidence: 'Evidence',
  settings: 'Settings of the check',
  past: 'The last 60 days',
  pastOf: (check: string) => `${check} in the last 60 days`,
  alerts: (count: number) => (count === 0 ? 'No alert.' : `${countOf(count, 'alert')}.`),
  notTried: 'It was not tried on the past yet.',
  none: 'Nothing to recommend',
  noneText:
    'Every check that the evidence speaks for is there, or decided on. A source that is watched at the level standard has its tables profiled, and more can be said of their columns.',
  noneOfTable:
    'Every check that the evidence speaks for is there, or decided on. A new profile may show more of its columns.',
  noMatch: 'No recommendation matches',
  noSources: 'No sources yet',
  toSources: 'Add a source',
  toTables: 'Watch its tables',
  toProfile: 'See its profile',
  openDetails: 'Show or hide details',
}
