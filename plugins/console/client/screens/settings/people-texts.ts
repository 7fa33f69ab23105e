import { countOf } from '../../lib/format.ts'

/** The sentences of the settings: your own user, people and API keys. In English. */
export const peopleTexts = {
  invitationMailed:
    'A mail with this link is on its way. The link is shown only now, if you would rather send it yourself.',
  invitationNotMailed: (problem: string | null) =>
    `${problem ? `${problem}. ` : ''}The link is shown only now. To get another one, invite them again.`,
  // Your own user
  showChecklist: 'Show the checklist of the overview again',
  signIn: 'How you sign in',
  password: 'Password',
  changePassword: 'Change password',
  removePassword: 'Remove password',
  linked: 'Linked',
  lastUsed: 'Last used',
  link: (provider: string) => `Link ${provider}`,
  linkText: (provider: string) => `${provider} opens, and sends you back here.`,
  unlink: (provider: string) => `Unlink ${provider}`,
  unlinkText: (provider: string) => `You can no longer sign in with ${provider}. Your sessions stay open.`,

  // People
  roles: {
    viewer: 'Viewer: sees everything',
    member: 'Member: also sets up and changes',
    admin: 'Admin: also manages people and keys',
  },
  actions: 'Actions',
  isYou: 'you',
  active: 'active',
  editOf: (name: string) => `Change ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeText: (email: string) =>
    `${email} is signed out at once and loses access. Histories still name them, and API keys that they created stay valid.`,
  invitations: 'Open invitations',
  moreInvitations: (count: number) => `Looked for in the newest ${count} invitations only.`,
  expires: 'Expires',
  hasExpired: 'expired',
  revoke: 'Revoke',
  revokeOf: (name: string) => `Revoke ${name}`,
  revokeInvitationText: (email: string) => `The link of ${email} no longer works.`,

  // API keys
  keysUsed: (count: number, most: number | null) =>
    most === null ? countOf(count, 'active API key') : `${count} of ${countOf(most, 'API key')} in use`,
  keyLimits: (perMinute: number, perSecond: number) =>
    `Each key may send ${perMinute.toLocaleString('en-GB')} requests per minute, and ${perSecond} per second.`,
  createKey: 'Create a key',
  name: 'Name',
  scope: 'Scope',
  scopes: {
    'read-only': 'Read only',
    'read-write': 'Read and write',
    admin: 'Admin: also manages keys and reads the log',
  },
  lifetimes: { '30': 'in 30 days', '90': 'in 90 days', '365': 'in a year', never: 'never' },
  created: 'Created',
}
