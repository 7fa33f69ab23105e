import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import pg from 'pg'
import { pino } from 'pino'
import { build, type BuildOptions } from '../../server/build.ts'
import { PLAN_LIMITS } from '../../server/http/limits.ts'
import { readConfig } from '../../server/settings/config.ts'
import { authority } from './certificates.ts'
import { checkReplies } from './check-replies.ts'
import { testCluster } from './cluster.ts'
import { addCredential, openWatchedLog, watchCredentials, type LogWatch } from './log-watch.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** What a request gave. */
export interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test knows the shape it expects, and fails where it is another
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
  /** Asks with the key, and waits when it has asked too often within a second. */
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

/** How a server differs from the others. */
interface ServerOptions {
  settings?: Record<string, string>
  build?: Partial<BuildOptions>
  /** Whether the server is this test's alone, since the test alters its code, its schema or its roles. */
  isOwn?: boolean
}

/**
 * A server on a database that holds nothing yet, with jobs running and sweeps only by hand. Starting one takes 0.3 s of
 * CPU, so that tests of a process that run one after another get the same one, emptied in between.
 */
export async function startServer(t: Teardown, options: ServerOptions = {}): Promise<TestServer> {
  // A benchmark is no test: it ends its server itself, and tap would end the benchmark after 30 s.
  const isTest = 'pass' in t
  const key = !isTest || options.build || options.isOwn ? null : JSON.stringify(options.settings ?? {})
  if (key !== null) await closeIdleAtEnd()
  const idle = key === null ? undefined : idleServers.get(key)?.pop()
  const running = idle ?? (await openServer(options))
  t.teardown(async () => {
    await running.endTwins()
    const isKept = key !== null && (await empty(running))
    if (isKept) idleServers.set(key, [...(idleServers.get(key) ?? []), running])
    else await running.close()
    running.watch.check()
  })
  return running.app
}

interface RunningServer {
  app: TestServer
  /** `listParts` and `describeDatabase` at its start. */
  parts: unknown[]
  database: string
  watch: LogWatch
  endTwins(): Promise<void>
  close(): Promise<void>
}

/** Servers that no test uses at the moment, by their settings. */
const idleServers = new Map<string, RunningServer[]>()

async function openServer(options: ServerOptions): Promise<RunningServer> {
  // A server keeps the authorities that it found at its first request, and a later file may start a receiver.
  await authority()
  const cluster = await testCluster()
  const admin = await connect(urlOf(cluster, 'postgres', cluster.user, cluster.password))
  const template = await ensureTemplate(admin, cluster)
  const name = `test_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  await admin.query(`create database ${name} template ${template} strategy file_copy owner ${OWNER}`)
  const ownerUrl = urlOf(cluster, name, OWNER, OWNER_PASSWORD)
  addCredential(OWNER_PASSWORD, 'password of the database')
  addCredential(SECRET_KEY, 'SECRET_KEY')
  const { log, watch } = openWatchedLog(options.build?.log)
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
  const endTwins = async () => {
    await Promise.all(twins.splice(0).map(twin => twin.stop({ timeout: 1_000 })))
  }
  const ask: TestServer['ask'] = (method, path, payload, credential) =>
    inject(server, method, path, payload, credential)
  const app: TestServer = {
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
  const close = async () => {
    await server.stop({ timeout: 1_000 })
    await direct.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop role if exists ${name}_app`)
    await admin.end()
  }
  const database = await describeDatabase(app)
  return { app, parts: listParts(server), database, watch, endTwins, close }
}

/** Tables whose rows the start makes. */
const KEPT_TABLES = ['tidemark_migrations', 'tidemark_migrations_lock', 'installation']

/** A table without a page has had no row: most have none, and deleting from each would take most of the time. */
const EMPTY = `do $$ declare place text; begin
  set local session_replication_role = replica;
  for place in
    select c.oid::regclass from pg_class c
     where c.relkind = 'r' and pg_relation_size(c.oid) > 0
       and (c.relnamespace in ('public'::regnamespace, 'partitions'::regnamespace)
             and c.relname <> all ('{${KEPT_TABLES.join()}}')
         or c.oid = 'pgboss.job_dependency'::regclass
         or c.oid in (select relid from pg_partition_tree('pgboss.job')))
  loop execute 'delete from ' || place; end loop; end $$`

