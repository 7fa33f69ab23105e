/**
 * What recommended checks find, and how often they alert for nothing:
 * `npm run bench:recommendations -- [--seeds a,b] [--tables N] [--level standard] [--detail]`.
 *
 * Tables are made from a seed and loaded day after day. Their source is watched at a level when they are 30 days old, from
 * profiles of that time. Then 30 clean days pass, in which every alert is a false one, and on the last three days one
 * fault is planted into each table. An alert that begins then is a true one if it is about the column of the fault, or about
 * the table where the fault is of the table. The seeds that are the default were not looked at while rules were written:
 * `--seeds tune-1,tune-2` are for that. Figures are printed and not judged.
 */
import { parseArgs } from 'node:util'
import { startServer } from '../helpers/server.ts'
import { startSource } from '../helpers/source.ts'
import { discover } from '../helpers/world.ts'
import { applyJob } from '../../plugins/recommendations/watch/jobs.ts'
import {
  CUSTOMERS,
  FAULTS,
  loadDay,
  makeTables,
  plantFault,
  type Fault,
  type LoadedRow,
  type MadeTable,
} from './recommendations-world.ts'
import { randomOf } from './detector-random.ts'
import { printRows, withTeardown, type Teardown } from './rows.ts'

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'held-out-1,held-out-2,held-out-3' },
    tables: { type: 'string', default: '32' },
    level: { type: 'string', default: 'standard' },
    detail: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const HISTORY_DAYS = 30
const CLEAN_DAYS = 30
const FAULT_DAYS = 3
const DAYS_OF_MONTH = 30
const DAY_MS = 86_400_000
/** Freshness is checked so often in a day. */
const CHECKS_PER_DAY = 2

/** Faults of a table and not of a column of it. */
const TABLE_FAULTS: ReadonlySet<Fault> = new Set(['stale', 'volume drop'])

/** An alert that began on a day. */
interface BegunAlert {
  day: number
  table: string
  kind: string
  check: string
  column: string | null
}

interface SeedResult {
  tables: MadeTable[]
  alerts: BegunAlert[]
  checks: number
}

await withTeardown(async t => {
  const results: SeedResult[] = []
  for (const seed of given.seeds.split(',')) {
    const startedAt = performance.now()
    results.push(await runSeed(t, seed))
    console.log(`${seed}: ${Math.round((performance.now() - startedAt) / 1_000)} s`)
  }
  report(results)
})

async function runSeed(t: Teardown, seed: string): Promise<SeedResult> {
  const { config, query } = await startSource(t)
  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '60' } })
  const tenant = await app.signUp()
  const tables = makeTables(seed, Number(given.tables))
  const random = randomOf(`rows ${seed}`)
  await query('create table customers (id int primary key, name text)')
  await query(`insert into customers select n, 'customer ' || n from generate_series(1, ${CUSTOMERS}) n`)
  for (const { name, columns, hasKey } of tables)
    await query(
      `create table ${name} (id int${hasKey ? ' primary key' : ''}, ${columns.map(each => `${each.name} ${each.type}`).join(', ')}, created_at timestamptz)`,
    )
  const ids = new Map(tables.map(({ name }) => [name, 1]))
  const start = Date.now() - (HISTORY_DAYS + CLEAN_DAYS + FAULT_DAYS) * DAY_MS
  /** Rows are written over the six hours before the checks of a day. */
  const load = async (table: MadeTable, day: number, rows: LoadedRow[]) => {
    const at = start + day * DAY_MS
    const timed = rows.map((row, n) => ({
      ...row,
      created_at: new Date(at - (6 * 3_600_000 * (rows.length - n)) / rows.length).toISOString(),
    }))
    if (timed.length > 0)
      await query(
        `insert into ${table.name} select * from jsonb_populate_recordset(null::${table.name}, $1)`,
        [JSON.stringify(timed)],
      )
  }
  const makeRows = (table: MadeTable, day: number) => {
    const rows = loadDay(random, table, day, ids.get(table.name)!)
    ids.set(table.name, ids.get(table.name)! + rows.length)
    return rows
  }
  for (let day = 0; day < HISTORY_DAYS; day += 1)
    for (const table of tables) await load(table, day, makeRows(table, day))

  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: config,
  })
  const { id: sourceId } = made.body.data as { id: string }
  await discover({ app, tenant, asset: { id: sourceId } })
  const { companyId } = tenant
  const settled = app.server.jobs.settled(applyJob, data => data.source_id === sourceId)
  const watched = await tenant.ask('POST', `/api/v1/sdk/assets/${sourceId}/watch`, { level: given.level })
  if (watched.status !== 200) throw new Error(JSON.stringify(watched.body))
  await settled
  // Days pass here and not by the clock.
  await app.query(`update checks set next_run_at = now() + interval '10 years'`)
  const [{ count: checks } = { count: 0 }] = await app.query('select count(*) as count from checks')
  const stored = await app.query('select id, name from tables where source_id = $1', [sourceId])
  const tableIds = new Map(stored.map(({ id, name }) => [String(name), String(id)]))

  const alerts: BegunAlert[] = []
  const known = new Set<string>()
  const checkDay = async (day: number) => {
    const at = new Date(start + day * DAY_MS)
    for (const tableId of tableIds.values())
      await app.server.plugins.checks.runTable(companyId, tableId, 'active', { at })
    for (let n = 0; n < CHECKS_PER_DAY; n += 1)
      await app.server.plugins.freshness.checkSource({
        ...{ companyId, sourceId },
        at: new Date(at.getTime() + (n * DAY_MS) / CHECKS_PER_DAY),
      })
    for (const alert of await readAlerts(app.query)) {
      if (known.has(alert.id)) continue
      known.add(alert.id)
      alerts.push({ ...alert, day })
    }
  }
  for (let day = HISTORY_DAYS; day < HISTORY_DAYS + CLEAN_DAYS + FAULT_DAYS; day += 1) {
    const isFaulty = day >= HISTORY_DAYS + CLEAN_DAYS
    const isFirst = day === HISTORY_DAYS + CLEAN_DAYS
    for (const table of tables) {
      const rows = makeRows(table, day)
      // A load that stops stays away; other faults are of one day.
      const isPlanted = isFirst || (isFaulty && table.fault === 'stale')
      await load(table, day, isPlanted ? plantFault(random, table, rows) : rows)
    }
    await checkDay(day)
  }
  return { tables, alerts, checks: Number(checks) }
}

