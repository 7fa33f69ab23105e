import { readFileSync } from 'node:fs'
import { lookup, Resolver } from 'node:dns/promises'

export interface Resolved {
  address: string
  /** 4 or 6. */
  family: number
}

export type Resolve = (name: string) => Promise<Resolved[]>

/** The system's resolver, which sockets use: it knows /etc/hosts, and reads 0x7f.1 as 127.0.0.1. */
export const ofSystem: Resolve = name => lookup(name, { all: true })

/** DNS error codes for a name that is unknown or has no address. */
const NOT_KNOWN = ['ENOTFOUND', 'ENODATA']

/**
 * A resolver for names from any caller. The system's resolver blocks one of libuv's few threads while a name server is
 * silent, so two silent ones would block all other names: DNS is queried directly first, for at most 4.5 seconds. The
 * system resolves the names of its hosts file, and names that DNS does not know, which may be short for a name of a
 * search domain.
 * @param servers of DNS; defaults to those of the system
 */
export function namesOf({
  servers,
  system = ofSystem,
}: { servers?: string[]; system?: Resolve } = {}): Resolve {
  return async name => {
    if (isInHosts(name)) return system(name)
    // Made anew each time, since it reads /etc/resolv.conf only then.
    const dns = new Resolver({ timeout: 1_500, tries: 2 })
    if (servers) dns.setServers(servers)
    const [four, six] = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
    const found = [four, six].flatMap((answer, at) =>
      answer.status === 'fulfilled'
        ? answer.value.map(address => ({ address, family: at === 0 ? 4 : 6 }))
        : [],
    )
    if (found.length > 0) return found
    const failures = [four, six].flatMap(answer =>
      answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : [],
    )
    const failure = failures.find(({ code = '' }) => !NOT_KNOWN.includes(code))
    if (failure) throw failure
    return system(name)
  }
}

function isInHosts(name: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, '')
  try {
    const lines = readFileSync('/etc/hosts', 'utf8').toLowerCase().split('\n')
    return lines.some(line => line.replace(/#.*/, '').split(/\s+/).slice(1).includes(wanted))
  } catch {
    return false
  }
}
