import { countOf } from '../../lib/format.ts'

/** The sentences of the screens on which sources are set up, in English. */
export const sourceTexts = {
  addOf: (engine: string) => `Connect ${engine}`,
  secretsHint: 'Secrets are encrypted and never shown again.',
  roleHint: 'A role that may only read is enough, and safer.',
  tabTables: 'Tables',
  test: 'Test the connection',
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
