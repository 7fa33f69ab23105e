import { countOf } from '../../lib/format.ts'

/** What an action of the audit log is called, where its code does not read as "updated the source". */
const actions: Record<string, string> = {
  'schema_change.acknowledged': 'accepted schema changes of',
  'watch.created': 'began to watch',
  'schedule.created': 'created the freshness schedule of',
  'owners.set': 'set the owners of',
  'owners.removed': 'removed an owner of',
  'user.registered': 'registered',
  'user.signed_in': 'signed in',
  'user.signed_out': 'signed out',
  'user.sign_in_failed': 'could not sign in',
  'user.locked': 'was locked after failed sign-ins',
  'user.linked': 'linked a sign-in provider',
  'user.unlinked': 'unlinked a sign-in provider',
  'user.link_failed': 'could not link a sign-in provider',
  'user.password_changed': 'changed the password',
  'user.password_removed': 'removed the password',
  'user.password_reset': 'reset the password',
  'user.password_reset_requested': 'sent a link to reset the password',
  'user.invited': 'invited a user',
  'session.reused': 'had a session ended: its token was used twice',
  'source.discovery_requested': 'started a discovery of the source',
  'company.plan_changed': 'changed the plan',
  'secrets.rotated': 'rotated the secret key',
  'delivery.resent': 'sent a message again',
  'preferences.updated': 'changed preferences',
  'preferences.reset': 'reset preferences',
}

/** The sentences of the audit log, in English. */
export const auditTexts = {
  actions,
  /** What the list of actions offers; an address can name any other. */
  filters: [
    'user.signed_in',
    'user.sign_in_failed',
    'user.invited',
    'user.updated',
    'user.removed',
    'api_key.created',
    'api_key.revoked',
    'source.created',
    'source.updated',
    'source.deleted',
    'destination.created',
    'destination.updated',
    'destination.deleted',
  ],
  tagged: (names: readonly string[]) =>
    `applied the ${names.length === 1 ? 'tag' : 'tags'} ${names.join(', ')} to`,
  verify: 'Verify the log',
  isWhole: (entries: number) =>
    `The log is whole: ${countOf(entries, 'entry', 'entries')}, each with the hash of the one before it.`,
  isBroken: (entry: number, problem: string) => `The log was tampered with at entry ${entry}: ${problem}.`,
  wholeUntil: (entries: number) => `${countOf(entries, 'entry', 'entries')} before it match.`,
  head: (id: number) => `Hash of entry ${id}:`,
  action: 'Action',
  by: 'By',
  of: 'About',
  entry: 'Entry',
  nothing: 'none',
}
