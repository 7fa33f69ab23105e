import { countOf, formatNumber } from '../lib/format.ts'

/** The sentences of the screens of contracts, in English. */
export const contractTexts = {
  title: 'Contracts',
  summary: (total: number, failing: number) =>
    failing > 0
      ? `${formatNumber(failing)} of ${countOf(total, 'contract')} ${failing === 1 ? 'is' : 'are'} broken`
      : countOf(total, 'contract'),
  about: 'What a source promises, as Open Data Contract Standard documents, and whether it keeps it.',
  none: 'There is no contract',
  add: 'Add a contract',
  all: 'All contracts',
  missing: 'This contract does not exist',
  name: 'Name',
  nameHint: 'Letters, digits, dots, hyphens and underscores.',
  status: 'Status',
  source: 'Source',
  owner: 'Owner',
  version: 'Version',
  clauses: 'Clauses',
  kept: (passing: number, total: number) => `${formatNumber(passing)} of ${formatNumber(total)} pass`,
  document: 'Document',
  documentHint: 'YAML or JSON, version 3 of the standard.',
  file: 'From a file',
  extra: 'Columns that it does not name break it',
  save: 'Save and enforce',
  saved: 'Saved. Checks that are new run within a minute.',
  replace: 'Replace it',
  errors: (count: number) => `${countOf(count, 'error')} in the document`,
  lineOf: (line: number) => `Line ${line}`,
  history: 'History',
  noHistory: 'Nothing has happened yet.',
  badge: 'Badge',
  badgeText: 'A public picture of the status. Everyone who has its address sees it.',
  judged: 'Compared with the catalog',
  unenforced: (count: number) => `${countOf(count, 'clause')} cannot be enforced`,
  unenforcedText: 'They are kept in the document, and nothing checks them.',
  clause: 'Clause',
  reason: 'Why',
  since: 'Since',
  check: 'check',
  statusWords: {
    passing: 'passing',
    failing: 'failing',
    pending: 'not judged yet',
    not_enforced: 'not enforced',
  },
  remove: 'Delete this contract',
  removeText: (name: string) =>
    `${name} is deleted with its checks and its history. Its alerts are resolved. This cannot be undone.`,
  removed: (name: string) => `The contract ${name} was deleted.`,
  cannotEdit: 'Only members, admins and owners change contracts.',
  event: (event: string, version: string | null) =>
    `${event === 'created' ? 'Created' : 'Replaced'}${version === null ? '' : `, version ${version}`}`,
  change: (from: string, to: string) => `${from} → ${to}`,
}
