/**
 * How well alerts are grouped: `npm run bench:incidents -- [--scenarios N] [--seed TEXT] [--detail]`.
 *
 * Each scenario is a pipeline of about thirty tables with one fault or two at known tables, which spread along the flow of
 * data and are found by checks at different times, downstream ones sometimes first, and with alerts that have nothing to do
 * with them. The alerts are raised through the alerts API in a real database, at the minutes in which checks find them. The
 * seeds that are the default were not looked at while rules were written: `--seed tune` is for that.
 */
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { AlertEvent } from '../../plugins/alerts/api.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { startServer, type TestServer } from '../helpers/server.ts'
import { makeScenario, type Scenario, type SimAlert } from './incidents-world.ts'
import { isTableRequested, printRows, withTeardown } from './rows.ts'

const { values: given } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '200' },
    seed: { type: 'string', default: 'held-out' },
    detail: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const MIN_RIGHT_SHARE = 0.9
const MAX_MESSAGES = 1.2

const KINDS = {
  stale: ['freshness_violation', { sla_threshold: '1h' }],
  drift: ['schema_change', { change_count: 1 }],
  volume: ['metric_anomaly', { metric_type: 'row_count' }],
  quality: ['validity_failure', { invalid_count: 3 }],
  connection: ['connection_failed', { error_code: 'ECONNREFUSED' }],
} as const

/** What came of one scenario. */
interface Outcome {
  scenario: Scenario
  /** Faults, and those of them whose table is named by the incident with most of their alerts. */
  faults: number
  namedFaults: number
  /** Incidents most of whose alerts come from a fault, and those that name the table of that fault. */
  incidents: number
  rightIncidents: number
  /** Incidents with alerts of several causes. */
  mixed: number
  /** Messages about incidents, without those about their ends, and the causes that may be sent. */
  messages: number
  /** First messages among them. */
  opened: number
  ends: number
  causes: number
  alerts: number
  /** Alerts that are not in the API, in no incident, or did not reach the destination that asks for all. */
  lost: number
  wrong: string[]
}

await withTeardown(async t => {
  const { url } = await startReceiver(t)
  const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '600' } })
  const outcomes: Outcome[] = []
  for (let n = 1; n <= Number(given.scenarios); n += 1) {
    outcomes.push(await runScenario(app, url, makeScenario(`${given.seed} ${n}`)))
    if (given.detail && outcomes.at(-1)!.wrong.length > 0)
      console.log(`${n}: ${outcomes.at(-1)!.wrong.join('; ')}`)
    if (n % 50 === 0) console.error(`${n} scenarios`)
  }
  report(outcomes)
})

async function runScenario(app: TestServer, url: string, scenario: Scenario): Promise<Outcome> {
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
  await company(trx =>
    server.plugins.lineage.recordEdges(trx, {
      origin: 'dbt',
      sourceId: null,
      isComplete: true,
      edges: scenario.tables.flatMap(({ name, upstream }) =>
        upstream.map(from => ({
          upstream: { tableId: ids.get(from)! },
          downstream: { tableId: ids.get(name)! },
          detail: 'sim',
        })),
      ),
    }),
  )
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
  const causeOf = new Map<string, string>()
  let minute = scenario.alerts[0]?.minute ?? 0
  // One transaction for what is found at once: the checks of a table, or a discovery.
  const passes = Map.groupBy(scenario.alerts, ({ minute: at, table, finding }) =>
    finding === 'drift' ? `${at} drift` : `${at} ${table}`,
  )
  for (const pass of passes.values()) {
    const { minute: at } = pass[0]!
    await goForward(app, companyId, at - minute)
    minute = at
    const byCause = new Map(pass.map(alert => [`${alert.table} ${alert.finding}`, alert]))
    const unique = [...byCause.values()]
    const raised = await company(trx => server.plugins.alerts.raiseAll(trx, unique.map(eventOf)))
    for (const [place, { alertId, isNew }] of raised.entries())
      if (isNew) causeOf.set(alertId, unique[place]!.cause)
    await company(trx =>
      server.plugins.alerts.incidents.update(
        trx,
        raised.map(({ alertId }) => alertId),
      ),
    )
  }
  await waitForDeliveries(app, companyId)
  return judge(app, companyId, scenario, { causeOf, ids, each, grouped, key })
}

