import { randomUUID } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { formatName, parseName } from '../../../connectors/catalog.ts'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { sweepJob } from '../../../plugins/checks/jobs.ts'
import { sourceJobKind } from '../../../plugins/checks/source-jobs.ts'
import { mariadbAbsent, startShop, type Shop } from '../../helpers/mariadb.ts'
import { startSource, type Source } from '../../helpers/source.ts'
import { startWorlds } from './worlds.ts'

const checkJob = sourceJobKind('freshness')

type Teardown = Parameters<typeof startSource>[0]
type Worlds = Awaited<ReturnType<typeof startWorlds>>

/** What differs between the engines of a suite that serves all of them. */
export interface Engine {
  name: 'postgresql' | 'mysql' | 'sqlite'
  /** Why it cannot be tested here; false when it can. */
  absent: string | false
  /** Types of columns: a wall clock time, a moment, and so on. */
  type: Record<'naive' | 'moment' | 'text' | 'integer', string>
  /** A moment such as `2025-07-10T10:00:00Z` as the engine writes it in a column of type `moment`. */
  moment(iso: string): string
  /** A name in quotes. */
  quote(name: string): string
  /** A database with what the statements make. */
  start(t: Teardown, folder: string): Promise<Database>
}

interface Database {
  config: object
  /** Catalog and schema of its tables. */
  at: readonly [string, string]
  run(statement: string): Promise<unknown>
  /** The database itself, for what only its engine can do. */
  own: Source | Shop | string
}

const plain = (iso: string) => `'${iso.slice(0, 19).replace('T', ' ')}'`

const postgresql: Engine = {
  name: 'postgresql',
  absent: false,
  type: { naive: 'timestamp', moment: 'timestamptz', text: 'text', integer: 'bigint' },
  moment: iso => `'${iso}'`,
  quote: name => `"${name.replaceAll('"', '""')}"`,
  async start(t) {
    const source = await startSource(t)
    return { config: source.config, at: [source.name, 'public'], run: source.query, own: source }
  },
}

const mysql: Engine = {
  name: 'mysql',
  absent: mariadbAbsent,
  type: { naive: 'datetime(3)', moment: 'timestamp(3) null', text: 'varchar(80)', integer: 'bigint' },
  moment: plain,
  quote: name => `\`${name.replaceAll('`', '``')}\``,
  async start(t) {
    const shop = await startShop(t)
    // The server's own zone is New York's; what the tests write is meant in UTC.
    await shop.query(`set time_zone = '+00:00'`)
    return { config: shop.config, at: [shop.name, shop.name], run: shop.query, own: shop }
  },
}

const sqlite: Engine = {
  name: 'sqlite',
  absent: false,
  type: { naive: 'timestamp', moment: 'timestamp with time zone', text: 'text', integer: 'bigint' },
  moment: iso => `'${iso}'`,
  quote: postgresql.quote,
  async start(t, folder) {
    const path = join(folder, `${randomUUID()}.db`)
    const file = new DatabaseSync(path)
    t.teardown(() => file.close())
    return { config: { path }, at: ['main', 'main'], run: async text => file.exec(text), own: path }
  },
}

export const ENGINES: readonly Engine[] = [postgresql, mysql, sqlite]

/** Statements that make a table with a column `ts` of a type, and rows of literals. */
export function table(name: string, type: string, ...rows: string[]): string[] {
  return [
    `create table ${name} (id integer, ts ${type})`,
    ...rows.map(row => `insert into ${name} values (1, ${row})`),
  ]
}

/** A source of an engine, its tables discovered. */
export type Place = Awaited<ReturnType<Awaited<ReturnType<typeof startEngines>>['place']>>

/** A server with a company, which adds a source of any engine. */
export async function startEngines(t: Teardown) {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'tidemark-engines-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const worlds = await startWorlds(t, { settings: { FILE_SOURCES: folder } })
  const { server, tenant, query } = worlds

  async function place(t: Teardown, engine: Engine, statements: readonly string[]) {
    const database = await engine.start(t, folder)
    for (const statement of statements) await database.run(statement)
    const source = await worlds.addSource(engine.name, database.config)
    const discover = async () => {
      const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${source.id}/discover`)
      await server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
    }
    return { ...database, source, discover, ...schedulesOf(worlds, source, database.at) }
  }

  return { server, tenant, query, place }
}

/** What a suite asks about the tables of one source. */
function schedulesOf(
  { server, tenant, query }: Worlds,
  source: { id: string; name: string },
  at: readonly string[],
) {
  const watched: string[] = []
  let paused = 0

  /** Asks for a schedule of the table `t`. */
  const ask = (fields: object) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: formatName([...at, 't']),
      ...fields,
    })

  /** Makes a schedule; its first check comes when a test says so, and when. */
  async function watch(table: string, fields: object): Promise<string> {
    const reply = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: formatName([...at, table]),
      is_active: false,
      ...fields,
    })
    if (reply.status !== 201) throw new Error(`${table}: ${JSON.stringify(reply.body)}`)
    const { id } = reply.body.data as { id: string }
    watched.push(id)
    paused += 1
    return id
  }

  /** Schedules run from now on. Over HTTP that would check them at once, by the clock on the wall. */
  async function resume(due: readonly string[] = []): Promise<void> {
    if (paused === 0 && due.length === 0) return
    paused = 0
    await query(
      `update checks set is_active = true,
         next_run_at = now() + case when uuid = any($2::uuid[]) then interval '-1 minute' else interval '1 day' end
       where source_id = $1`,
      [source.id, due],
    )
  }

  /** Checks what is watched, or some of it, as if it were a given time. */
  async function check(time: Date | string, scheduleIds: readonly string[] = watched) {
    await resume()
    return server.plugins.freshness.checkSource({
      companyId: tenant.companyId,
      sourceId: source.id,
      at: new Date(time),
      scheduleIds,
    })
  }

  /** Makes some of what is watched due; the sweep then claims that, and its job checks it, now. */
  async function sweep(due: readonly string[]): Promise<void> {
    await resume(due)
    const checked = server.jobs.settled(checkJob, data => data.source_id === source.id)
    await server.jobs.send(sweepJob, {})
    await checked
  }

  /** The records of all watched tables, by table name. */
  async function records(): Promise<Map<string, object>> {
    const reply = await tenant.ask('GET', `/api/v1/sdk/freshness?asset_id=${source.id}&limit=100`)
    const listed = reply.body.data.data as { table_path: string }[]
    return new Map(listed.map(one => [parseName(one.table_path)?.at(-1) ?? '', one]))
  }

  async function record(table: string) {
    const name = encodeURIComponent(formatName([source.name, ...at, table]))
    const reply = await tenant.ask('GET', `/api/v1/sdk/freshness/${name}`)
    if (reply.status !== 200) throw new Error(`${table}: ${JSON.stringify(reply.body)}`)
    return reply.body.data
  }

  async function change(fields: object): Promise<void> {
    const reply = await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, fields)
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
  }

  /** Alerts of a schedule, the first one first. */
  const alerts = (scheduleId: string) =>
    query(
      `select severity, status, occurrences from alerts
       where kind = 'freshness_violation' and cause = $1 order by created_at, id`,
      [scheduleId],
    )

  return { ask, watch, check, sweep, record, records, change, alerts }
}
