import type { AlertRule } from 'tidemark/client'
import { countOf } from '../lib/format.ts'

/** The sentences of destinations and alert rules, in English. */
export const routingTexts = {
  title: 'Alert routing',
  destinations: 'Destinations',
  rules: 'Rules',
  destination: 'Destination',
  rule: 'Rule',
  destinationsTitle: (total: number, failing: number) =>
    failing > 0
      ? `${failing} of ${countOf(total, 'destination')} ${failing === 1 ? 'takes' : 'take'} no messages`
      : `Alerts go to ${countOf(total, 'destination')}`,
  rulesTitle: (count: number) => `${countOf(count, 'rule decides', 'rules decide')} who hears of what`,

  // States of a destination
  active: 'active',
  paused: 'paused',
  failing: 'failing',
  untested: 'not tested',
  disabled: 'switched off',
  takesMessages: (name: string) => `${name} takes messages`,
  isPaused: (name: string) => `${name} is paused: it gets no messages`,
  isUntested: (name: string) => `${name} has not accepted a message yet`,
  isFailing: (name: string) => `${name} takes no messages`,
  isDisabled: (name: string) => `${name} was switched off automatically`,
  failingSince: 'Every attempt has failed since',
  seeWhy: 'See why',

  // The list of destinations
  addDestination: 'Add a destination',
  nowhere: 'Alerts are sent nowhere yet',
  nowhereText: 'A destination is where messages about alerts go: a channel, a pager, mail, or a webhook.',
  withoutRules: 'There are no rules: every destination gets all warnings and critical alerts.',
  addRule: 'Add a rule',
  lastMessage: 'Last message',
  failures24h: 'Failed in 24 h',
  messages24h: 'Sent in 24 h',
  nextStep: 'Next step',
  sendTest: 'Send a test',
  resume: 'Resume',
  pause: 'Pause',
  fix: 'See why',

  // A new destination
  chooseType: 'Where are alerts to go?',
  otherType: 'Choose another type',
  newOf: (label: string) => `New destination: ${label}`,
  create: 'Create destination',
  creating: 'Checking the address…',
  destinationHint: 'Such as the team or the channel that reads it.',
  secretTitle: 'The signing secret, shown once',
  secretText:
    'Your receiver verifies with it that a message comes from here. Keep it where the receiver reads its secrets. Slack, Teams, PagerDuty and mail do not need it.',
  howToVerify: 'How a receiver verifies a message',
  verifyText:
    'X-Service-Signature is sha256= and the HMAC-SHA256 of the raw body in hexadecimal; the key is the whole secret.',

  // A destination
  noSuchDestination: 'There is no such destination',
  noSuchDestinationText: 'It may have been deleted.',
  testing: 'Sending…',
  testTitle: 'Outcome of the test',
  accepted: 'accepted',
  refused: 'not accepted',
  answer: 'Answer of the receiver',
  noAnswerText: 'The answer was empty.',
  statusCode: 'Status',
  latency: 'Latency',
  inMs: (ms: number) => `${ms.toLocaleString('en-GB')} ms`,
  slow: 'slow: receivers should answer within 5 seconds',
  address: 'Address',
  messages: 'Messages',
  settings: 'Settings',
  receivesBy: 'Rules that send to it',
  receivesByDefault: 'No rule: it gets all warnings and critical alerts.',
  receivesNothing: 'No rule sends to it.',
  created: 'Created',
  saved: 'The destination was changed.',
  resumed: 'The destination gets messages again.',
  pausedNow: 'The destination gets no messages until you resume it.',
  rotate: 'Rotate secret',
  rotateTitle: 'Rotate the signing secret?',
  rotateText:
    'Messages are signed with the new secret at once. The old one also signs for 24 hours, so that receivers have time to change.',
  rotatedText: (until: string) =>
    `Keep it where the receiver reads its secrets. The old secret also signs until ${until}.`,
  deleteDestination: 'Delete destination',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteDestinationText: 'Its pending messages are stopped and its secrets are erased. The rules lose it.',
  switchesOff: 'These rules have no other destination and are switched off:',
  sampleHint: 'A stored secret is kept where you write nothing.',

  // Deliveries
  anyStatus: 'Any status',
  anyType: 'Any message',
  typeOf: {
    'alert.triggered': 'alert opened',
    'alert.resolved': 'alert ended',
    'alert.test': 'test',
  } as Record<string, string>,
  noMessages: 'No message was sent yet',
  noMessagesText: 'Send a test to see whether messages arrive.',
  noMatchingMessages: 'No message matches',
  message: 'Message',
  about: 'About',
  sent: 'Created',
  outcome: 'Outcome',
  attempts: 'Attempts',
  attemptsOf: (count: number) => countOf(count, 'attempt'),
  openAlert: 'the alert',
  redeliver: 'Redeliver',
  redelivered: 'The message is on its way again.',
  nextAttempt: 'Next attempt',
  started: 'Started',
  noAttempts: 'No attempt was made yet.',
  reload: 'Reload',

  // Rules
  noRules: 'There are no rules',
  noRulesText:
    'Every destination gets all warnings and critical alerts. The first rule replaces that: from then on only what a rule selects is sent.',
  matches: 'Matches',
  sendsTo: 'Sends to',
  cooldown: 'Cooldown',
  noCooldown: 'none',
  otherDestinations: (count: number) => `${count} more`,
  noDestination: 'no destination',
  chooseDestination: 'Choose a destination',
  allAlerts: 'all alerts',
  tagged: (tags: readonly string[], mode: string | null) =>
    `tagged ${tags.join(mode === 'all' ? ' and ' : ' or ')}`,
  inAssets: (count: number) => `of ${countOf(count, 'source or table', 'sources or tables')}`,
  newRule: 'New rule',
  createRule: 'Create rule',
  noSuchRule: 'There is no such rule',
  backToRules: 'All rules',
  ruleCreated: 'The rule was created.',
  ruleSaved: 'The rule was changed.',
  ruleDeleted: 'The rule was deleted.',
  ruleResumed: 'The rule sends again.',
  rulePaused: 'The rule sends nothing until you resume it.',
  deleteRule: 'Delete rule',
  deleteRuleText:
    'Alerts and sent messages stay. When no rule is left, every destination gets all warnings and critical alerts.',
  description: 'Description',
  kinds: 'Kinds of alerts',
  kindsHint: 'None ticked: all but discovery done.',
  severities: 'Severities',
  severitiesHint: 'None ticked: all severities.',
  tags: 'Tags',
  tagsHint: 'Tags of the table, one on each line. Empty: any.',
  tagMode: 'A table needs',
  tagModes: [
    ['any', 'any of the tags'],
    ['all', 'all of the tags'],
  ],
  sendTo: 'Send to',
  cooldownMinutes: 'Cooldown in minutes',
  cooldownHint: 'Within it one message per cause; a later one waits until it ends. 0: no cooldown.',
  pausedChoice: (name: string) => `${name} (paused)`,
  needsDestination: 'A rule needs a destination to send to.',
  assets: 'Sources and tables',
  anyAsset: 'all',
  assetsHint: 'None ticked: all sources and tables. A source stands for all its tables.',
  assetsGone:
    'The sources and tables of this rule were deleted, so it selects nothing. Choose others, or save it for all.',
  findTable: 'Add a table: search for its name',
  noTable: 'No table has this name.',
  unknownAsset: 'a table that no longer exists',
  isUnknownMore: (count: number) => `and ${count} more`,

  // Preview
  previewTitle: 'What it would have sent',
  previewSpan: 'Time',
  spans: { 1: 'last day', 7: 'last week', 30: 'last 30 days' } as Record<string, string>,
  previewCount: (sent: number, matched: number) =>
    matched === 0 ? 'Nothing: no alert matches.' : `${sent} of ${countOf(matched, 'matching alert')}`,
  perDay: (count: string) => `${count} a day`,
  later: (count: number) => `${count} only when the cooldown ended`,
  heldBack: (count: number) => `${count} held back: over before the cooldown ended`,
  perDestination: 'Messages by destination',
  previewNoDestination: 'Choose a destination to see how many messages it would have got.',
  previewAlerts: 'Alerts',
  newestOf: (shown: number, total: number) => `The newest ${shown} of ${total.toLocaleString('en-GB')}:`,
  outcomes: { told: 'sent', postponed: 'sent later', held_back: 'held back' },
  previewNote: 'As if this were the only rule. Nothing is sent.',
} as const

type EventType = NonNullable<AlertRule['event_types']>[number]

/** The kinds of alerts that rules select, in words. */
export const KIND_NAMES: Record<EventType, string> = {
  validity_failure: 'invalid rows',
  metric_anomaly: 'unusual metric',
  referential_failure: 'broken references',
  freshness_violation: 'stale table',
  schema_change: 'schema change',
  contract_violation: 'broken contract',
  connection_failed: 'connection failed',
  discovery_complete: 'discovery done',
  destination_disabled: 'destination switched off',
}