/** Lets minutes pass for a company. */
async function goForward({ query }: TestServer, companyId: string, minutes: number): Promise<void> {
  if (minutes <= 0) return
  const columns = {
    alerts: ['created_at', 'last_seen_at'],
    incidents: ['created_at', 'last_alert_at', 'resolved_at'],
    deliveries: ['created_at'],
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

async function judge(
  { query, server }: TestServer,
  companyId: string,
  scenario: Scenario,
  world: {
    causeOf: Map<string, string>
    ids: Map<string, string>
    each: string
    grouped: string
    key: string
  },
): Promise<Outcome> {
  const { causeOf, ids, each, grouped, key } = world
  const nameOf = (id: string) => [...ids].find(([, known]) => known === id)?.[0] ?? id
  const stored = (await query(
    `select a.id, ia.incident_id, i.cause ->> 'asset_id' as named, i.merged_into
       from alerts a left join incident_alerts ia on ia.alert_id = a.id
       left join incidents i on i.id = ia.incident_id where a.company_id = $1`,
    [companyId],
  )) as { id: string; incident_id: string | null; named: string | null; merged_into: string | null }[]
  const reply = await server.inject({
    url: '/api/v1/sdk/alerts?limit=100',
    headers: { authorization: `Bearer ${key}` },
  })
  const listed = new Set(
    (JSON.parse(reply.payload) as { data: { data: { id: string }[] } }).data.data.map(({ id }) => id),
  )
  const sent = (await query(
    `select alert_id, destination_id, event_type, status, incident_id from deliveries where company_id = $1`,
    [companyId],
  )) as Record<'alert_id' | 'destination_id' | 'event_type' | 'status' | 'incident_id', string>[]
  const reached = new Set(
    sent
      .filter(({ destination_id: id, status }) => id === each && status === 'delivered')
      .map(({ alert_id: id }) => id),
  )
  const lost = [...causeOf.keys()].filter(
    id => !listed.has(id) || !reached.has(id) || !stored.find(row => row.id === id)?.incident_id,
  )
  const about = sent.filter(({ destination_id: id }) => id === grouped)
  const placed = stored.filter(({ incident_id: id }) => id !== null)
  const byIncident = Map.groupBy(placed, ({ incident_id: id }) => id!)
  const outcome: Outcome = {
    ...{ scenario, faults: 0, namedFaults: 0, incidents: 0, rightIncidents: 0, mixed: 0, wrong: [] },
    messages: about.filter(({ event_type: type }) => type === 'alert.triggered').length,
    opened: new Set(about.map(({ incident_id: id }) => id)).size,
    ends: about.filter(({ event_type: type }) => type === 'alert.resolved').length,
    causes: scenario.causes.filter(({ name }) =>
      scenario.alerts.some(({ cause, severity }) => cause === name && severity !== 'info'),
    ).length,
    alerts: causeOf.size,
    lost: lost.length,
  }
  const mainCause = new Map<string, string>()
  for (const [incidentId, members] of byIncident) {
    const counts = Map.groupBy(members, ({ id }) => causeOf.get(id)!)
    const [main = ''] = [...counts].toSorted((a, b) => b[1].length - a[1].length)[0] ?? []
    mainCause.set(incidentId, main)
    if (counts.size > 1) outcome.mixed += 1
    if (!main.startsWith('fault')) continue
    const truth = scenario.causes.find(({ name }) => name === main)!
    const named = nameOf(members[0]!.named!)
    outcome.incidents += 1
    if (named === truth.at) outcome.rightIncidents += 1
    else
      outcome.wrong.push(
        `${truth.kind} at ${truth.at} is said to be ${named} (${members.length} alerts, ${counts.size} causes)`,
      )
  }
  for (const { name, at } of scenario.causes.filter(cause => cause.kind !== 'noise')) {
    const own = placed.filter(({ id }) => causeOf.get(id) === name)
    const counts = Map.groupBy(own, ({ incident_id: id }) => id!)
    const [, most] = [...counts].toSorted((a, b) => b[1].length - a[1].length)[0] ?? []
    outcome.faults += 1
    if (most && nameOf(most[0]!.named!) === at) outcome.namedFaults += 1
  }
  return outcome
}

function report(outcomes: readonly Outcome[]): void {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, each) => total + of(each), 0)
  const right = sum(o => o.rightIncidents) / sum(o => o.incidents)
  const named = sum(o => o.namedFaults) / sum(o => o.faults)
  const messages = sum(o => o.messages) / sum(o => o.causes)
  const lost = sum(o => o.lost)
  console.log(`scenarios                         ${outcomes.length}`)
  console.log(
    `faults / other causes             ${sum(o => o.faults)} / ${sum(o => o.causes) - sum(o => o.faults)}`,
  )
  console.log(`alerts                            ${sum(o => o.alerts)}`)
  console.log(
    `incidents of faults               ${sum(o => o.incidents)}, with several causes ${sum(o => o.mixed)}`,
  )
  console.log(`  that name the right cause       ${(100 * right).toFixed(1)} %`)
  console.log(`faults that are named             ${(100 * named).toFixed(1)} %`)
  console.log(
    `messages per cause                ${messages.toFixed(2)} (alerts per cause ${(sum(o => o.alerts) / sum(o => o.causes)).toFixed(2)})`,
  )
  console.log(`  first messages                  ${(sum(o => o.opened) / sum(o => o.causes)).toFixed(2)}`)
  console.log(
    `messages about merged incidents   ${(sum(o => o.ends) / sum(o => o.causes)).toFixed(2)} per cause`,
  )
  console.log(`lost alerts                       ${lost}`)
  const isGood = right >= MIN_RIGHT_SHARE && messages <= MAX_MESSAGES
  if (lost > 0 || (!isGood && !isTableRequested)) process.exitCode = 1
  printRows([
    { what: 'incidents that name the right cause', ours: 100 * right, unit: '%', bar: { least: 90 } },
    { what: 'messages per cause', ours: messages, unit: '', bar: { most: MAX_MESSAGES } },
    { what: 'lost alerts', ours: lost, unit: '', bar: { most: 0 } },
  ])
}
