import type net from 'node:net'
import tls from 'node:tls'
import type { Connection as Client, SslOptions } from 'mysql2'
import { waitForEvent, connectSocket } from '../dial.ts'
import type { DriverPackage } from '../driver.ts'
import { importDriver } from '../driver.ts'
import type { SslMode } from '../server-config.ts'
import type { StageReporter } from '../stages.ts'
import type { MysqlConfig } from './config.ts'

/** mysql2 3: both servers, prepared statements, the sign-in methods of MySQL 8. */
export const mysql2: DriverPackage = { package: 'mysql2', version: '3.24.5' }

export type MysqlDriver = typeof import('mysql2')

/** A server as it is dialled: `address` was vetted, `host` is what its certificate must be for. */
export type MysqlTarget = MysqlConfig & { address: string }

/** A signed-in connection. */
export interface MysqlLink {
  client: Client
  socket: net.Socket
  driver: MysqlDriver
  /** As the server gives it: `8.0.36`, `10.11.6-MariaDB`. */
  version: string
  isMariadb: boolean
  encrypted: boolean
}

export async function importMysql2(engine: string): Promise<MysqlDriver> {
  const module = await importDriver<{ default: MysqlDriver }>(engine, mysql2)
  return module.default
}

/** Dials, asks for TLS as `ssl` says and signs in; no statement is sent. */
export async function dial(
  driver: MysqlDriver,
  target: MysqlTarget,
  signal: AbortSignal,
  step: StageReporter = () => {},
): Promise<MysqlLink> {
  const socket = await connectSocket(target, signal)
  try {
    const greeting = await readGreeting(socket, signal)
    // mysql2 reports a greeting that is an error as a failure to connect.
    if (!greeting.isError) step('reach', `${target.host}:${target.port} answers.`)
    const encrypted = target.ssl !== 'disable' && (greeting.offersTls || target.ssl !== 'prefer')
    const client = makeClient(driver, target, socket, encrypted)
    if (encrypted) verifyIdentity(client, target, () => step('tls', 'The connection is encrypted.'))
    else if (!greeting.isError) step('tls', 'The connection is not encrypted.', 'skipped')
    socket.resume()
    await new Promise<void>((resolve, reject) =>
      client.connect(error => (error ? reject(error as Error) : resolve())),
    )
    const isMariadb = /mariadb/i.test(greeting.version)
    // Old clients would not talk to a major version above 5, so MariaDB used to say so first.
    const version = greeting.version.replace(/^5\.5\.5-/, '')
    step('sign_in', `Signed in as ${target.username} to ${isMariadb ? 'MariaDB' : 'MySQL'} ${version}.`)
    return { client, socket, driver, version, isMariadb, encrypted }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Options that mysql2 is given; nothing of a `connection_config` reaches it in any other way. */
function makeClient(
  driver: MysqlDriver,
  target: MysqlTarget,
  socket: net.Socket,
  encrypted: boolean,
): Client {
  const client = driver.createConnection({
    stream: socket,
    host: target.host,
    port: target.port,
    user: target.username,
    password: target.password,
    database: target.database,
    ...(encrypted ? { ssl: sslOptions(target) } : {}),
    // The time limit is ours; without a factory for them, files that a server asks for are not sent either.
    connectTimeout: 0,
    flags: ['-LOCAL_FILES', '-MULTI_RESULTS', '-FOUND_ROWS', '-IGNORE_SPACE', '-ODBC'],
    charset: 'UTF8MB4_UNICODE_CI',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
    // No code is made of the names of columns, and one statement at a time stays prepared in the server.
    disableEval: true,
    maxPreparedStatements: 1,
    connectAttributes: { program_name: 'tidemark' },
  })
  // Without a listener, a connection that breaks while idle would end the process.
  client.on('error', () => {})
  return client
}

/**
 * What `ssl` means, as in MySQL's own clients: up to `require` the certificate is not looked at, unless an authority
 * is given, which turns `require` into `verify-ca`. Without `ssl_ca`, Node's list of authorities is used.
 */
function sslOptions({ ssl, ssl_ca }: MysqlTarget): SslOptions {
  const verifies = ssl.startsWith('verify') || (ssl === 'require' && ssl_ca !== undefined)
  return {
    rejectUnauthorized: verifies,
    verifyIdentity: false,
    minVersion: 'TLSv1.2',
    ...(ssl_ca === undefined ? {} : { ca: ssl_ca }),
  }
}

interface SecuredClient {
  stream: tls.TLSSocket
  startTLS(done: (error?: Error) => void): void
}

/**
 * Looks whose certificate it is before mysql2 sends a password: mysql2 itself would compare the certificate of a
 * server that is dialled by its address with the name `localhost`.
 */
function verifyIdentity(client: Client, { host, ssl }: MysqlTarget, secured: () => void): void {
  const secure = client as unknown as SecuredClient
  const start = secure.startTLS.bind(client)
  secure.startTLS = done =>
    start(error => {
      const failure = error ?? (ssl === 'verify-full' ? identityError(host, secure.stream) : undefined)
      if (!failure) secured()
      done(failure)
    })
}

function identityError(host: string, socket: tls.TLSSocket): Error | undefined {
  return tls.checkServerIdentity(host, socket.getPeerCertificate())
}

interface Greeting {
  isError: boolean
  version: string
  offersTls: boolean
}

/** A greeting has about a hundred bytes; what claims to be longer is another protocol's. */
const MAX_GREETING_BYTES = 4096
const CLIENT_SSL_FLAG = 0x0800

/**
 * Reads the server's first packet, which says what it can do, and puts it back for mysql2
 * (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html).
 */
async function readGreeting(socket: net.Socket, signal: AbortSignal): Promise<Greeting> {
  let seen: Buffer = Buffer.alloc(0)
  let length = 0
  do {
    seen = Buffer.concat([seen, (await waitForEvent(socket, 'data', signal)) as Buffer])
    // Data without a listener would be lost.
    socket.pause()
    length = seen.length < 4 ? Infinity : 4 + seen.readUIntLE(0, 3)
    if (length !== Infinity && length > MAX_GREETING_BYTES) throw new Error('Not a MySQL server')
    if (seen.length < length) socket.resume()
  } while (seen.length < length)
  socket.unshift(seen)
  const end = seen.indexOf(0, 5)
  if (seen[4] === 0xff) return { isError: true, version: '', offersTls: false }
  if (seen[4] !== 10 || end === -1) throw new Error('Not a MySQL server')
  // After the version: 4 bytes of thread, 8 of salt, 1 of filling, then the lower half of what it can do.
  const capabilities = end + 16 <= seen.length ? seen.readUInt16LE(end + 14) : 0
  return {
    isError: false,
    version: seen.toString('latin1', 5, end),
    offersTls: (capabilities & CLIENT_SSL_FLAG) !== 0,
  }
}

/**
 * Ends what a session runs, over a connection of its own. Resolves when the server has taken note; rejects when it
 * cannot be reached in time.
 */
export async function requestCancel(
  target: MysqlTarget,
  line: MysqlLink,
  signal: AbortSignal,
): Promise<void> {
  const ssl: SslMode = line.encrypted ? target.ssl : 'disable'
  const { client, socket } = await dial(line.driver, { ...target, ssl }, signal)
  try {
    const thread = Number(line.client.threadId)
    await new Promise<void>((resolve, reject) =>
      client.query(`kill query ${thread}`, error => (error ? reject(error as Error) : resolve())),
    )
  } finally {
    client.end(() => {})
    setTimeout(() => socket.destroy(), 1000).unref()
  }
}
