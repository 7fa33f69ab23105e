import { createHash, randomUUID } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import pg from 'pg'
import { pino } from 'pino'
import { build, type BuildOptions } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { manifest } from '../../server/manifest.ts'
import { checkReplies } from './check-replies.ts'
import { testCluster } from './cluster.ts'
import { addCredential, watchCredentials, watchedLog } from './log-watch.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** What a request gave. */
export interface Reply {
  status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test knows the shape it expects, and fails where it is another
  body: any
  headers: Record<string, unknown>
}

/** A company with its owner signed in. */
export interface Tenant {
  email: string
  password: string
  companyId: string
  token: string
  /** An API key of scope admin. */
  key: string
  /** Asks with the key. */
  ask(method: string, path: string, payload?: unknown): Promise<Reply>
}

export interface TestServer {
  server: Server
  /** Asks with a credential, or none. `path` starts with `/`; `/api/v1` is not added. */
  ask(method: string, path: string, payload?: unknown, credential?: string): Promise<Reply>
  /** Registers a company and signs its owner in. */
  signUp(name?: string): Promise<Tenant>
  /** Runs one statement on the product's own database as its owner. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Starts another process's worth of server on the same database. */
  startTwin(): Promise<Server>
}

const OWNER = 'tidemark_test'
const OWNER_PASSWORD = 'tidemark-test-owner'
/** The same for all servers of a run, so that the application role's password is too. */
export const SECRET_KEY = createHash('sha256').update('tidemark tests').digest('base64')

/** A server of its own: database copied from a migrated template, jobs running, sweeps only by hand. */
export async function startServer(
  t: Teardown,
  options: { settings?: Record<string, string>; build?: Partial<BuildOptions> } = {},
): Promise<TestServer> {
  const cluster = await testCluster()
  const admin = await connect(urlOf(cluster, 'postgres', cluster.user, cluster.password))
  const template = await ensureTemplate(admin, cluster)
  const name = `test_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  await admin.query(`create database ${name} template ${template} strategy file_copy owner ${OWNER}`)
  const ownerUrl = urlOf(cluster, name, OWNER, OWNER_PASSWORD)
  addCredential(OWNER_PASSWORD, 'password of the database')
  addCredential(SECRET_KEY, 'SECRET_KEY')
  const log = watchedLog(t, options.build?.log)
  const start = async () => {
    const started = await build({ ...buildOptions(ownerUrl, options.settings), ...options.build, log })
    watchCredentials(started)
    checkReplies(started)
    await started.start()
    return started
  }
  const server = await start()
  const direct = await connect(urlOf(cluster, name, cluster.user, cluster.password))

  const twins: Server[] = []
  t.teardown(async () => {
    await Promise.all([server, ...twins].map(running => running.stop({ timeout: 1_000 })))
    await direct.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop role if exists ${name}_app`)
    await admin.end()
  })
  const ask: TestServer['ask'] = (method, path, payload, credential) =>
    inject(server, method, path, payload, credential)
  return {
    server,
    ask,
    signUp: company => signUp(ask, company),
    query: async (text, values) => (await direct.query(text, values)).rows as Record<string, unknown>[],
    async startTwin() {
      const twin = await start()
      twins.push(twin)
      return twin
    },
  }
}

type Cluster = Awaited<ReturnType<typeof testCluster>>

function buildOptions(ownerUrl: string, settings: Record<string, string> = {}): Omit<BuildOptions, 'log'> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: ownerUrl,
    SECRET_KEY,
    LOG_LEVEL: 'silent',
    ...settings,
  })
  return {
    config,
    ownerUrl,
    secretKey: SECRET_KEY,
    sourceAllow: ['127.0.0.0/8'],
    webhookAllow: ['127.0.0.0/8'],
    sweeps: false,
    spies: true,
  }
}

/** Migrates once a run and code version; other files copy the result. */
async function ensureTemplate(admin: pg.Client, cluster: Cluster): Promise<string> {
  const version = createHash('sha256')
    .update(manifest.migrations.map(({ name, up }) => name + up).join())
    .digest('hex')
  const template = `template_${version.slice(0, 12)}`
  await admin.query('select pg_advisory_lock(4711)')
  try {
    const known = await admin.query('select 1 from pg_database where datname = $1', [template])
    if (known.rowCount) return template
    await admin.query(
      `do $$ begin create role ${OWNER} login createrole password '${OWNER_PASSWORD}'; exception when duplicate_object then null; end $$`,
    )
    const making = `${template}_making`
    await admin.query(`drop database if exists ${making} with (force)`)
    await admin.query(`create database ${making} owner ${OWNER}`)
    const log = pino({ level: 'silent' })
    const server = await build({ ...buildOptions(urlOf(cluster, making, OWNER, OWNER_PASSWORD)), log })
    await server.initialize()
    await server.stop({ timeout: 1_000 })
    await admin.query(`alter database ${making} rename to ${template}`)
    return template
  } finally {
    await admin.query('select pg_advisory_unlock(4711)')
  }
}

async function inject(
  server: Server,
  method: string,
  path: string,
  payload?: unknown,
  credential?: string,
): Promise<Reply> {
  const response = await server.inject({
    method,
    url: path,
    headers: {
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
    ...(payload !== undefined && {
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    }),
  })
  const isJson = String(response.headers['content-type'] ?? '').includes('json')
  return {
    status: response.statusCode,
    body: isJson && response.payload !== '' ? JSON.parse(response.payload) : response.payload,
    headers: response.headers,
  }
}

async function signUp(ask: TestServer['ask'], company = 'Acme'): Promise<Tenant> {
  const email = `owner-${randomUUID().slice(0, 8)}@example.com`
  const password = `correct horse ${randomUUID().slice(0, 8)}`
  const registered = await ask('POST', '/api/v1/auth/register', { email, password, company_name: company })
  const { body: login } = await ask('POST', '/api/v1/auth/login', { email, password })
  const made = await ask('POST', '/api/v1/api-keys', { name: 'tests', scope: 'admin' }, login.access_token)
  const key = made.body?.data?.key as string
  if (!key) throw new Error(`signing up failed: ${JSON.stringify([registered.body, login, made.body])}`)
  return {
    email,
    password,
    companyId: registered.body.company.id,
    token: login.access_token,
    key,
    ask: (method, path, payload) => ask(method, path, payload, key),
  }
}

function urlOf({ host, port }: Cluster, database: string, user: string, password: string): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  return client
}
