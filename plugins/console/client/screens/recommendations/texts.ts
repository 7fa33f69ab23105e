import { countOf } from '../../lib/format.ts'

/** The sentences of the screen of recommended checks, in English. */
export const recommendationTexts = {
  title: 'Recommended checks',
  kinds: {
    validity: 'Rules',
    metric: 'Metrics',
    referential: 'References',
    comparison: 'Comparisons',
    freshness: 'Freshness',
  },
  statuses: {
    applied: 'There already',
    dismissed: 'Dismissed',
    removed: 'Removed by a person',
    noisy: 'Would have alerted',
  },
  check: 'Check',
  confidence: 'Confidence',
  quiet: { profile: 'All rows of the profile are valid.', past: 'Its past was quiet.' },
  apply: 'Create',
  applying: 'Creating…',
  applyAllText: (checks: number, statements: number) =>
    `${countOf(checks, 'check')} would be created, with ${countOf(statements, 'statement')} more a day at the source.`,
  applied: (count: number) => `Created ${countOf(count, 'check')}. The first results come within minutes.`,
  dismiss: 'Dismiss',
  restore: 'Offer again',
  restored: (count: number) =>
    `${countOf(count, 'recommendation')} ${count === 1 ? 'is' : 'are'} offered again.`,
  past: 'The last 60 days',
  notTried: 'It was not tried on the past yet.',
}
