/** The sentences of digests, in English. */
export const digestTexts = {
  digests: 'Digests',
  digest: 'Digest',
  add: 'Add a digest',
  remove: 'Delete digest',
  removeTitle: (name: string) => `Delete ${name}?`,
  empty: 'There are no digests',
  about:
    'A digest sums up a day or a week for one destination: what broke, what was noticed late, which checks are noisy and what is not watched.',
  scope: 'About',
  everything: 'everything',
  mine: 'what I own',
  otherOwner: 'what a person or a former team owns',
  next: 'Next',
  frequencies: [
    ['weekly', 'every week'],
    ['daily', 'every day'],
  ],
  send: 'Send now',
  isOnItsWay: 'The digest is on its way.',
  previewTitle: 'What it would say now',
  needsDestination: 'Add a destination first: a digest is sent to one.',
  takers: 'Mail, Slack, Teams and webhooks take digests.',
  ended: 'There is no such digest',
} as const
