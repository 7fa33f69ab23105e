/** What a scenario plays on: a cluster, a company with destinations, a receiver, and servers that come and go. */
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Random } from '../bench/detector-random.ts'
import { startTestCluster, type OwnCluster } from '../helpers/cluster.ts'
import { startMember, type Member } from './member.ts'
import { startReceiverProcess, type ReceiverProcess } from './receiver.ts'

export interface Stage {
  cluster: OwnCluster
  receiver: ReceiverProcess
  destinations: number
  /** All servers that were ever started. */
  members: Member[]
  /** Milliseconds at which something was taken down, and the attempts that were on their way then. */
  losses: Loss[]
  /** The company and an API key of it, of scope admin. */
  companyId: string
  key: string
  /** The database, past everything that is under test: as its owner, and as the role of the application. */
  url: string
  appUrl: string
  /** What its servers are started with. */
  settings: Record<string, string>
  start(role: 'all' | 'web' | 'worker'): Promise<Member>
  /** Raises so many alerts, a batch at a time. */
  plan(plan: { alerts: number; batch?: number; pause?: number }): Promise<void>
  /** Asks the database, past everything that is under test; waits for it while it is away. */
  query<Row extends object>(text: string, values?: unknown[], database?: string): Promise<Row[]>
  /** Resolves when all that was planned is raised and nothing is pending; false when nothing moves for so many seconds. */
  settled(seconds: number): Promise<boolean>
  end(): Promise<void>
}

/** How a scenario is to be played. */
export interface Play {
  random: Random
  isShort: boolean
  /** Takes the logs of its servers. */
  folder: string
}

/** Something that was taken down at a time, with the attempts that it took along. */
export interface Loss {
  /** Milliseconds since 1970 from which recovery counts. */
  at: number
  /** Whether the database was away before, for long. */
  wasAway: boolean
  attempts: { id: string; n: number }[]
}

/** Milliseconds without a database in which recovery is not to be had. */
const LONG_OUTAGE_MS = 5_000

const DATABASE = 'chaos'

/**
 * Sets the stage with one server on it.
 * @param role of that server
 * @param through where servers reach the cluster, when not directly
 */
export async function setStage(options: {
  destinations: number
  role: 'all' | 'web'
  /** Takes the logs. */
  folder: string
  through?: (cluster: OwnCluster) => Promise<number>
  /** Makes a tablespace for the database, and gives its name. */
  tablespace?: (ask: Stage['query']) => Promise<string>
  settings?: Record<string, string>
}): Promise<Stage> {
  const { folder } = options
  // What was committed is to outlive a crash of the cluster; that the machine crashes too is not tried.
  const cluster = await startTestCluster({ synchronous_commit: 'on' })
  const receiver = await startReceiverProcess(folder)
  const direct = urlOf(cluster, cluster.port, 'postgres')
  const tablespace = await options.tablespace?.((text, values) => ask(direct, text, values))
  await ask(direct, `create database ${DATABASE} ${tablespace ? `tablespace ${tablespace}` : ''}`)
  const port = (await options.through?.(cluster)) ?? cluster.port
  const settings = {
    DATABASE_URL: urlOf(cluster, port, DATABASE),
    SECRET_KEY: randomBytes(32).toString('base64'),
    EGRESS_ALLOW: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    EXTENSIONS: join(import.meta.dirname, 'raiser.ts'),
    WEBHOOK_DELAYS: '0,1,2,3,4',
    ...options.settings,
  }
  const members: Member[] = []
  const stage: Stage = {
    ...{ cluster, receiver, destinations: options.destinations, members, losses: [], companyId: '', key: '' },
    settings,
    url: urlOf(cluster, cluster.port, DATABASE),
    appUrl: urlOf({ ...cluster, user: `${DATABASE}_app` }, cluster.port, DATABASE),
    async start(role) {
      const member = await startMember(`${role}-${members.length + 1}`, folder, { ...settings, ROLE: role })
      members.push(member)
      return member
    },
    async plan({ alerts, batch = 10, pause = 50 }) {
      await stage.query('update chaos_plan set alerts = $1, batch = $2, pause = $3', [alerts, batch, pause])
    },
    query: (text, values, database = DATABASE) => ask(urlOf(cluster, cluster.port, database), text, values),
    settled: seconds => settled(stage, seconds),
    async end() {
      members.forEach(member => member.signal('SIGKILL'))
      receiver.end()
      await cluster.crash()
    },
  }
  const first = await stage.start(options.role)
  const { key, companyId } = await signUp(first.url)
  Object.assign(stage, { key, companyId })
  for (let n = 1; n <= options.destinations; n++) await addDestination(first.url, key, `${receiver.url}/${n}`)
  await stage.query('create table chaos_plan (company_id uuid, alerts int, batch int, pause int)')
  await stage.query('insert into chaos_plan values ($1, 0, 1, 100)', [companyId])
  return stage
}