type Query = Awaited<ReturnType<typeof startServer>>['query']

interface StoredAlert extends Omit<BegunAlert, 'day'> {
  id: string
}

async function readAlerts(query: Query): Promise<StoredAlert[]> {
  const found = await query(
    `select a.id, a.kind, t.name as table, a.rule_name as check, c.column_name as column
     from alerts a join tables t on t.id = a.asset_id
     left join checks c on c.uuid::text = regexp_replace(a.cause, '^[mv]_', '')
     where a.severity <> 'info' or a.kind = 'metric_anomaly'`,
  )
  return found as unknown as StoredAlert[]
}

function report(results: readonly SeedResult[]): void {
  const firstFault = HISTORY_DAYS + CLEAN_DAYS
  const found = new Map<Fault, { planted: number; caught: number }>(
    FAULTS.map(fault => [fault, { planted: 0, caught: 0 }]),
  )
  let [truly, falsely, clean, tableCount] = [0, 0, 0, 0]
  for (const { tables, alerts } of results) {
    tableCount += tables.length
    for (const table of tables) {
      const { fault, faultColumn } = table
      const own = alerts.filter(alert => alert.table === table.name)
      const isTrue = (alert: BegunAlert) =>
        alert.day >= firstFault &&
        (TABLE_FAULTS.has(fault) ? alert.column === null : alert.column === faultColumn)
      const hits = own.filter(isTrue)
      const misses = own.filter(alert => !isTrue(alert))
      const counts = found.get(fault)!
      counts.planted += 1
      if (hits.length > 0) counts.caught += 1
      truly += hits.length
      falsely += misses.length
      clean += own.filter(({ day }) => day < firstFault).length
      if (given.detail) {
        for (const { day, kind, check } of misses)
          console.log(`  false on day ${day}: ${table.name} ${kind} ${check} (${fault} of ${faultColumn})`)
        if (hits.length === 0) console.log(`  missed: ${fault} of ${table.name}.${faultColumn}`)
      }
    }
  }
  const planted = [...found.values()].reduce((sum, counts) => sum + counts.planted, 0)
  const caught = [...found.values()].reduce((sum, counts) => sum + counts.caught, 0)
  const checks = results.reduce((sum, result) => sum + result.checks, 0)
  const perMonth = clean / (tableCount * (CLEAN_DAYS / DAYS_OF_MONTH))
  console.log(`${tableCount} tables, ${checks} checks at the level ${given.level}`)
  for (const [fault, { planted, caught }] of found)
    console.log(`  ${fault.padEnd(14)} ${caught} of ${planted}`)
  console.log(`recall ${(caught / planted).toFixed(3)}: ${caught} of ${planted} faults`)
  console.log(`precision ${(truly / (truly + falsely)).toFixed(3)}: ${truly} of ${truly + falsely} alerts`)
  console.log(`alerts a table a month on clean history ${perMonth.toFixed(3)}: ${clean} alerts`)
  printRows([
    { what: 'recommended checks: faults found', ours: caught / planted, unit: 'share' },
    { what: 'recommended checks: precision', ours: truly / (truly + falsely), unit: 'share' },
    { what: 'recommended checks: alerts a table a month', ours: perMonth, unit: 'alerts' },
  ])
}
