import { lookup } from 'node:dns/promises'
import { realpath } from 'node:fs/promises'
import { Agent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { sep } from 'node:path'
import tls, { type ConnectionOptions, type SecureContext } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { ConnectorError } from '../connectors/errors.ts'
import type { Egress as SourceEgress } from '../connectors/connector.ts'

/** What may be reached: public addresses, and what `allow` names besides. */
export interface EgressPolicy {
  /** CIDRs. */
  allow: readonly string[]
}

/** Never reached, whatever is allowed: cloud metadata services hand out credentials. */
const METADATA = ['169.254.169.254/32', '169.254.170.2/32', 'fd00:ec2::254/128', '100.100.100.200/32']

/** Whether an address may be dialled under a policy. IPv4 addresses inside IPv6 ones are taken out first. */
export function mayReach(address: string, policy: EgressPolicy): boolean {
  // ipaddr.js alone would also take 1.2.3 and the like.
  if (isIP(address) === 0) return false
  const ip = ipaddr.process(address)
  if (METADATA.some(cidr => inside(ip, cidr))) return false
  return isPublic(ip) || policy.allow.some(cidr => inside(ip, cidr))
}

/** Of IPv6 only 2000::/3 is handed out (RFC 4291); ipaddr.js counts the rest, such as ::7f00:1, as unicast too. */
function isPublic(ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || inside(ip, '2000::/3'))
}

function inside(ip: ipaddr.IPv4 | ipaddr.IPv6, cidr: string): boolean {
  const [network, bits] = ipaddr.parseCIDR(cidr)
  return network.kind() === ip.kind() && ip.match(network as never, bits)
}

/**
 * The addresses of a host, all of which may be dialled: one forbidden address refuses the host, so that a
 * name cannot mix a public address with an inner one.
 * @param host a name or an address, with or without the brackets of IPv6
 * @returns null when the host resolves to something that must not be reached
 * @throws the resolver's error when the name does not resolve
 */
export async function resolveAllowed(
  host: string,
  policy: EgressPolicy,
): Promise<{ address: string; family: number }[] | null> {
  const name = bare(host)
  const found = isIP(name) ? [{ address: name, family: isIP(name) }] : await lookup(name, { all: true })
  return found.every(({ address }) => mayReach(address, policy)) ? found : null
}

const BLOCKED = 'ERR_EGRESS_BLOCKED'

function blocked(host: string): Error {
  const message = `The host ${host} may not be reached from here: the operator can allow its network with EGRESS_ALLOW`
  return Object.assign(new Error(message), { code: BLOCKED })
}

/** A resolver for sockets that fails with `ERR_EGRESS_BLOCKED` when any address of the host is forbidden. */
export function guardedLookup(policy: EgressPolicy): LookupFunction {
  return (host, options, callback) => {
    resolveAllowed(host, policy).then(
      addresses => {
        const [first] = addresses ?? []
        if (!addresses || !first) return callback(blocked(host), '', 0)
        return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
}

const agents = new WeakMap<EgressPolicy, Agent>()

/**
 * The one way out over HTTPS: an agent that dials what the policy allows and nothing else, and trusts the
 * authorities of Node (with NODE_EXTRA_CA_CERTS) and of the system. A connection serves one request, so that
 * each is checked; proxies of the environment are not used. Fails with `ERR_EGRESS_BLOCKED`.
 */
export function guardedAgent(policy: EgressPolicy): Agent {
  const known = agents.get(policy)
  if (known) return known
  const agent = new Agent({ keepAlive: false })
  const lookupGuarded = guardedLookup(policy)
  let secureContext: SecureContext | undefined
  agent.createConnection = (options: ConnectionOptions, callback) => {
    const host = options.host ?? ''
    // The lookup is not asked about addresses.
    if (!mayReachLiteral(host, policy)) {
      callback?.(blocked(host), undefined as never)
      return undefined
    }
    secureContext ??= trustedAuthorities()
    const socket = tls.connect({ ...options, secureContext, rejectUnauthorized: true, lookup: lookupGuarded })
    socket.prependOnceListener('connect', () => {
      if (!mayReach(socket.remoteAddress ?? '', policy)) socket.destroy(blocked(host))
    })
    return socket
  }
  agents.set(policy, agent)
  return agent
}

/** Made once an agent, at its first use: reading some hundred certificates takes a fraction of a second. */
function trustedAuthorities(): SecureContext {
  const ca = new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])
  return tls.createSecureContext({ ca: [...ca], minVersion: 'TLSv1.2' })
}

/** False for an address that may not be dialled; a name is only known when it is resolved, at each dialling. */
export function mayReachLiteral(host: string, policy: EgressPolicy): boolean {
  return isIP(bare(host)) === 0 || mayReach(bare(host), policy)
}

/** Without the brackets that URLs put around IPv6. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

/** The egress of monitored sources. */
export function sourceEgress(
  options: EgressPolicy & { fileSources: readonly string[]; refused: readonly string[] },
): SourceEgress {
  return {
    async address(host, port) {
      const addresses = await resolveAllowed(host, options)
      const [first] = addresses ?? []
      if (!first || addresses?.some(({ address }) => options.refused.includes(`${address}:${port}`))) {
        throw refusedSource(
          `The host ${host} may not be reached from here: the operator can allow its network with EGRESS_ALLOW`,
        )
      }
      return first.address
    },
    async file(path) {
      const real = await realpath(path).catch((cause: unknown) => {
        throw new ConnectorError({
          kind: 'missing-object',
          engine: 'file',
          code: 'ENOENT',
          message: `There is no file ${path}`,
          cause,
        })
      })
      const folders = await Promise.all(options.fileSources.map(folder => realpath(folder).catch(() => null)))
      if (folders.some(folder => folder !== null && real.startsWith(folder + sep))) return real
      throw refusedSource(
        `The file ${path} may not be opened: it must lie under a folder of the setting FILE_SOURCES`,
      )
    },
  }
}

function refusedSource(message: string): ConnectorError {
  return new ConnectorError({ kind: 'egress-refused', engine: 'egress', code: BLOCKED, message })
}
