/** What `console.ts` shows: a catalog of many tables, and alerts of which some are open. */
import { randomUUID } from 'node:crypto'
import type { Tenant, TestServer } from '../helpers/server.ts'
import { fillCatalog, fillChanges } from './lists-world.ts'

const SOURCES = 3
const OPEN_ALERTS = 60
/** Alerts that are over, for each that is open. */
const PAST = 300
/** Values of the metric whose chart is drawn: the most that a reply has. */
const SNAPSHOTS = 1_000

/** A company with a large catalog. */
export interface LargeWorld {
  tenant: Tenant
  /** A table with checks: its qualified name, and its metric. */
  table: string
  metricId: string
  /** Raises one more alert, as the checks would. */
  raiseAlert(): Promise<void>
}

/** Fills a company, and its database with another one of the same size. */
export async function makeLargeWorld(app: TestServer, tables: number): Promise<LargeWorld> {
  const tenant = await app.signUp('Measured')
  const beside = await app.signUp('Beside')
  for (const company of [tenant, beside]) await fillCatalog(app, company, { tables, sources: SOURCES })
  await fillChanges(app, tenant, { changes: Math.floor(tables / 10), tables: Math.floor(tables / SOURCES) })
  const chosen = await app.query(
    `select t.id, t.source_id, t.qualified_name, m.uuid as metric_id, m.id as check_id
     from tables t join checks m on m.table_id = t.id and m.kind = 'metric' where t.company_id = $1 order by t.name limit ${OPEN_ALERTS}`,
    [tenant.companyId],
  )
  const raiseOn = async (row: Record<string, unknown>) => {
    await app.server.db.company(tenant.companyId, trx =>
      app.server.plugins.alerts.raise(trx, {
        type: 'validity_failure',
        cause: randomUUID(),
        severity: 'critical',
        sourceId: String(row.source_id),
        asset: {
          id: String(row.id),
          qualifiedName: String(row.qualified_name),
          assetType: 'table',
          tags: [],
        },
        ruleName: 'NOT_NULL',
        title: 'column_1 has null values',
        details: { rule_id: 'v_1', invalid_count: 3 },
      }),
    )
  }
  for (const row of chosen) await raiseOn(row)
  await app.query(
    `insert into alerts select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'cause', gen_random_uuid(),
       'status', 'resolved', 'created_at', now() - make_interval(hours => n), 'resolved_at', now() - make_interval(hours => n - 1)))).*
     from alerts a, generate_series(1, ${PAST}) n where company_id = $1`,
    [tenant.companyId],
  )
  const [first] = chosen
  await app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at,
       expected, low, high)
     select $1, $2, '{}', 1000 + 100 * sin(n), 1000, 'pass', now() - make_interval(hours => n), 1000, 900, 1100
     from generate_series(1, ${SNAPSHOTS}) n`,
    [tenant.companyId, first?.check_id],
  )
  await app.query('vacuum analyze')
  return {
    tenant,
    table: String(first?.qualified_name),
    metricId: String(first?.metric_id),
    raiseAlert: () => raiseOn(chosen[Math.floor(Math.random() * chosen.length)]!),
  }
}
