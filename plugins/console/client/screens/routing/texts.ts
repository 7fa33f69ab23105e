import { countOf } from '../../lib/format.ts'

/** The sentences of destinations and alert rules, in English. */
export const routingTexts = {
  title: 'Alert routing',
  destinations: 'Destinations',
  rules: 'Rules',
  escalation: 'Escalation',
  escalationHint:
    'Who is notified next while no person has acknowledged or snoozed the alert. Minutes count from the first message.',
  step: (n: number) => `Step ${n}`,
  afterMinutes: 'After minutes',
  addStep: 'Add a step',
  removeStep: 'Remove the step',
  stepsOutOfOrder: 'Each step needs a later time than the one before.',
  stepsWithoutDestination: 'Each step needs a destination.',
  muteWindows: 'Mute windows',
  muteWindow: 'Mute window',
  addMuteWindow: 'Add a mute window',
  deleteMuteWindow: 'Delete mute window',
  openAt: 'When',
  mutes: 'Mutes',
  isOver: 'over',
  isClosed: 'closed now',
  badTimes: 'Give a start, and an end after it.',
  badPeriods: 'Give at least one period, each with days, a start and an end.',
  destination: 'Destination',
  rule: 'Rule',
  destinationsTitle: (total: number, failing: number) =>
    failing > 0
      ? `${failing} of ${countOf(total, 'destination')} ${failing === 1 ? 'takes' : 'take'} no messages`
      : `Alerts go to ${countOf(total, 'destination')}`,

  // States of a destination
  active: 'active',
  paused: 'paused',
  takesMessages: (name: string) => `${name} takes messages`,
  isPaused: (name: string) => `${name} is paused: it gets no messages`,
  isUntested: (name: string) => `${name} has not accepted a message yet`,
  isFailing: (name: string) => `${name} takes no messages`,
  isDisabled: (name: string) => `${name} was switched off automatically`,
  failingSince: 'Every attempt has failed since',
  seeWhy: 'See why',

  // The list of destinations
  addDestination: 'Add a destination',
  withoutRules: 'There are no rules: every destination gets all warnings and critical alerts.',
  addRule: 'Add a rule',
  sendTest: 'Send a test',
  pause: 'Pause',

  // A new destination
  messageChoices: { alerts: 'About each alert', incidents: 'About incidents' },
  verifyText:
    'X-Service-Signature is sha256= and the HMAC-SHA256 of the raw body in hexadecimal; the key is the whole secret.',

  // A destination
  testTitle: 'Outcome of the test',
  answer: 'Answer of the receiver',
  inMs: (ms: number) => `${ms.toLocaleString('en-GB')} ms`,
  slow: 'slow: receivers should answer within 5 seconds',
  messages: 'Messages',
  settings: 'Settings',
  rotate: 'Rotate secret',
  rotateText:
    'Messages are signed with the new secret at once. The old one also signs for 24 hours, so that receivers have time to change.',
  deleteDestination: 'Delete destination',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteDestinationText: 'Its pending messages are stopped and its secrets are erased. The rules lose it.',

  // Deliveries
  typeOf: {
    'alert.triggered': 'opened',
    'alert.resolved': 'ended',
    'alert.test': 'test',
    digest: 'digest',
  } as Record<string, string>,
  message: 'Message',
  redeliver: 'Redeliver',

  // Rules
  matches: 'Matches',
  sendsTo: 'Sends to',
  cooldown: 'Cooldown',
  inAssets: (count: number) => `of ${countOf(count, 'source or table', 'sources or tables')}`,
  backToRules: 'All rules',
  deleteRule: 'Delete rule',
  description: 'Description',
  tagModes: [
    ['any', 'any of the tags'],
    ['all', 'all of the tags'],
  ],
  assets: 'Sources and tables',
  isUnknownMore: (count: number) => `and ${count} more`,

  // Preview
  previewTitle: 'What it would have sent',
  spans: { 1: 'last day', 7: 'last week', 30: 'last 30 days' } as Record<string, string>,
  previewCount: (sent: number, matched: number) =>
    matched === 0 ? 'Nothing: no alert matches.' : `${sent} of ${countOf(matched, 'matching alert')}`,
  perDay: (count: string) => `${count} a day`,
  later: (count: number) => `${count} only when the cooldown ended`,
  heldBack: (count: number) => `${count} held back: over before the cooldown ended`,
  newestOf: (shown: number, total: number) => `The newest ${shown} of ${total.toLocaleString('en-GB')}:`,
  outcomes: { told: 'sent', postponed: 'sent later', held_back: 'held back' },
} as const
