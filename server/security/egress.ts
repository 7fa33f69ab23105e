import { realpath } from 'node:fs/promises'
import { Agent } from 'node:https'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isAbsolute, relative, resolve as resolvePath, sep } from 'node:path'
import tls, { type ConnectionOptions, type SecureContext, type TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import pg from 'pg'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Egress as SourceEgress } from '../../connectors/connector.ts'
import { namesOf, ofSystem, type Resolve, type Resolved } from '../dns.ts'

/** What may be reached: public addresses, and what `allow` names besides. */
export interface EgressPolicy {
  /** CIDRs, reached on any port. */
  allow: readonly string[]
  /** Ports of public addresses; defaults to any. */
  ports?: readonly number[]
  /** How names are looked up; for tests. */
  resolve?: Resolve
}

/** Never reached, whatever is allowed: what answers there hands out the machine's own credentials. */
const METADATA = [
  // AWS, Google, Azure and most others; containers of AWS ECS and EKS; Azure's host; Alibaba; Oracle; Tencent; Scaleway.
  ...[
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
  ],
  ...['169.254.0.23', '169.254.42.42'],
  // AWS and its EKS, Google, Oracle, OpenStack, Scaleway.
  ...[
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fe80::a9fe:a9fe',
    'fd00:42::42',
  ],
].map(address => ipaddr.parse(address).toNormalizedString())

/**
 * Whether an address may be dialled under a policy. IPv4 addresses inside IPv6 ones are taken out first.
 * @param port defaults to any
 */
export function mayReach(address: string, policy: EgressPolicy, port?: number): boolean {
  // ipaddr.js alone would also take 1.2.3 and the like.
  if (isIP(address) === 0 || isMetadata(address)) return false
  const ip = ipaddr.process(address)
  const isOpen = port === undefined || (policy.ports?.includes(port) ?? true)
  return (isOpen && isPublic(ip)) || policy.allow.some(cidr => inside(ip, cidr))
}

const isMetadata = (address: string): boolean => meanings(address).some(meaning => METADATA.includes(meaning))

/** Prefixes of IPv6 whose addresses lead to IPv4 ones, and the bytes in which those stand. */
const TRANSLATED: readonly [string, readonly number[]][] = [
  // IPv4-compatible and IPv4-translated (RFC 4291, 2765), the prefix of NAT64 (RFC 6052).
  ['::/96', [12, 13, 14, 15]],
  ['::ffff:0:0:0/96', [12, 13, 14, 15]],
  ['64:ff9b::/96', [12, 13, 14, 15]],
  // A network's own NAT64 (RFC 8215) may write it in four ways.
  ['64:ff9b:1::/48', [6, 7, 9, 10]],
  ['64:ff9b:1::/48', [7, 9, 10, 11]],
  ['64:ff9b:1::/48', [9, 10, 11, 12]],
  ['64:ff9b:1::/48', [12, 13, 14, 15]],
  // 6to4 (RFC 3056) and the server of Teredo (RFC 4380); its client stands there inverted.
  ['2002::/16', [2, 3, 4, 5]],
  ['2001::/32', [4, 5, 6, 7]],
]

/** An address in one spelling, and the IPv4 addresses in which packets to it may end. */
function meanings(address: string): string[] {
  const ip = ipaddr.process(address.replace(/%.*/, ''))
  const bytes = ip.toByteArray()
  const within = TRANSLATED.filter(([prefix]) => inside(ip, prefix)).map(([, places]) =>
    places.map(place => bytes[place] ?? 0),
  )
  if (inside(ip, '2001::/32')) within.push(bytes.slice(12).map(byte => byte ^ 0xff))
  // 0.0.0.0/8 is nowhere: those are prefixes that end in zeros.
  return [ip.toNormalizedString(), ...within.filter(([first]) => first !== 0).map(four => four.join('.'))]
}

/** In IPv6 only 2000::/3 is assigned (RFC 4291); ipaddr.js counts the rest, such as ::7f00:1, as unicast too. */
function isPublic(ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || inside(ip, '2000::/3'))
}

/** CIDRs as they were read; each connection is held against a dozen. */
const networks = new Map<string, [ipaddr.IPv4 | ipaddr.IPv6, number]>()