function urlOf({ host, user, password }: OwnCluster, port: number, database: string): string {
  return `postgres://${user}:${password}@${host}:${port}/${database}`
}

async function ask<Row extends object>(url: string, text: string, values?: unknown[]): Promise<Row[]> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<Row>(text, values)).rows
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!/^(ECONN|EPIPE|57P|08)/.test(code) && !/terminated/.test((error as Error).message)) throw error
      await wait(200)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

/** Sends a request to a server, a POST by default. @throws unless it is answered with 2xx */
export async function post(url: string, payload: object, credential?: string, method = 'POST') {
  const response = await fetch(url, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(credential && { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify(payload),
  })
  if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`)
  return (await response.json()) as {
    company: { id: string }
    access_token: string
    data: { id: string; key: string }
  }
}

/** Registers a company with an API key of scope admin. */
export async function signUp(url: string): Promise<{ key: string; companyId: string }> {
  const auth = `${url}/api/v1/auth`
  const user = { email: `${randomUUID()}@example.com`, password: `correct horse ${randomUUID()}` }
  const { company } = await post(`${auth}/register`, { ...user, company_name: 'Acme' })
  const { access_token: token } = await post(`${auth}/login`, user)
  const { data } = await post(`${url}/api/v1/api-keys`, { name: 'chaos', scope: 'admin' }, token)
  return { key: data.key, companyId: company.id }
}

/** Adds a webhook. @returns its id */
export async function addDestination(url: string, key: string, address: string): Promise<string> {
  const payload = { name: address, destination_type: 'webhook', config: { url: address } }
  const { data } = await post(`${url}/api/v1/sdk/alerts/destinations`, payload, key)
  return data.id
}

async function settled(stage: Stage, seconds: number): Promise<boolean> {
  let deadline = Date.now() + seconds * 1_000
  let attempts = -1
  // The raiser may be between raising and resolving: twice in a row counts.
  for (let quiet = 0; quiet < 2;) {
    if (Date.now() > deadline) return false
    await wait(700)
    const [found] = await stage.query<{ done: boolean; attempts: number }>(
      `select (select cast(count(*) as integer) from delivery_attempts) as attempts,
              (select count(*) from alerts) >= (select alerts from chaos_plan)
          and not exists (select from deliveries where status = 'pending') as done`,
    )
    if (found!.attempts !== attempts) deadline = Date.now() + seconds * 1_000
    attempts = found!.attempts
    quiet = found!.done ? quiet + 1 : 0
  }
  return true
}

/** Notes what was on its way when something was taken down at `at`. To be called when the survivors are done with theirs. */
export async function noteLoss(stage: Stage, at: number, recoversFrom = at): Promise<void> {
  const attempts = await stage.query<{ id: string; n: number }>(
    `select data->>'delivery_id' as id, cast(data->>'n' as integer) as n from pgboss.job
      where name in ('alerts.deliver', 'alerts.retry') and state = 'active' and started_on < to_timestamp($1)`,
    [at / 1_000],
  )
  stage.losses.push({ at: recoversFrom, wasAway: recoversFrom - at > LONG_OUTAGE_MS, attempts })
}
