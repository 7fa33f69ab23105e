import { createHash, generateKeyPairSync } from 'node:crypto'
import net from 'node:net'
import t, { type Test } from 'tap'
import { makeBigquery } from '../../connectors/bigquery/index.ts'
import type { Connector, ConnectOptions } from '../../connectors/connector.ts'
import { makeDatabricks } from '../../connectors/databricks/index.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { redshift } from '../../connectors/redshift/index.ts'
import { makeSnowflake } from '../../connectors/snowflake/index.ts'
import { testCluster } from '../helpers/cluster.ts'
import { mariadbAbsent, testMariadb } from '../helpers/mariadb.ts'

/** What answers at a port. */
interface Foreign {
  name: string
  /** Sent when a client has connected. */
  greeting?: string | Buffer
  /** Sent for the first bytes of a client. */
  reply?: string | Buffer
  /** Whether the server hangs up after that. */
  hangsUp?: boolean
}

/** Bytes that look random and are the same each time. */
const noise = (seed: number) => createHash('shake256', { outputLength: 300 }).update(String(seed)).digest()

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const HTTP = 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>'

const SERVERS: readonly Foreign[] = [
  { name: 'an HTTP server', reply: HTTP, hangsUp: true },
  { name: 'an HTTP server that stays', reply: HTTP },
  { name: 'a mail server', greeting: '220 mail.example.com ESMTP ready\r\n' },
  { name: 'an SSH server', greeting: 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n', hangsUp: true },
  { name: 'a Redis server', reply: "-ERR unknown command 'x'\r\n" },
  { name: 'silence' },
  { name: 'a server that hangs up at once', hangsUp: true },
  { name: 'a server that hangs up after a byte', reply: 'N', hangsUp: true },
  { name: 'zeros', greeting: Buffer.alloc(64) },
  ...[1, 2, 3, 4, 5, 6].flatMap((seed): Foreign[] => [
    { name: `noise ${seed} at once`, greeting: noise(seed) },
    { name: `noise ${seed} as a reply`, reply: noise(seed), hangsUp: seed % 2 === 0 },
  ]),
  // PostgreSQL's own protocol, out of turn.
  ...['A', 'C', 'D', 'E', 'G', 'I', 'K', 'R', 'S', 'T', 'W', 'd', 'v', '1'].map(type => ({
    name: `a message ${type} out of turn`,
    reply: message(type, Buffer.from([0, 0, 0, 3, 0, 0, 0, 0])),
  })),
  // MySQL's own: a packet that is no greeting, and a greeting that is cut off.
  { name: 'an OK packet', greeting: Buffer.from([7, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]) },
  { name: 'a greeting cut off', greeting: Buffer.from([6, 0, 0, 0, 10, 0x38, 0x2e, 0x30, 0x00, 1]) },
  {
    name: 'a greeting of another protocol',
    greeting: Buffer.concat([
      Buffer.from([40, 0, 0, 0, 10]),
      Buffer.from('8.0.0\0'),
      noise(9).subarray(0, 33),
    ]),
  },
]

async function start(t: Test, { greeting, reply, hangsUp }: Foreign): Promise<number> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (greeting !== undefined) socket.write(greeting)
    if (hangsUp && reply === undefined) socket.end()
    socket.on('data', () => {
      if (reply === undefined) return
      if (hangsUp) socket.end(reply)
      else socket.write(reply)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as net.AddressInfo).port
}

const options: ConnectOptions = {
  egress: { address: async () => '127.0.0.1', file: async path => path, folder: async path => path },
  log: { debug: () => {}, warn: () => {} },
  connectTimeoutMs: 400,
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

const server = (port: number) => ({
  host: 'db.test',
  port,
  database: 'shop',
  username: 'reader',
  password: 'x',
})

/** Each engine, as it is made for a port. */
const ENGINES: Record<string, (port: number) => { connector: Connector; config: object }> = {
  ...Object.fromEntries(
    ['disable', 'prefer', 'require'].flatMap(mode => [
      [
        `postgresql ${mode}`,
        (port: number) => ({ connector: postgresql, config: { ...server(port), sslmode: mode } }),
      ],
      [`mysql ${mode}`, (port: number) => ({ connector: mysql, config: { ...server(port), ssl: mode } })],
    ]),
  ),
  redshift: (port: number) => ({ connector: redshift, config: { ...server(port), sslmode: 'prefer' } }),
  snowflake: (port: number) => ({
    connector: makeSnowflake({ port }),
    config: { account: 'acme-one', warehouse: 'W', database: 'D', username: 'U', private_key: privateKey },
  }),
  bigquery: (port: number) => ({
    connector: makeBigquery({ port }),
    config: {
      project_id: 'acme-shop',
      credentials_json: { type: 'service_account', client_email: 'r@acme.example', private_key: privateKey },
    },
  }),
  databricks: (port: number) => ({
    connector: makeDatabricks({ port }),
    config: { host: 'adb.test', http_path: '/sql/1.0/warehouses/1a', access_token: 'pat' },
  }),
} as never

/** The words of what a driver threw, on the way to an error. */
function wordsBehind(error: ConnectorError): string[] {
  const words: string[] = []
  for (let each: unknown = error.cause; each !== undefined && each !== null; each = (each as Error).cause) {
    const { message: text } = each as Error
    if (!(each instanceof ConnectorError) && typeof text === 'string' && text !== '') words.push(text)
  }
  return words
}

/** An error that a client may see: of a kind that names the cause, in words of our own. */
function isPlain(t: Test, error: unknown, label: string): void {
  if (!(error instanceof ConnectorError)) {
    t.fail(`${label}: ${String(error)}`)
    return
  }
  t.ok(
    ['network', 'tls', 'timeout'].includes(error.kind),
    `${label}: ${error.kind} ${error.code}: ${error.message}`,
  )
  t.match(error.message, /^[A-Z][^\n]*\.$/, `${label}: a sentence`)
  for (const words of wordsBehind(error))
    t.notOk(error.message.includes(words), `${label}: not the driver's ${words}`)
}

async function tries(t: Test, port: number): Promise<void> {
  for (const [name, make] of Object.entries(ENGINES)) {
    const { connector, config } = make(port)
    const { value, error } = connector.config.validate(config)
    if (error) throw error
    const connecting = connector.connect(value, options)
    const connected = connecting.then(
      async connection => {
        // The services behind HTTP are asked with the first statement.
        const asked = connection.introspect().catch((thrown: unknown) => thrown)
        const failure = await asked
        await connection.close()
        return failure
      },
      (thrown: unknown) => thrown,
    )
    const [failure, stages] = await Promise.all([connected, connector.test(value, options)])
    isPlain(t, failure, name)
    const failed = stages.find(({ status }) => status === 'failed')
    isPlain(t, failed?.error, `${name}, test`)
    t.equal(failed?.message, failed?.error?.message)
  }
}

for (const foreign of SERVERS)
  t.test(`${foreign.name} is no database`, async t => tries(t, await start(t, foreign)))

t.test('a MariaDB is no PostgreSQL, and neither is any other engine', { skip: mariadbAbsent }, async t => {
  const { port } = await testMariadb()
  const engines = Object.entries(ENGINES).filter(([name]) => !name.startsWith('mysql'))
  for (const [name, make] of engines) {
    const { connector, config } = make(port)
    const failed = (await connector.test(connector.config.validate(config).value, options)).find(
      ({ status }) => status === 'failed',
    )
    isPlain(t, failed?.error, name)
  }
})

t.test('a PostgreSQL is no other engine', async t => {
  const { port } = await testCluster()
  const engines = Object.entries(ENGINES).filter(([name]) => !/^(postgresql|redshift)/.test(name))
  for (const [name, make] of engines) {
    const { connector, config } = make(port)
    const failed = (await connector.test(connector.config.validate(config).value, options)).find(
      ({ status }) => status === 'failed',
    )
    isPlain(t, failed?.error, name)
  }
})
