import { countOf } from './lib/format.ts'
import { frameTexts } from './texts/frame.ts'

/** What several screens say, and what is longer than a few words. */
export const texts = {
  ...frameTexts,

  // Everywhere
  close: 'Close',
  cancel: 'Cancel',
  saved: 'Saved.',
  next: 'Next',
  previous: 'Previous',
  rangeOf: (from: number, to: number, total: number) => `${from}–${to} of ${total.toLocaleString('en-GB')}`,
  thisPart: 'this part of the page',
  failedTo: (what: string) => `Could not load ${what}.`,
  couldNot: (action: string) => `Could not ${action}.`,
  noConnection: 'The server did not answer. Check the connection, then try again.',
  helpAbout: (about: string) => `Documentation: ${about}`,
  notFound: 'There is nothing at this address',
  all: 'All',
  none: 'None',

  // Frame
  people: 'People',
  teams: 'Teams and owners',
  apiKeys: 'API keys',
  auditLog: 'Audit log',
  operations: 'Operations',
  expiredTitle: 'Your session has ended',

  // Sign-in
  signIn: 'Sign in',
  email: 'Email',
  name: 'Name',
  signInWith: (provider: string) => `Sign in with ${provider}`,
  createAccount: 'Create an account',

  // Overview
  needAttention: (count: number, total: number | undefined) =>
    total === undefined
      ? `${countOf(count, 'table needs', 'tables need')} attention`
      : `${count.toLocaleString('en-GB')} of ${countOf(total, 'table')} ${count === 1 ? 'needs' : 'need'} attention`,
  triage: (count: number) => `Triage ${countOf(count, 'alert')}`,
  ofMonitored: (total: number) => `of ${countOf(total, 'table')} with a freshness schedule`,
  ofChecks: (total: number) => `of ${countOf(total, 'check')}`,
  ofTables: (total: number) => `of ${countOf(total, 'table')}`,
  watchOthers: (count: number) => (count === 1 ? 'Watch the other one' : `Watch ${count} more`),
  highRisk: (count: number) => `${count} of high risk`,
  sinceLastVisit: (when: string) => `Since your last visit (${when})`,
  attentionList: 'What to look at first',
  noSources: 'No source is connected yet',
  addSource: 'A source is a database or a warehouse that Tidemark watches. Add the first one.',
  addASource: 'Add a source',

  // Tables of sources and assets
  source: 'Source',
  engine: 'Engine',
  connection: 'Connection',
  freshness: 'Freshness',
  tables: 'Tables',
  table: 'Table',
  columns: 'Columns',
  column: 'Column',
  tags: 'Tags',
  lastDiscovery: 'Last discovery',
  status: 'Status',
  rows: 'Rows',
  discover: 'Discover now',
  testConnection: 'Test connection',
  notMonitored: 'not watched',
  updatesSeen: ({ seen, needed }: { seen: number; needed: number }) => `${seen} of ${needed} updates`,
  partlyWatched: (status: string, { freshness, tables }: { freshness: number; tables: number }) =>
    freshness < tables ? `${status}, ${freshness} of ${tables} watched` : status,
  rowsFrom: { engine: 'as the database estimates', row_count: 'by a row count', profile: 'by a profile' },
  checksOf: ({
    passing = 0,
    learning = 0,
    failing = 0,
    error = 0,
    pending = 0,
  }: Partial<Record<'passing' | 'learning' | 'failing' | 'error' | 'pending', number>>) =>
    [
      passing && `${passing} pass`,
      learning && `${learning} learning`,
      failing && `${failing} fail`,
      error && `${error} in error`,
      pending && `${pending} not yet run`,
    ]
      .filter(Boolean)
      .join(', ') || 'no checks',

  // Alerts
  inboxTitle: (count: number) =>
    count === 0 ? 'No alert is open' : countOf(count, 'alert is open', 'alerts are open'),
  kind: 'Kind',
  anyKind: 'Any kind',
  clearFilters: 'Clear filters',
  newAlerts: (count: number) => `Show ${countOf(count, 'new alert')}`,
  selected: (count: number) => `${count} selected`,
  select: (title: string) => `Select: ${title}`,
  hour: '1 hour',
  fourHours: '4 hours',
  day: '1 day',
  week: '1 week',
  done: { acknowledge: 'acknowledged', snooze: 'snoozed', resolve: 'resolved', dismiss: 'dismissed' },
  contract: 'Breaks the contract',
  openedAt: 'Opened',
  lastSeen: 'Last seen',
  history: 'History',
  deliveries: 'Messages',
  attempt: (n: number) => `Attempt ${n}`,
  evidence: 'Invalid rows',
  values: 'Values',
  rowsNotShown: 'The rows are only counted: the access level of the source allows no more.',
  openTable: 'Open table',
  readAlert: 'Read the alert',
  until: (when: string) => `until ${when}`,
  mutedUntil: (when: string) => `muted until ${when}`,

  // Catalog
  anyStatus: 'Any status',
  tableStatuses: {
    failing: 'failing checks',
    stale: 'stale',
    alerts: 'open alerts',
    unchecked: 'never checked',
  },

  // Table page
  tabLineage: 'Lineage',
  lastUpdate: 'Last update',
  threshold: 'Threshold',
  checkedAt: 'Checked',
  noChecksText: 'Checks find wrong values and unusual numbers.',
  howToAddChecks: 'How to add checks',
  type: 'Type',
  check: 'Check',
  value: 'Value',
  yes: 'yes',
  no: 'no',
  accept: 'Accept',
  acceptAll: 'Accept all changes',
  accepted: 'accepted',
  noChanges: 'No schema change was found',
  noChangesText: 'A discovery compares the columns and constraints with those of the last one.',
  ageOverTime: 'Age of the newest row at each check, in hours',
  checkNow: 'Check now',
  checking: 'Checking…',

  // Changes
  changesTitle: (count: number) =>
    count === 0 ? 'No schema change waits for review' : `${countOf(count, 'change')} to review`,
  /** What kind of change it is; what it hits is known by lineage alone. */
  risk: 'Risk',
  riskOf: (impact: string) => `${impact} risk`,

  // Charts
  expected: 'expected',
  anomaly: 'anomaly',
  shownRange: (from: string, to: string) => `${from} to ${to}`,
  expectedRange: (low: string, high: string) => `expected ${low} to ${high}`,

  paused: 'paused',
  changesToReview: 'schema changes to review',
  recommendations: 'Recommended checks',

  // Settings
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  role: 'Role',

  // Palette
  paletteHint: 'Tables, alerts, checks, documentation, screens',
} as const
