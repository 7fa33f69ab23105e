import { countOf, formatNumber } from '../../lib/format.ts'

/** Whether a score is of several days: that of one is 0 or 100 % by chance. */
export const hasHistory = (scores: readonly (number | null)[]) =>
  scores.filter(score => score !== null).length > 1

/** The sentences of the overviews of a company and of a source, in English. */
export const overviewTexts = {
  dimensions: {
    freshness: 'Freshness',
    volume: 'Volume',
    schema: 'Schema',
    validity: 'Validity',
    contracts: 'Contracts',
    pipelines: 'Pipelines',
  },
  incidents: 'Open incidents',
  allIncidents: (total: number) => (total === 1 ? 'Open it' : `All ${formatNumber(total)} incidents`),
  noIncident: 'No incident is open.',
  incident: 'Incident',
  reach: 'Reach',
  reachOf: (assets: number, downstream: number) =>
    `${countOf(assets, 'table')}${downstream > 0 ? `, ${formatNumber(downstream)} downstream` : ''}`,
  downstream: (count: number) => (count === 0 ? '' : `${formatNumber(count)} downstream`),
  owner: 'Owner',
  assignee: 'Assignee',
  unassigned: 'unassigned',
  age: 'Age',
  trend: 'Alerts opened, last 30 days',
  noAlerts: 'No alert was opened in the last 30 days.',
  dayOf: (day: string, parts: string) => `${day}: ${parts}`,
  mostOfDay: (most: number) => `${formatNumber(most)} on the worst day`,
  medians: 'Median of 30 days',
  noticed: 'noticed',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  score: 'Quality score, last 30 days',
  scoreOf: (score: number | null, scores: readonly (number | null)[]) =>
    score === null ? '–' : hasHistory(scores) ? `${score} %` : 'one day so far',
  scoreText:
    'The share of days of watched tables on which no critical or warning alert about the table was open.',
  notScored: 'Nothing is watched yet, so there is no score.',
  today: (affected: number, watched: number) =>
    `${affected === 0 ? 'None' : formatNumber(affected)} of ${countOf(watched, 'watched table')} ${affected > 1 ? 'have' : 'has'} an alert today.`,
  historyOf: (name: string) => `Quality score of ${name} by day`,
  grid: 'What is open, by source',
  watched: 'Watched',
  watchedOf: (watched: number, total: number) => `${formatNumber(watched)} of ${formatNumber(total)}`,
  quality: 'Quality, 30 days',
  openOf: (count: number, severity: string) =>
    `${countOf(count, 'open alert')}, the worst ${severity === 'info' ? 'an' : 'a'} ${severity} one`,
  none: 'none open',
  groups: 'Quality by team and tag',
  noGroups: 'Give tables an owner or a tag to see their quality here.',
  team: 'team',
  tag: 'tag',
  tables: 'Tables',
  changes: 'Schema changes to review',
  allChanges: 'All changes',
  noChanges: 'No schema change waits for review.',
  unwatched: (count: number) => `${countOf(count, 'table is', 'tables are')} not watched`,
  watchThem: (count: number) => (count === 1 ? 'Watch it' : 'Watch them'),
  // Source
  openAlerts: 'Open alerts',
  freshnessWatched: ({ freshness, volume, tables }: { freshness: number; volume: number; tables: number }) =>
    `freshness of ${formatNumber(freshness)}, volume of ${formatNumber(volume)} of ${countOf(tables, 'table')}`,
  discovery: 'Discovery',
  nextDiscovery: (when: string) => `next ${when}`,
  never: 'never',
  byHand: 'by hand only',
  schedule: 'Schedule it',
  coverage: 'Coverage',
  cost: 'Cost a day, last 7 days',
  costOf: (statements: number, seconds: number) =>
    `${countOf(Math.round(statements), 'statement')}, ${formatNumber(seconds)} s`,
  costTab: 'What it is made of',
  withAlerts: (count: number) => `${formatNumber(count)} with an alert today`,
  tablesByState: 'Tables by state',
  those: { failing: 'those with failing checks', stale: 'those that are stale' },
} as const