/** What the next test must find as it was: in the database, tables, rights, triggers, functions, settings and roles. */
async function describeDatabase({ query }: TestServer): Promise<string> {
  const [shape] = await query(
    `select md5(string_agg(concat_ws(' ', c.relname, c.relnatts, c.relacl), ',' order by c.oid)) as tables,
       (select count(*) from pg_trigger where not tgisinternal) as triggers,
       (select count(*) from pg_proc where pronamespace = 'public'::regnamespace) as functions,
       (select string_agg(s.setconfig::text, ',') from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
        where d.datname = current_database()) as settings,
       (select string_agg(rolpassword, ',' order by oid) from pg_authid where starts_with(rolname, current_database()))
         as passwords
     from pg_class c where c.relnamespace = 'public'::regnamespace`,
  )
  return JSON.stringify(shape)
}

/** And of the server: its routes, and the methods and settings that a test may have replaced. */
function listParts(server: Server): unknown[] {
  const { config, connectors, checks, db, egress, jobs, limits, vault } = server
  const decorated = [
    config,
    connectors,
    checks,
    db,
    egress,
    jobs,
    limits,
    vault,
    ...Object.values(server.plugins),
  ]
  const parts = decorated.flatMap(decoration => Object.values(decoration as object))
  return [server.table().length, ...parts.filter(part => typeof part !== 'object')]
}

async function isUnaltered({ app, parts, database }: RunningServer): Promise<boolean> {
  const now = listParts(app.server)
  const isSame = now.length === parts.length && now.every((part, index) => part === parts[index])
  // A test may have had it drain its jobs.
  const isWorking = app.server.info.started > 0 && app.server.jobs.lookedAt() !== null
  return isSame && isWorking && (await describeDatabase(app)) === database
}

/**
 * Removes all that tests stored; returns whether the server can be used again, which it cannot while it works a job, or
 * when a test has altered it.
 */
async function empty(running: RunningServer): Promise<boolean> {
  const { app } = running
  try {
    if (!(await isUnaltered(running))) return false
    for (const deadline = Date.now() + 1_000; ;) {
      await app.query(`delete from pgboss.job where state <> 'active'`)
      const [working] = await app.query(`select 1 from pgboss.job where state = 'active' limit 1`)
      if (!working) break
      if (Date.now() > deadline) return false
      await wait(20)
    }
    await app.query(EMPTY)
    app.server.jobs.forgetSettled()
    return true
  } catch {
    // A test took the database down, or what belongs to it.
    return false
  }
}

/** The settings of a server that differs in none. */
const NO_SETTINGS = JSON.stringify({})
let isClosing = { atEndOfFile: false, atEndOfProcess: false }

/**
 * Closes idle servers when the tests of the file have ended, but keeps one without settings of its own for the other files
 * of the process, which closes it at its end.
 */
async function closeIdleAtEnd(): Promise<void> {
  // Not above: processes that tests start load this file, and tap would write to their parent.
  const { default: t } = await import('tap')
  if (!isClosing.atEndOfProcess) t.after(() => closeIdle(() => true))
  // `test/runner/shared-process.ts` runs this one after each file.
  if (!isClosing.atEndOfFile)
    t.teardown(() => {
      isClosing.atEndOfFile = false
      return closeIdle(key => key !== NO_SETTINGS)
    })
  isClosing = { atEndOfFile: true, atEndOfProcess: true }
}

async function closeIdle(isMeant: (key: string) => boolean): Promise<void> {
  const keys = [...idleServers.keys()].filter(isMeant)
  const idle = keys.flatMap(key => idleServers.get(key) ?? [])
  for (const key of keys) idleServers.delete(key)
  await Promise.all(idle.map(running => running.close()))
  for (const { watch } of idle) watch.check()
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
  const folder = new URL('../../migrations/', import.meta.url)
  const files = readdirSync(folder)
    .sort()
    .map(name => readFileSync(new URL(name, folder)))
  const version = createHash('sha256').update(Buffer.concat(files)).digest('hex')
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
    ask: (method, path, payload) => askPatiently(() => ask(method, path, payload, key)),
  }
}

/** Asks again when the second's requests are used up: a test sends more of them than a person. */
async function askPatiently(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send()
    const isBurst = reply.status === 429 && reply.body.error?.details?.limit === PLAN_LIMITS.enterprise.burst
    if (!isBurst) return reply
    await wait(1_000 * Number(reply.headers['retry-after']))
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
