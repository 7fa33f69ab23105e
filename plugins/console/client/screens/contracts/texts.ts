import { countOf, formatNumber } from '../../lib/format.ts'

interface ClauseCounts {
  passing: number
  failing: number
  pending: number
  not_enforced: number
}
type Status = keyof ClauseCounts

const totalOf = (counts: ClauseCounts) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const failingClauses = (counts: ClauseCounts, what = '') =>
  `${formatNumber(counts.failing)} of ${formatNumber(totalOf(counts))}${what} ${counts.failing === 1 ? 'fails' : 'fail'}`

/** The sentences of the screens of contracts, in English. */
export const contractTexts = {
  title: 'Contracts',
  summary: (total: number, failing: number, clauses: number) =>
    failing > 0
      ? `${formatNumber(failing)} of ${countOf(total, 'contract')} ${failing === 1 ? 'fails' : 'fail'}: ${countOf(clauses, 'clause')}`
      : countOf(total, 'contract'),
  about: 'What a source promises, as Open Data Contract Standard documents, and whether it keeps it.',
  add: 'Add a contract',
  addText: 'Upload or paste a document. To start from what a table keeps now, open its columns in the',
  name: 'Name',
  status: 'Status',
  source: 'Source',
  owner: 'Owner',
  version: 'Version',
  clauses: 'Clauses',
  /** What a row of the list says: how many clauses fail, else how many of them hold. */
  clausesOf: (counts: ClauseCounts) =>
    counts.failing > 0
      ? failingClauses(counts)
      : `${formatNumber(counts.passing)} of ${formatNumber(totalOf(counts))} pass`,
  /** The first line of a contract. */
  verdict: (name: string, status: Status, counts: ClauseCounts) => {
    if (status === 'failing') return `${name}: ${failingClauses(counts, ' clauses')}`
    if (status === 'passing') return `${name}: every enforced clause passes`
    return `${name}: ${status === 'pending' ? 'not judged yet' : 'no clause can be enforced'}`
  },
  copyDocument: 'Copy the document',
  document: 'Document',
  preview: 'Show what changes',
  planned: (message: string) => `Saving it ${message}`,
  actions: {
    adopt: 'adopts a check',
    create: 'creates a check',
    change: 'changes its check',
    replace: 'replaces its check',
    keep: 'keeps its check',
  },
  errors: (count: number) => `${countOf(count, 'error')} in the document`,
  lineOf: (line: number) => `Line ${line}`,
  history: 'History',
  judged: 'Compared with the catalog',
  unenforced: (count: number) => `${countOf(count, 'clause')} cannot be enforced`,
  statusWords: {
    passing: 'passing',
    failing: 'failing',
    pending: 'not judged yet',
    not_enforced: 'not enforced',
  },
  /** What a clause needs no check for. */
  byCatalog: {
    passing: 'holds in the catalog',
    failing: 'does not hold in the catalog',
    pending: 'not judged yet',
    not_enforced: 'not enforced',
  },
  remove: 'Delete this contract',
  removeText: (name: string) =>
    `${name} is deleted with its history and the checks that it made; checks that it adopted stay. Its alerts are resolved. This cannot be undone.`,
  event: (event: string, version: string | null) =>
    `${event === 'created' ? 'Created' : 'Replaced'}${version === null ? '' : `, version ${version}`}`,
}
