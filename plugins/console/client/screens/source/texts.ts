import { countOf } from '../../lib/format.ts'

/** The sentences of the screens on which sources are set up, in English. */
export const sourceTexts = {
  addOf: (engine: string) => `Connect ${engine}`,
  secretsHint: 'Secrets are encrypted and never shown again.',
  roleHint: 'A role that may only read is enough, and safer.',
  url: 'Paste a connection URL',
  urlHint: 'It fills in the fields below and is not kept; a password goes to its field.',
  filledIn: (fields: string) => `Filled in: ${fields}.`,
  notUrl: 'This is no connection URL, such as postgresql://user:password@host:5432/database.',
  otherEngine: (scheme: string) => `An address of ${scheme} is for another engine.`,
  readOnlyUser: 'Read-only user: a script to create one',
  readOnlyText: 'Run it as an administrator of the database, with a password of your own.',
  noScript: 'The documentation has no script for this engine.',
  tabTables: 'Tables',
  test: 'Test the connection',
  testText: 'Tries each stage with the saved settings, and says which one fails.',
  notConnected: 'Not connected',
  stages: { reach: 'Reach the server', tls: 'Encrypt', sign_in: 'Sign in', read_catalog: 'Read the catalog' },
  cannotEdit: 'Only members, admins and owners change sources.',
  accessLevels: { schema_only: 'Only the catalog', aggregates: 'Numbers', full: 'Numbers and invalid rows' },
  matching: (matched: number, total: number) => `${matched} of ${countOf(total, 'table')}`,
  andMore: (count: number) => `and ${count} more`,
  discovering: 'Discovering',
  found: (tables: number, columns: number) =>
    `Found ${countOf(tables, 'table')} with ${countOf(columns, 'column')}.`,
  unread: (count: number) => `${countOf(count, 'table')} could not be read:`,
  remove: 'Remove this source',
  removeText: (name: string) =>
    `All that is known of ${name} is deleted: its tables, checks, results and alerts. The database itself is not touched. This cannot be undone.`,
  removeLabel: 'Type the name of the source to remove it',
}
