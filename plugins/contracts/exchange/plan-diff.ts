import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../../server/database/database.ts'
import type { ContractNode } from '../elements.ts'
import { DOMAINS, domainOf, type Clause, type ClauseKind, type Domain } from '../enforcement/clause.ts'
import { listClauses } from '../enforcement/clauses.ts'
import { textOf } from '../enforcement/document.ts'
import { Contract } from '../models.ts'

/** A clause in a difference. */
interface ChangedClause {
  key: string
  kind: ClauseKind
  title: string
}

/** What a new version of a contract changes, by part. */
export type ContractDiff = Partial<
  Record<Domain, { added: ChangedClause[]; modified: ChangedClause[]; removed: ChangedClause[] }>
>

/** The name that a contract is stored by, where the request has none: that in the document, or its id. */
export function nameOf(document: ContractNode): string {
  const name = (textOf(document.name) ?? textOf(document.id) ?? 'contract')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)
  return name === '' ? 'contract' : name
}

/**
 * Compares a contract with the stored one of its name.
 * @param domains the parts to enforce; others that are enforced now would no longer be
 */
export async function diffContract(
  trx: Transaction,
  document: ContractNode,
  domains: ReadonlySet<Domain>,
): Promise<ContractDiff> {
  const stored = await Contract.query(trx).findOne('name', nameOf(document))
  const before = stored ? listClauses(stored.document, stored.extraColumns, stored.domains) : []
  const after = listClauses(document, stored?.extraColumns ?? 'allow', [...domains])
  const diff: ContractDiff = {}
  for (const domain of DOMAINS) {
    const had = ofDomain(before, domain)
    if (domains.has(domain) || had.size > 0) diff[domain] = diffClauses(had, ofDomain(after, domain))
  }
  return diff
}

function ofDomain(clauses: readonly Clause[], domain: Domain): Map<string, Clause> {
  return new Map(clauses.filter(({ kind }) => domainOf(kind) === domain).map(clause => [clause.key, clause]))
}

function diffClauses(before: ReadonlyMap<string, Clause>, after: ReadonlyMap<string, Clause>) {
  const changed = ({ key, kind, title }: Clause): ChangedClause => ({ key, kind, title })
  const isEqual = (a: Clause, b: Clause) =>
    a.title === b.title && a.severity === b.severity && isDeepStrictEqual(a.demand, b.demand)
  const both = [...after.values()].filter(({ key }) => before.has(key))
  return {
    added: [...after.values()].filter(({ key }) => !before.has(key)).map(changed),
    modified: both.filter(clause => !isEqual(before.get(clause.key)!, clause)).map(changed),
    removed: [...before.values()].filter(({ key }) => !after.has(key)).map(changed),
  }
}

/** The numbers of a difference. */
export function countChanges(diff: ContractDiff) {
  return Object.fromEntries(
    Object.entries(diff).map(([domain, { added, modified, removed }]) => [
      domain,
      { added: added.length, modified: modified.length, removed: removed.length },
    ]),
  )
}
