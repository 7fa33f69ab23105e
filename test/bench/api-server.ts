/** A server in a process of its own, ours or the bare one that it is held against, for `api.ts`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import Hapi from '@hapi/hapi'
import Joi from 'joi'
import pg from 'pg'
import { pino } from 'pino'
import { Batch } from '../../server/database/batch.ts'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { makeLog } from '../../server/telemetry/log.ts'
import { SECRET_KEY } from '../helpers/server.ts'

/** What the bare server needs: whose rows to read, and a record with the fields that other features add to a table's. */
export interface Subject {
  companyId: string
  asset: Record<string, unknown>
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
  select v.id, v.uuid, t.catalog_name, t.schema_name, t.name as table_name, v.column_name, v.rule_type, v.name,
    v.severity, v.is_active, v.check_interval, v.created_at, v.latest_status, count(*) over () as total
  from validity_rules v join tables t on t.id = v.table_id
  where v.company_id = $1 and v.table_id = $2
  order by v.created_at desc, v.id desc limit $3 offset $4`

const ASSET = `
  select t.id, t.qualified_name, t.kind, s.name as source, t.catalog_name, t.schema_name, t.name, t.description,
    t.comment, t.is_active, t.column_count, t.estimated_rows, t.columns, t.tags, t.created_at, t.updated_at
  from tables t join sources s on s.id = t.source_id
  where t.company_id = $1 and t.id = $2`

const ID = Joi.object({ id: Joi.string().guid().required() })
const PAGE = Joi.object({
  limit: Joi.number().integer().min(1).max(500).default(50),
  offset: Joi.number().integer().min(0).default(0),
})

/**
 * What a good engineer writes who does not know the product: hapi, joi for path and query, a pool of pg, for each route
 * one prepared statement that names the company and finds its rows in an index, and JSON built of its columns. It uses
 * nothing of the product and has one company only: it asks for no key, counts no limit, writes no log and leaves out
 * row-level security. The fields that other features add to a table's record are given to it.
 */
async function makeBareServer(): Promise<Hapi.Server> {
  const { companyId, asset } = JSON.parse(String(process.env.API_SUBJECT)) as Subject
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS })
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.validator(Joi)
  server.route([
    {
      method: 'GET',
      path: '/rules/{id}',
      options: { validate: { params: ID, query: PAGE } },
      async handler({ params, query }) {
        const { limit, offset } = query as { limit: number; offset: number }
        const values = [companyId, params.id, limit, offset]
        const { rows } = await pool.query<Row>({ name: 'rules', text: RULES, values })
        const total = Number(rows[0]?.total ?? 0)
        const items = rows.map(row => ({
          id: Number(row.id),
          uuid: `v_${String(row.uuid)}`,
          table_path: [row.catalog_name, row.schema_name, row.table_name].join('.'),
          column_name: row.column_name,
          rule_type: row.rule_type,
          name: row.name,
          severity: row.severity,
          is_active: row.is_active,
          check_interval: row.check_interval,
          created_at: row.created_at,
          latest_status: row.latest_status,
        }))
        return {
          data: { items },
          pagination: { total, limit, offset, has_more: total > offset + items.length },
        }
      },
    },
    {
      method: 'GET',
      path: '/assets/{id}',
      options: { validate: { params: ID } },
      async handler({ params }, h) {
        const values = [companyId, params.id]
        const { rows } = await pool.query<Row>({ name: 'asset', text: ASSET, values })
        const [row] = rows
        if (!row) return h.response({ error: 'not found' }).code(404)
        return {
          ...asset,
          id: row.id,
          qualified_name: row.qualified_name,
          asset_type: row.kind,
          source: row.source,
          database: row.catalog_name,
          schema: row.schema_name,
          name: row.name,
          table_path: [row.catalog_name, row.schema_name, row.name].join('.'),
          description: row.description ?? row.comment,
          is_active: row.is_active,
          column_count: row.column_count,
          estimated_rows: Number(row.estimated_rows),
          columns: (row.columns as Record<string, unknown>[]).map(column => ({
            name: column.name,
            data_type: column.type,
            nullable: column.nullable,
            description: column.comment,
            tags: [],
          })),
          tags: row.tags,
          created_at: row.created_at,
          updated_at: row.updated_at,
        }
      },
    },
  ])
  return server
}

type Row = Record<string, unknown>

if (process.env.API_SERVER && process.argv[1] === import.meta.filename) await serve()
