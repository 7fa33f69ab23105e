import { discover, makeWorldOn, type Stage, type World } from '../../helpers/world.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** The moment of a day's capture. */
export const momentOf = (day: number) => new Date(Date.UTC(2024, 5, 1, 6) + day * 86_400_000)

/** A metric of a table, which defaults to `sales`, and what its captures led to. */
export interface MetricWorld extends World {
  /** The path of the metric. */
  path: string
  /** The record of the metric, as making it answered. */
  metric: { id: string; internal_id: number }
  /** Captures all active metrics of the table as of a day; day 0 is a Saturday, the first of June 2024. */
  capture(day: number): Promise<void>
  captureAt(at: Date): Promise<void>
  /** Copies the rows of the last capture, on day `from`, to every day up to `to`, in the database only. */
  repeat(from: number, to: number): Promise<void>
  /** Alerts of the table's metrics, oldest first, as the database has them. */
  alerts(): Promise<AlertRow[]>
  /** Makes another metric of the table. */
  make(body: object): Promise<MetricWorld['metric']>
}

export interface AlertRow {
  id: string
  status: string
  severity: string
  cause: string
  title: string
  change: string | null
  occurrences: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test knows the details that it expects
  details: any
}

/** Makes a source with a table `sales`, and a metric of it, on a server that others use too. */
export async function metricWorld(
  t: Teardown,
  stage: Stage,
  statements: readonly string[],
  body: object,
): Promise<MetricWorld> {
  const world = await makeWorldOn(t, stage, statements)
  await discover(world)
  return metricOf(world, 'sales', body)
}

/** Makes a metric of a discovered table; a table that others have metrics of is captured for them as well. */
export async function metricOf(world: World, table: string, body: object): Promise<MetricWorld> {
  const { app, tenant, asset } = world
  const base = `/api/v1/sdk/metrics/${asset.id}`
  const make = async (definition: object) => {
    const made = await tenant.ask('POST', base, { table_path: table, ...definition })
    if (made.status !== 201) throw new Error(`the metric was refused: ${JSON.stringify(made.body)}`)
    return made.body.data as MetricWorld['metric']
  }
  const metric = await make(body)
  const [row] = await app.query('select table_id from checks where id = $1', [metric.internal_id])
  const tableId = String(row?.table_id)
  const captureAt = async (at: Date) => {
    await app.server.plugins.checks.runTable(tenant.companyId, tableId, 'active', { at })
  }
  const own = `check_id in (select id from checks where table_id = $1)`
  return {
    ...world,
    metric,
    path: `${base}/${metric.id}`,
    make,
    capture: day => captureAt(momentOf(day)),
    captureAt,
    async repeat(from, to) {
      await app.query(
        `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
         select company_id, check_id, series, value, total_rows, status, at + make_interval(days => n)
         from check_results, generate_series(1, $3) n where ${own} and at = $2`,
        [tableId, momentOf(from), to - from],
      )
      // What was learned is of one capture, so it has to be read again.
      await app.query(
        `update check_states set run = run + $3, last_seen_at = $4, state = '{"version": 0}'
         where ${own} and last_seen_at = $2`,
        [tableId, momentOf(from), to - from, momentOf(to)],
      )
    },
    async alerts() {
      const found = await app.query(
        `select id, status, severity, cause, title, event ->> 'change_type' as change, occurrences,
           event -> 'details' as details
         from alerts where kind = 'metric_anomaly' and asset_id = $1 order by created_at, id`,
        [tableId],
      )
      return found as unknown as AlertRow[]
    },
  }
}
