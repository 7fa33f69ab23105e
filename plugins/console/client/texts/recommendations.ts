import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the screen of recommended checks, in English. */
export const recommendationTexts = {
  title: 'Recommended checks',
  found: (count: number) => countOf(count, 'recommended check'),
  kinds: {
    validity: 'Rules',
    metric: 'Metrics',
    referential: 'References',
    freshness: 'Freshness',
  },
  confidenceFrom: (percent: number) => `Confidence from ${percent} %`,
  statuses: {
    applied: 'There already',
    dismissed: 'Dismissed',
    removed: 'Removed by a person',
    noisy: 'Would have alerted',
  },
  check: 'Check',
  confidence: 'Confidence',
  statements: (statements: number, rows: number | null) =>
    `${countOf(statements, 'statement')}${rows === null ? '' : `, ${formatNumber(rows)} rows`}`,
  quiet: { profile: 'All rows of the profile are valid.', past: 'Its past was quiet.' },
  apply: 'Create',
  applying: 'Creating…',
  applyAll: (count: number) => `Create all ${formatNumber(count)}`,
  applyAllText: (checks: number, statements: number) =>
    `${countOf(checks, 'check')} would be created, with ${countOf(statements, 'statement')} more a day at the source.`,
  applied: (count: number) => `Created ${countOf(count, 'check')}. The first results come within minutes.`,
  dismiss: 'Dismiss',
  dismissed: (count: number) => `Dismissed ${countOf(count, 'recommendation')}.`,
  restore: 'Offer again',
  restored: (count: number) =>
    `${countOf(count, 'recommendation')} ${count === 1 ? 'is' : 'are'} offered again.`,
  past: 'The last 60 days',
  pastOf: (check: string) => `${check} in the last 60 days`,
  alerts: (count: number) => (count === 0 ? 'No alert.' : `${countOf(count, 'alert')}.`),
  notTried: 'It was not tried on the past yet.',
}