function inside(ip: ipaddr.IPv4 | ipaddr.IPv6, cidr: string): boolean {
  const [network, bits] = networks.get(cidr) ?? ipaddr.parseCIDR(cidr)
  networks.set(cidr, [network, bits])
  return network.kind() === ip.kind() && (ip as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
}

const anybodys = namesOf()

async function addressesOf(host: string, resolve: Resolve): Promise<Resolved[]> {
  const name = bare(host)
  return isIP(name) ? [{ address: name, family: isIP(name) }] : resolve(name)
}

/**
 * Why a host is not dialled, in a sentence; null when it may be. One forbidden address refuses it, so that a name
 * cannot mix a public address with an inner one.
 */
function refusal(
  host: string,
  port: number,
  found: readonly Pick<Resolved, 'address'>[],
  policy: EgressPolicy,
): string | null {
  const bad = found.filter(({ address }) => !mayReach(address, policy, port))
  if (found.length > 0 && bad.length === 0) return null
  if (bad.some(({ address }) => isIP(address) !== 0 && isMetadata(address)))
    return `The host ${host} is where a cloud hands out credentials: it is never reached from here`
  if (bad.length > 0 && bad.every(({ address }) => mayReach(address, { allow: [] })))
    return `Port ${port} of ${host} may not be reached from here: use port ${policy.ports?.join(' or ')}, or have the operator open it with WEBHOOK_PORTS`
  return `The host ${host} may not be reached from here: the operator can allow its network with EGRESS_ALLOW`
}

const BLOCKED = 'ERR_EGRESS_BLOCKED'

const blocked = (message: string): Error => Object.assign(new Error(message), { code: BLOCKED })

/** A resolver for sockets to a port, which fails with `ERR_EGRESS_BLOCKED` when any address of the host is forbidden. */
export function guardedLookup(policy: EgressPolicy, port: number): LookupFunction {
  return (host, options, callback) => {
    addressesOf(host, policy.resolve ?? anybodys).then(
      addresses => {
        const why = refusal(host, port, addresses, policy)
        const [first] = addresses
        if (why !== null || !first) return callback(blocked(why ?? ''), '', 0)
        return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
}

/**
 * A TLS socket to what the policy allows. It trusts the authorities of Node (with NODE_EXTRA_CA_CERTS) and of the
 * system, and no session is taken up again: each connection looks at the certificate anew.
 * @throws `ERR_EGRESS_BLOCKED` for an address; of a name, the socket fails with it
 */
export function guardedSocket(options: ConnectionOptions, policy: EgressPolicy): TLSSocket {
  const place = { host: options.host ?? '', port: Number(options.port ?? 443) }
  return guarded(place, policy, lookup => {
    const secureContext = authorities.get(policy) ?? trustedAuthorities()
    authorities.set(policy, secureContext)
    return tls.connect({ ...options, secureContext, rejectUnauthorized: true, lookup })
  })
}

/** A socket without TLS to what the policy allows, for protocols that have none or start it later. Fails as the above. */
export function guardedTcpSocket(place: { host: string; port: number }, policy: EgressPolicy): Socket {
  return guarded(place, policy, lookup => connect({ ...place, lookup }))
}

function guarded<Dialled extends Socket>(
  { host, port }: { host: string; port: number },
  policy: EgressPolicy,
  dial: (lookup: LookupFunction) => Dialled,
): Dialled {
  // The lookup is not asked about addresses.
  const why = isIP(bare(host)) === 0 ? null : refusal(host, port, [{ address: bare(host) }], policy)
  if (why !== null) throw blocked(why)
  const socket = dial(guardedLookup(policy, port))
  socket.prependOnceListener('connect', () => {
    const reached = [{ address: socket.remoteAddress ?? '' }]
    const late = refusal(host, port, reached, policy)
    if (late !== null) socket.destroy(blocked(late))
  })
  return socket
}

const authorities = new WeakMap<EgressPolicy, SecureContext>()

/** Made once a policy, at its first use: reading some hundred certificates takes a fraction of a second. */
function trustedAuthorities(): SecureContext {
  const ca = new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])
  return tls.createSecureContext({ ca: [...ca], minVersion: 'TLSv1.2' })
}

const agents = new WeakMap<EgressPolicy, Agent>()

/**
 * The one way out over HTTPS: an agent of guarded sockets. A connection serves one request, so that each is checked;
 * proxies of the environment are not used. Fails with `ERR_EGRESS_BLOCKED`.
 */
export function guardedAgent(policy: EgressPolicy): Agent {
  const known = agents.get(policy)
  if (known) return known
  const agent = new Agent({ keepAlive: false })
  agent.createConnection = (options: ConnectionOptions, callback) => {
    try {
      return guardedSocket(options, policy)
    } catch (error) {
      const fail = callback as ((reason: unknown) => void) | undefined
      fail?.(error)
      return undefined
    }
  }
  agents.set(policy, agent)
  return agent
}

/** Without the brackets that URLs put around IPv6. */
const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

/** A database of this service itself, which is never a source: every company's rows lie in it. */
export interface OwnDatabase {
  host: string
  port: number
  /** Its name; without one, nothing on that server is a source. */
  database?: string
}

/** The place of a connection URL, read as the driver reads it. */
export function parseDatabaseUrl(url: string): Required<OwnDatabase> {
  const { host, port, database = '' } = new pg.Client({ connectionString: url })
  return { host, port, database }
}

export interface SourcePolicy extends EgressPolicy {
  /** Folders; files elsewhere are not opened. */
  fileSources: readonly string[]
  own: readonly OwnDatabase[]
}

export function sourceEgress(policy: SourcePolicy): SourceEgress {
  const { fileSources, resolve = ofSystem } = policy
  const isOwn = ownDatabases(policy.own, resolve)
  return {
    async address(host, port, database) {
      // A path is a socket of this machine to most drivers. What it was is not said: URLs hold passwords.
      if (NO_HOST.test(host)) throw refusedSource('host must be a host name or an address, not a path or URL')
      const found = await addressesOf(host, resolve)
      const [first] = found
      const why = refusal(host, port, found, policy)
      if (why !== null || !first) throw refusedSource(why ?? '')
      if (await isOwn(found, port, database))
        throw refusedSource(
          `${host}:${port} is the database in which this service keeps its own records, which cannot be a source: ` +
            'name the database that you want to watch',
        )
      return first.address
    },
    file: path => realPathOf(path, fileSources, { what: 'file', allows: isBelow }),
    folder: path =>
      realPathOf(path, fileSources, {
        what: 'folder',
        allows: (real, folder) => real === folder || isBelow(real, folder),
      }),
  }
}

/** The real path of what may be opened. @param rule.allows whether a real path may be opened for one of the folders */
async function realPathOf(
  path: string,
  fileSources: readonly string[],
  { what, allows }: { what: 'file' | 'folder'; allows(real: string, folder: string): boolean },
): Promise<string> {
  const folders = await Promise.all(fileSources.map(folder => realpath(folder).catch(() => null)))
  const real = await realpath(path).catch(() => null)
  if (real !== null && folders.some(folder => folder !== null && allows(real, folder))) return real
  // Elsewhere the error must not reveal whether the file exists.
  if (real === null && [...fileSources, ...folders].some(folder => isBelow(path, folder)))
    throw new ConnectorError({
      kind: 'missing-object',
      engine: 'file',
      code: 'ENOENT',
      message: `There is no ${what} at connection_config.path: check it`,
    })
  throw refusedSource(
    `The ${what} at connection_config.path may not be opened: it must lie under a folder of the setting FILE_SOURCES`,
  )
}

const NO_HOST = /^$|[/\\@?#\s\p{Cc}]/u

function isBelow(path: string, folder: string | null): boolean {
  if (folder === null) return false
  const way = relative(resolvePath(folder), resolvePath(path))
  return way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way)
}

/** Whether addresses, a port and a database are those of the service itself, however they are written. */
function ownDatabases(own: readonly OwnDatabase[], resolve: Resolve) {
  const places = own.map(place => ({ ...place, known: new Set<string>() }))
  return async (found: readonly Resolved[], port: number, database: string | undefined) => {
    const asked = placesOf(found)
    for (const { host, known, ...place } of places) {
      if (place.port !== port || !mayBeSame(database, place.database)) continue
      // A name that is answered in turns, or not at all just now, still stands for what it stood for.
      const now = isSocket(host)
        ? [{ address: '127.0.0.1' }]
        : await addressesOf(host, resolve).catch(() => [])
      placesOf(now).forEach(address => known.add(address))
      if (asked.some(address => known.has(address))) return true
    }
    return false
  }
}

/** As libpq, which takes a folder, or `@` and a name, for where the server's socket is. */
const isSocket = (host: string): boolean => /^[/@]/.test(host)

/** A database that is not named, or whose name carries options, may be any; a server takes 63 bytes of it. */
function mayBeSame(asked: string | undefined, own: string | undefined): boolean {
  if (!asked || !own || asked.includes('\0')) return true
  const [one, other] = [asked, own].map(name => Buffer.from(name).subarray(0, 63)) as [Buffer, Buffer]
  return one.equals(other)
}

/** Where addresses lead: all of those of this machine, which are many, lead to one place. */
function placesOf(found: readonly { address: string }[]): string[] {
  const here = new Set(
    Object.values(networkInterfaces())
      .flat()
      .flatMap(entry =>
        entry ? [ipaddr.process(entry.address.replace(/%.*/, '')).toNormalizedString()] : [],
      ),
  )
  const places = found.flatMap(({ address }) => (isIP(address) === 0 ? [] : meanings(address)))
  return places.map(place => {
    const range = ipaddr.parse(place).range()
    return range === 'loopback' || range === 'unspecified' || here.has(place) ? 'here' : place
  })
}

function refusedSource(message: string): ConnectorError {
  return new ConnectorError({ kind: 'egress-refused', engine: 'egress', code: BLOCKED, message })
}
