import { randomUUID } from 'node:crypto'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { incidentsJob } from '../../../../plugins/alerts/lifecycle/notice.ts'
import type { Reply, Tenant, TestServer } from '../../../helpers/server.ts'
import { addSource } from '../../lineage/world.ts'

export const INCIDENTS = '/api/v1/sdk/incidents'

/** What is wrong with a table. */
const EVENTS = {
  stale: { type: 'freshness_violation', severity: 'critical', details: { sla_threshold: '1h' } },
  drift: { type: 'schema_change', severity: 'critical', details: { change_count: 1 } },
  volume: { type: 'metric_anomaly', severity: 'warning', details: { metric_type: 'row_count' } },
  quality: { type: 'validity_failure', severity: 'warning', details: { invalid_count: 3 } },
} as const satisfies Record<string, Partial<AlertEvent>>
export type Problem = keyof typeof EVENTS

/** Tables with a flow of data, whose alerts are raised as features raise them. */
export interface Pipeline {
  tenant: Tenant
  source: string
  ids: Map<string, string>
  /** Events by table and problem: `orders stale`; with a severity: `orders stale info`. */
  eventOf(text: string): AlertEvent
  /** Raises alerts in one transaction, and waits for their incidents. @returns the ids of the alerts */
  raise(...events: (string | AlertEvent)[]): Promise<string[]>
  /** Resolves alerts, and waits for their incidents. */
  recover(...texts: string[]): Promise<void>
  /** Does something that changes alerts, and waits until their incidents are updated. */
  settle<T>(alertIds: readonly string[], work: () => Promise<T>): Promise<T>
  /** The incidents as texts, oldest first: `open critical orders: orders stale, sales quality`. */
  show(query?: string): Promise<string[]>
  /** The incidents as the list has them, newest first. */
  list(query?: string): Promise<Record<string, unknown>[]>
  /** The only active incident, or the first. */
  get(query?: string): Promise<Reply['body']>
  ask: Tenant['ask']
}

/** @param flow edges such as `orders > sales` */
export async function makePipeline(
  app: TestServer,
  tables: readonly string[],
  flow: readonly string[],
): Promise<Pipeline> {
  const tenant = await app.signUp()
  const { source, name, ids } = await addSource(app, tenant, tables)
  const { server } = app
  const { alerts, lineage } = server.plugins
  const company = <T>(work: Parameters<typeof server.db.company<T>>[1]) =>
    server.db.company(tenant.companyId, work)
  await company(trx =>
    lineage.connect(
      trx,
      source,
      flow.map(edge => edge.split(' > ').map(table => `main.${table}`) as [string, string]),
    ),
  )
  const nameOf = (id: string) => [...ids].find(([, each]) => each === id)?.[0] ?? id
  const eventOf = (text: string): AlertEvent => {
    const [table = '', problem = '', severity] = text.split(' ')
    const { type, details, ...event } = EVENTS[problem as Problem]
    const asset = {
      id: ids.get(table) ?? source,
      qualifiedName: ids.has(table) ? `${name}.main.main.${table}` : name,
      assetType: ids.has(table) ? 'table' : 'source',
    }
    return {
      ...{ type, details: { ...details }, sourceId: source, asset },
      cause: `${problem}:${table}`,
      severity: (severity as AlertEvent['severity'] | undefined) ?? event.severity,
      ruleName: `${problem} of ${table}`,
      title: `${table} ${problem}`,
    }
  }
  const settle: Pipeline['settle'] = async (alertIds, work) => {
    server.jobs.forgetSettled()
    const done = await work()
    await Promise.all(
      alertIds.map(id => server.jobs.settled(incidentsJob, ({ alert_ids: all }) => all.includes(id))),
    )
    return done
  }
  const list = async (query = '?limit=100') => {
    await app.query('delete from rate_windows')
    return (await tenant.ask('GET', INCIDENTS + query)).body.data.incidents as Record<string, unknown>[]
  }
  return {
    ...{ tenant, source, ids, eventOf, settle, list },
    ask: tenant.ask,
    async raise(...given) {
      server.jobs.forgetSettled()
      const events = given.map(event => (typeof event === 'string' ? eventOf(event) : event))
      const raised = await company(trx => alerts.raiseAll(trx, events))
      const fresh = raised.filter(({ isNew }) => isNew).map(({ alertId }) => alertId)
      await Promise.all(
        fresh.map(id => server.jobs.settled(incidentsJob, ({ alert_ids: all }) => all.includes(id))),
      )
      return raised.map(({ alertId }) => alertId)
    },
    async recover(...texts) {
      server.jobs.forgetSettled()
      for (const text of texts) {
        const { type, cause } = eventOf(text)
        const [open] = await app.query(
          `select id from alerts where company_id = $1 and kind = $2 and cause = $3 and resolved_at is null`,
          [tenant.companyId, type, cause],
        )
        await company(trx => alerts.resolve(trx, type, cause))
        if (open)
          await server.jobs.settled(incidentsJob, ({ alert_ids: all }) => all.includes(String(open.id)))
      }
    },
    async show(query) {
      const shown = await Promise.all(
        (await list(query)).map(async ({ id, status, severity, root_cause: cause }) => {
          await app.query('delete from rate_windows')
          const { body } = await tenant.ask('GET', `${INCIDENTS}/${String(id)}`)
          const titles = (body.data.alerts as { title: string }[]).map(({ title }) => title).sort()
          const named = nameOf(String((cause as unknown as { asset_id: string }).asset_id))
          return `${String(status)} ${String(severity)} ${named}: ${titles.join(', ')}`
        }),
      )
      return shown.reverse()
    },
    async get(query) {
      const [first] = await list(query)
      return (await tenant.ask('GET', `${INCIDENTS}/${String(first?.id)}`)).body.data as Reply['body']
    },
  }
}

/** Moves all that happened so far into the past. */
export async function goForward(app: TestServer, minutes: number): Promise<void> {
  const columns = {
    alerts: ['created_at', 'last_seen_at', 'resolved_at', 'snoozed_until'],
    incidents: [
      ...['created_at', 'last_alert_at', 'acknowledged_at', 'resolved_at', 'snoozed_until', 'end_held_until'],
    ],
  }
  for (const [table, names] of Object.entries(columns))
    await app.query(
      `update ${table} set ${names.map(name => `${name} = ${name} - make_interval(mins => $1)`).join()}`,
      [minutes],
    )
}

export const madeUpId = randomUUID

/** A run of a job that writes a table, as a pipeline reports it. */
export async function addRun(
  { query }: TestServer,
  { tenant, ids }: Pipeline,
  { table, state, minutesAgo }: { table: string; state: string; minutesAgo: number },
): Promise<void> {
  const id = randomUUID()
  await query(
    `insert into lineage_runs (id, company_id, job_namespace, job_name, run_id, state, ended_at, error_message, last_event_at)
     values ($1, $2, 'airflow', 'load_' || $3, gen_random_uuid(), $4, now() - make_interval(mins => $5),
             case when $4 = 'failed' then E'Disk full\\nat line 3' end, now() - make_interval(mins => $5))`,
    [id, tenant.companyId, table, state, minutesAgo],
  )
  await query(
    `insert into lineage_run_ends (company_id, lineage_run_id, direction, end_id) values ($1, $2, 'output', $3)`,
    [tenant.companyId, id, ids.get(table)],
  )
}
