import { formatTime } from '../lib/format.ts'

/** The sentences of what is shown to people without an account, in English. */
export const shareTexts = {
  share: 'Share',
  badge: 'Badge',
  makeBadge: 'Create a badge',
  label: 'Text on the left',
  withFreshness: 'Fails when the table is stale',
  withDrift: 'Fails while schema changes are not reviewed',
  revoke: 'Revoke',
  revokeOf: (label: string) => `Revoke: ${label}`,
  chart: 'Link to a chart',
  check: 'Check',
  expires: 'Works for',
  days: (days: number) => (days === 1 ? '1 day' : `${days} days`),
  makeLink: 'Create a link',
  linkOf: (check: string, until: string) => `${check}, until ${formatTime(until)}`,
}
