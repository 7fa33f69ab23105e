import { DOMAINS, type Domain } from '../enforcement/clause.ts'

/** The parts of a contract that a request names. */
export interface DomainChoice {
  domains: ReadonlySet<Domain>
  /** Names that contracts have no part for. */
  unsupported: string[]
}

const isDomain = (name: string): name is Domain => DOMAINS.some(domain => domain === name)

/** Chooses the parts that are included, all unless some are, and not excluded. */
export function chooseDomains(
  include: readonly string[] = [],
  exclude: readonly string[] = [],
): DomainChoice {
  const chosen = include.length === 0 ? [...DOMAINS] : include.filter(isDomain)
  return {
    domains: new Set(chosen.filter(domain => !exclude.includes(domain))),
    unsupported: [...new Set(include.filter(name => !isDomain(name)))],
  }
}

/** A list as clients write it: `validity,freshness`. */
export function readList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
}
