/** A server in a process of its own, ours or the bare one that it is held against, for `api.ts`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import Hapi from '@hapi/hapi'
import pg from 'pg'
import { pino } from 'pino'
import type { NamedRule } from '../../plugins/validity/models.ts'
import { presentRule } from '../../plugins/validity/present.ts'
import { Batch } from '../../server/database/batch.ts'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { makeLog } from '../../server/telemetry/log.ts'
import { SECRET_KEY } from '../helpers/server.ts'

/** What the bare server needs: whose rows to read, and a reply that it cannot make by itself. */
export interface Subject {
  companyId: string
  tables: Record<string, string>
  asset: object
}

/** What a process has spent since it was asked last. */
export interface Spent {
  cpuMs: number
  statements: number
  /** How often it waited for answers: of statements that are sent together once. */
  waits: number
}

/** A server, as its parent has it. */
export interface Running {
  url: string
  pid: number
  spent(): Promise<Spent>
  stop(): Promise<void>
}

/** As many connections as our server has for its two roles together. */
const CONNECTIONS = 14

/** Starts one. `profile` names a folder that takes a CPU profile of it. */
export async function startApiServer(
  kind: 'ours' | 'bare',
  databaseUrl: string,
  subject?: Subject,
  profile?: string,
): Promise<Running> {
  const child = fork(import.meta.filename, {
    execArgv: [
      ...['--max-old-space-size=1024', '--max-semi-space-size=8'],
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`, '--cpu-prof-interval=1000'] : []),
    ],
    // Its log is written as ever, and goes nowhere.
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
    env: {
      ...process.env,
      API_SERVER: kind,
      API_SUBJECT: JSON.stringify(subject ?? null),
      PORT: '0',
      ROLE: 'web',
      DATABASE_URL: databaseUrl,
      SECRET_KEY,
      LOG_LEVEL: 'info',
    },
  })
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`the ${kind} server ended with ${code}`)
  })
  died.catch(() => undefined)
  const answer = async <Given>() => ((await Promise.race([once(child, 'message'), died])) as [Given])[0]
  const url = await answer<string>()
  return {
    url,
    pid: child.pid as number,
    async spent() {
      child.send('spent')
      return answer<Spent>()
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function serve(): Promise<void> {
  const counts = { statements: 0, waits: 0 }
  const { prototype } = pg.Client
  const query = prototype.query as (...input: unknown[]) => unknown
  prototype.query = function (this: pg.Client, ...input: unknown[]) {
    const [asked] = input
    counts.statements += asked instanceof Batch ? asked.size : 1
    counts.waits += 1
    return query.apply(this, input)
  } as typeof prototype.query
  const server = process.env.API_SERVER === 'ours' ? await ours() : await makeBareServer()
  await server.start()
  let cpu = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ cpuMs: (user + system) / 1_000, ...counts } satisfies Spent)
    cpu = process.cpuUsage()
    Object.assign(counts, { statements: 0, waits: 0 })
  })
  process.once('disconnect', () => void server.stop({ timeout: 1_000 }).then(() => process.exit()))
  process.send?.(server.info.uri)
}

async function ours(): Promise<Hapi.Server> {
  const config = readConfig()
  const ownerUrl = String(config.databaseUrl)
  return build({
    config,
    ownerUrl,
    secretKey: SECRET_KEY,
    log: process.env.API_LOG === 'silent' ? pino({ level: 'silent' }) : makeLog(config),
    sweeps: false,
  })
}

const RULES = `
  select v.id, v.uuid, t.catalog_name as "catalogName", t.schema_name as "schemaName", t.name as "ofTable",
    v.column_name as "columnName", v.rule_type as "ruleType", v.name, v.severity, v.is_active as "isActive",
    v.check_interval as "checkInterval", v.created_at as "createdAt", v.latest_status as "latestStatus",
    count(*) over () as total
  from validity_rules v join tables t on t.id = v.table_id
  where v.company_id = $1 and v.table_id = $2
  order by v.created_at desc, v.id desc limit 100`

const ASSET = `
  select t.*, s.* from tables t join sources s on s.id = t.source_id where t.company_id = $1 and t.id = $2`

/** The plainest server: one route, one statement, no key, no limit, no other company. */
async function makeBareServer(): Promise<Hapi.Server> {
  const { companyId, tables, asset } = JSON.parse(String(process.env.API_SUBJECT)) as Subject
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS })
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route([
    {
      method: 'GET',
      path: '/rules/{name}',
      async handler({ params }) {
        const table = tables[String(params.name)]
        const { rows } = await pool.query<NamedRule & { total: string }>(RULES, [companyId, table])
        const total = Number(rows[0]?.total ?? 0)
        return {
          data: { items: rows.map(presentRule) },
          pagination: { total, limit: 100, offset: 0, has_more: total > 100 },
        }
      },
    },
    {
      method: 'GET',
      path: '/asset',
      async handler() {
        await pool.query(ASSET, [companyId, tables.hundred])
        return asset
      },
    },
  ])
  return server
}

if (process.env.API_SERVER && process.argv[1] === import.meta.filename) await serve()
