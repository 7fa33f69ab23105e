import { formatTime } from '../lib/format.ts'

/** The sentences of what is shown to people without an account, in English. */
export const shareTexts = {
  share: 'Share',
  badge: 'Badge',
  badgeText:
    'A small picture that says whether the checks of this table pass. Everyone who knows its address sees it.',
  makeBadge: 'Create a badge',
  label: 'Text on the left',
  withFreshness: 'Fails when the table is stale',
  withDrift: 'Fails while schema changes are not reviewed',
  copyMarkdown: 'Copy Markdown',
  copyHtml: 'Copy HTML',
  copyLink: 'Copy the link',
  revoke: 'Revoke',
  revokeOf: (label: string) => `Revoke: ${label}`,
  badgeRevoked: 'The badge was revoked: pages that show it get a grey picture.',
  chart: 'Link to a chart',
  chartText:
    'Everyone who has the link sees the chart of one check, without signing in, until the link expires.',
  check: 'Check',
  expires: 'Works for',
  days: (days: number) => (days === 1 ? '1 day' : `${days} days`),
  makeLink: 'Create a link',
  once: 'Copy the link now: it is not shown again.',
  noChecks: 'This table has no check with a chart.',
  linkOf: (check: string, until: string) => `${check}, until ${formatTime(until)}`,
  linkRevoked: 'The link was revoked.',
}
