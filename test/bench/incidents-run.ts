/** Plays scenarios of pipelines: alerts through the API of alerts in a real database, at the minutes of the scenario. */
import { randomUUID } from 'node:crypto'
import type { AlertEvent } from '../../plugins/alerts/api.ts'
import type { TestServer } from '../helpers/server.ts'
import type { Scenario, SimAlert, SimEvent } from './incidents-world.ts'

const KINDS = {
  stale: ['freshness_violation', { sla_threshold: '1h' }],
  drift: ['schema_change', { change_count: 1 }],
  volume: ['metric_anomaly', { metric_type: 'row_count' }],
  quality: ['validity_failure', { invalid_count: 3 }],
  connection: ['connection_failed', { error_code: 'ECONNREFUSED' }],
} as const

/** What a scenario left in the database. */
export interface Played {
  companyId: string
  /** The cause of each alert. */
  causeOf: Map<string, string>
  /** Alerts that a discovery raised. */
  driftIds: Set<string>
  /** The ids of tables and sources, by their names in the scenario. */
  ids: Map<string, string>
  /** The destination of each alert, and that of incidents. */
  each: string
  grouped: string
  /** An API key. */
  key: string
}

/** Raises the alerts of a scenario for a new company, at their minutes. */
export async function playScenario(app: TestServer, url: string, scenario: Scenario): Promise<Played> {
  const { server, query } = app
  const { id: companyId } = await server.plugins.auth.createCompany({ name: randomUUID() })
  const sources = [randomUUID(), randomUUID(), randomUUID()]
  const ids = new Map(scenario.tables.map(({ name }) => [name, randomUUID()]))
  for (const [n, id] of sources.entries()) {
    ids.set(`source:${n}`, id)
    await query(
      `insert into sources (id, company_id, name, source_type, config) values ($1, $2, $3, 'sqlite', '{}')`,
      [id, companyId, `s${n}`],
    )
  }
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
       columns, constraints, fingerprint, column_count)
     select id, $1, source, 'main', 'main', name, source || '.main.main.' || name, 'table', '[]', '[]', 'x', 0
       from unnest($2::uuid[], $3::uuid[], $4::text[]) as t (id, source, name)`,
    [
      companyId,
      scenario.tables.map(({ name }) => ids.get(name)),
      scenario.tables.map(({ source }) => sources[source]),
      scenario.tables.map(({ name }) => name),
    ],
  )
  const { key } = await server.plugins.auth.createKey({ companyId, name: 'bench', scope: 'admin' })
  const post = async (path: string, payload: object) => {
    const { status, body } = await app.ask('POST', `/api/v1/sdk/alerts/${path}`, payload, key)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return String(body.data.id)
  }
  const add = (messages: string) =>
    post('destinations', { name: messages, destination_type: 'webhook', messages, config: { url } })
  const [each, grouped] = [await add('alerts'), await add('incidents')]
  await post('rules', { name: 'all', severities: ['info', 'warning', 'critical'], destination_ids: [each] })
  await post('rules', { name: 'some', severities: ['warning', 'critical'], destination_ids: [grouped] })
  const company = <T>(work: Parameters<typeof server.db.company<T>>[1]) => server.db.company(companyId, work)
  const { unknownEdges = [], foreignKeys = [] } = scenario
  const isKnown = (from: string, to: string) => !unknownEdges.some(([a, b]) => a === from && b === to)
  const recordEdges = (origin: 'dbt' | 'foreign_key', pairs: readonly (readonly [string, string])[]) =>
    company(trx =>
      server.plugins.lineage.recordEdges(trx, {
        origin,
        sourceId: null,
        isComplete: false,
        edges: pairs.map(([from, to]) => ({
          upstream: { tableId: ids.get(from)! },
          downstream: { tableId: ids.get(to)! },
          detail: 'sim',
        })),
      }),
    )
  await recordEdges(
    'dbt',
    scenario.tables.flatMap(({ name, upstream }) =>
      upstream.flatMap(from => (isKnown(from, name) ? [[from, name] as const] : [])),
    ),
  )
  await recordEdges('foreign_key', foreignKeys)
  const eventOf = ({ table, finding, severity }: SimAlert): AlertEvent => {
    const [type, details] = KINDS[finding]
    const isSource = table.startsWith('source:')
    const sourceId = isSource
      ? ids.get(table)!
      : sources[scenario.tables.find(({ name }) => name === table)!.source]!
    return {
      ...{ type, severity, sourceId, details: { ...details }, cause: `${table} ${finding}` },
      asset: { id: ids.get(table)!, qualifiedName: table, assetType: isSource ? 'source' : 'table' },
      ruleName: finding,
      title: `${table} is ${finding}`,
    }
  }
  const update = (alertIds: readonly string[]) =>
    company(trx => server.plugins.alerts.incidents.update(trx, alertIds))
  const causeOf = new Map<string, string>()
  const driftIds = new Set<string>()
  const raise = async (pass: readonly SimAlert[]) => {
    const byCause = new Map(pass.map(alert => [`${alert.table} ${alert.finding}`, alert]))
    const unique = [...byCause.values()]
    const raised = await company(trx => server.plugins.alerts.raiseAll(trx, unique.map(eventOf)))
    for (const [place, { alertId, isNew }] of raised.entries()) {
      if (isNew) causeOf.set(alertId, unique[place]!.cause)
      if (unique[place]!.finding === 'drift') driftIds.add(alertId)
    }
    await update(raised.map(({ alertId }) => alertId))
  }
  const happen = async (event: SimEvent) => {
    if (event.kind === 'edges') return recordEdges('dbt', event.edges)
    if (event.kind === 'run') return failRun(app, companyId, ids.get(event.table)!)
    const [type] = KINDS[event.finding]
    const cause = `${event.table} ${event.finding}`
    const [open] = await query(
      'select id from alerts where company_id = $1 and kind = $2 and cause = $3 and resolved_at is null',
      [companyId, type, cause],
    )
    await company(trx => server.plugins.alerts.resolve(trx, type, cause))
    return open && update([String(open.id)])
  }
  // One transaction for what is found at once: the checks of a table, or a discovery.
  const passes = Map.groupBy(scenario.alerts, ({ minute, table, finding }) =>
    finding === 'drift' ? `${minute} drift` : `${minute} ${table}`,
  )
  const steps = [
    ...(scenario.events ?? []).map(event => ({ minute: event.minute, take: () => happen(event) })),
    ...[...passes.values()].map(pass => ({ minute: pass[0]!.minute, take: () => raise(pass) })),
  ].toSorted((a, b) => a.minute - b.minute)
  let minute = steps[0]?.minute ?? 0
  for (const step of steps) {
    await goForward(app, companyId, step.minute - minute)
    minute = step.minute
    await step.take()
  }
  await company(trx => server.plugins.alerts.incidents.review(trx))
  await waitForDeliveries(app, companyId)
  return { companyId, causeOf, driftIds, ids, each, grouped, key }
}

/** Reports that the last run of the job that writes a table failed. */
async function failRun({ query }: TestServer, companyId: string, tableId: string): Promise<void> {
  const id = randomUUID()
  await query(
    `insert into lineage_runs (id, company_id, job_namespace, job_name, run_id, state, ended_at, last_event_at)
     values ($1, $2, 'sim', 'load', gen_random_uuid(), 'failed', now(), now())`,
    [id, companyId],
  )
  await query(
    `insert into lineage_run_ends (company_id, lineage_run_id, direction, end_id) values ($1, $2, 'output', $3)`,
    [companyId, id, tableId],
  )
}

/** Lets minutes pass for a company. */
async function goForward({ query }: TestServer, companyId: string, minutes: number): Promise<void> {
  if (minutes <= 0) return
  const columns = {
    alerts: ['created_at', 'last_seen_at', 'resolved_at'],
    incidents: ['created_at', 'last_alert_at', 'resolved_at'],
    deliveries: ['created_at'],
    lineage_runs: ['ended_at', 'last_event_at'],
  }
  for (const [table, names] of Object.entries(columns))
    await query(
      `update ${table} set ${names.map(name => `${name} = ${name} - make_interval(mins => $2)`).join()}
        where company_id = $1`,
      [companyId, minutes],
    )
}

async function waitForDeliveries({ query }: TestServer, companyId: string): Promise<void> {
  for (;;) {
    const [left] = await query(
      `select count(*)::int as count from deliveries where company_id = $1 and status = 'pending'`,
      [companyId],
    )
    if (left?.count === 0) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
