/**
 * Replays public tables day by day: the API watches them, the product's own scans and freshness checks judge each day at the
 * time that they are given, and after each fault both databases are put back as they were before it. Not replayed is what
 * only a clock starts: sweeps, retries and deliveries.
 */
import { startServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'
import { discover } from '../../helpers/world.ts'
import { applyJob } from '../../../plugins/recommendations/watch/jobs.ts'
import { planFaults, storedRow, type PlannedFault, type PublicTable, type Value } from './faults.ts'

export const HISTORY_DAYS = 30
export const CLEAN_DAYS = 24
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** When freshness is checked, in hours after the day whose rows came at its end. */
const FRESHNESS_HOURS = [1, 7, 13, 19]

/** An alert that began on a day. */
export interface BegunAlert {
  table: string
  kind: string
  check: string
  column: string | null
  title: string
}

/** A fault with the alerts that began on its day. */
export interface JudgedFault {
  table: string
  fault: PlannedFault
  alerts: BegunAlert[]
}

export interface ReplayResult {
  tables: number
  /** Checks of each table, by its name. */
  checks: Map<string, number>
  /** Statements of the scan of each table on its last clean day. */
  statements: number[]
  falseAlerts: (BegunAlert & { day: number })[]
  faults: JudgedFault[]
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** The name that a table has at the source; two packages have a table `weather`. */
export function sourceName({ name }: Pick<PublicTable, 'name'>): string {
  return name.replace('/', '_').toLowerCase()
}

/**
 * @param parents tables without days, loaded whole before the first
 * @param level what the source is watched at
 */
export async function replay(
  t: Teardown,
  tables: readonly PublicTable[],
  parents: readonly PublicTable[],
  level: string,
): Promise<ReplayResult> {
  const { config, query } = await startSource(t)
  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '60' } })
  const tenant = await app.signUp()
  const start = Math.floor(Date.now() / DAY_MS) * DAY_MS - HISTORY_DAYS * DAY_MS
  const quote = (name: string) => `"${name}"`
  for (const table of [...tables, ...parents]) {
    const columns = table.columns.map(({ name, type }) => `${quote(name)} ${type}`)
    await query(`create table ${quote(sourceName(table))} (${columns.join(', ')})`)
  }
  const load = async (table: PublicTable, rows: readonly Value[][]) => {
    const name = quote(sourceName(table))
    const stored = JSON.stringify(rows.map(row => storedRow(table, row, start)))
    await query(`insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1)`, [stored])
  }
  for (const table of parents) await load(table, table.days.flat())
  for (const table of tables) await load(table, table.days.slice(0, HISTORY_DAYS).flat())

  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    ...{ name: 'public', source_type: 'postgresql', connection_config: config },
  })
  const { id: sourceId } = made.body.data as { id: string }
  await discover({ app, tenant, asset: { id: sourceId } })
  const { companyId } = tenant
  const settled = app.server.jobs.settled(applyJob, data => data.source_id === sourceId)
  const watched = await tenant.ask('POST', `/api/v1/sdk/assets/${sourceId}/watch`, { level })
  if (watched.status !== 200) throw new Error(JSON.stringify(watched.body))
  await settled
  const counted = await app.query(
    `select t.name, cast(count(*) as int) as count from checks c join tables t on t.id = c.table_id group by t.name`,
  )
  const stored = await app.query('select id, name from tables where source_id = $1', [sourceId])
  const idOf = new Map(stored.map(({ id, name }) => [String(name), String(id)]))

  /** Days pass here and not by the clock. */
  const stopClock = () =>
    app.query(
      `with locked as (select id from checks order by id for update)
       update checks set next_run_at = now() + interval '10 years' where id in (select id from locked)`,
    )
  const known = new Set<string>()
  const statements: number[] = []
  const checkDay = async (day: number): Promise<BegunAlert[]> => {
    await stopClock()
    const at = start + (day + 1) * DAY_MS + HOUR_MS
    statements.length = 0
    for (const table of tables) {
      const ran = await app.server.plugins.checks.runTable(
        companyId,
        idOf.get(sourceName(table))!,
        'active',
        {
          at: new Date(at),
        },
      )
      statements.push(ran.statements)
    }
    for (const hours of FRESHNESS_HOURS)
      await app.server.plugins.freshness.checkSource({
        companyId,
        sourceId,
        at: new Date(start + (day + 1) * DAY_MS + hours * HOUR_MS),
      })
    const found = await app.query(
      `select a.id, a.kind, t.name as table, a.rule_name as check, a.title, c.column_name as column
       from alerts a join tables t on t.id = a.asset_id
       left join checks c on c.uuid::text = regexp_replace(a.cause, '^[a-z]+_', '')
       where a.severity <> 'info' or a.kind = 'metric_anomaly'`,
    )
    const begun = found.filter(({ id }) => !known.has(String(id)))
    for (const { id } of begun) known.add(String(id))
    return begun as unknown as BegunAlert[]
  }

  // A watched source learns the past of its tables; here by scans of each of its days.
  for (const table of tables) await query(`truncate ${quote(sourceName(table))}`)
  for (let day = 0; day < HISTORY_DAYS; day += 1) {
    for (const table of tables) await load(table, table.days[day]!)
    await checkDay(day)
  }
  const falseAlerts: ReplayResult['falseAlerts'] = []
  for (let day = HISTORY_DAYS; day < HISTORY_DAYS + CLEAN_DAYS; day += 1) {
    for (const table of tables) await load(table, table.days[day]!)
    falseAlerts.push(...(await checkDay(day)).map(alert => ({ ...alert, day })))
  }
  const last = { statements: [...statements] }
  const faulty = HISTORY_DAYS + CLEAN_DAYS
  const plans = new Map(tables.map(table => [table, planFaults(table, faulty)]))
  const rounds = Math.max(...[...plans.values()].map(({ length }) => length))
  const restore = await saveDatabase(app.query)
  const restoreSource = await saveDatabase(query)
  const before = new Set(known)
  const faults: JudgedFault[] = []
  for (let round = 0; round < rounds; round += 1) {
    const planted = tables.flatMap(table => {
      const fault = plans.get(table)![round]
      return fault ? [{ table, fault }] : []
    })
    for (const { table, fault } of planted) await load(table, fault.plant(table.days[faulty]!))
    const alerts = await checkDay(faulty)
    for (const { table, fault } of planted) {
      const name = sourceName(table)
      faults.push({ table: name, fault, alerts: alerts.filter(alert => alert.table === name) })
    }
    await restore()
    await restoreSource()
    known.clear()
    for (const id of before) known.add(id)
  }
  const checks = new Map(counted.map(({ name, count }) => [String(name), Number(count)]))
  return { tables: tables.length, checks, statements: last.statements, falseAlerts, faults }
}

type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>

/** Keeps the rows of all tables of a database. @returns puts them back */
async function saveDatabase(query: Query): Promise<() => Promise<void>> {
  const tables = await query(
    `select c.oid::regclass::text as name, 'kept_' || c.oid as copy, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = 'public' group by c.oid`,
  )
  await query('create schema kept')
  const kept: { name: string; copy: string; columns: string }[] = []
  for (const each of tables) {
    const table = {
      name: String(each.name),
      copy: `kept.${String(each.copy)}`,
      columns: String(each.columns),
    }
    await query(`create table ${table.copy} as select ${table.columns} from ${table.name}`)
    kept.push(table)
  }
  return async () => {
    // One string is one transaction; triggers and foreign keys are off in it.
    const steps = kept.map(
      ({ name, copy, columns }) =>
        `delete from ${name}; insert into ${name} (${columns}) overriding system value select ${columns} from ${copy};`,
    )
    await query(`set local session_replication_role = replica; ${steps.join(' ')}`)
  }
}
