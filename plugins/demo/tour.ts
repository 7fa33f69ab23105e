import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { DemoCredentials } from './credentials.ts'
import type { AuthApi } from '../auth/api.ts'
import type { DemoDeps } from './deps.ts'
import { LATE_SCHEDULE, METRICS, REFERENCES, RULES, SCHEDULES } from './checks.ts'
import { SHOP_LINEAGE } from './lineage.ts'
import { DESTINATION_NAME } from './onboarding.ts'
import {
  ALERT_RULES,
  MUTE_WINDOW,
  OPERATING_SCHEDULE,
  ORDERS_CONTRACT,
  OWNERS,
  TAGS,
  TEAMS,
} from './organization.ts'
import { asOf, settleMessages } from './past.ts'
import { PEOPLE } from './past-faults.ts'
import { replayHistory, replayLastDay } from './replay.ts'
import { HISTORY_DAYS, openShop } from './shop.ts'
import {
  copyToWarehouse,
  COPY_OF_ORDERS,
  WAREHOUSE_EDGES,
  WAREHOUSE_METRIC,
  WAREHOUSE_SCHEDULE,
} from './warehouse.ts'

type DemoReply = Record<string, never> & { data: Record<string, string> }

/** Creates the demo company, its owner and a key, without requests, which would count against rate limits. */
export async function createDemoCompany(auth: AuthApi): Promise<DemoCredentials> {
  const email = 'owner@demo.example'
  const password = randomBytes(12).toString('base64url')
  const { id: companyId } = await auth.createCompany({ name: 'Demo' })
  await auth.createUser({ companyId, email, password, role: 'owner' })
  for (const person of Object.values(PEOPLE))
    await auth.createUser({
      ...{ ...person, companyId, role: 'member' },
      password: randomBytes(12).toString('base64url'),
    })
  const { key } = await auth.createKey({ companyId, name: 'demo', scope: 'admin' })
  return { email, password, key, companyId }
}

/**
 * Creates the demo's sources and replays the history of the shop, with the requests that a user would send.
 * @param report receives a progress line for each step
 * @returns the id of the shop's source
 */
export async function createDemoSource(
  deps: DemoDeps,
  { key, companyId }: DemoCredentials,
  report: (line: string) => void,
): Promise<string> {
  const { db, config, lineage, alerts } = deps
  const now = new Date()
  const send = createRequester(deps, key)
  await removeLeftovers(send)
  await db.company(companyId, alerts.demo.past.clear)
  const folder = join(resolve(config.dataDir), 'demo')
  const path = join(folder, 'shop.sqlite')
  report('  a shop in SQLite')
  const shop = openShop(path, now)
  try {
    const description = 'A small shop with 60 days of history, and a bad last day'
    const sourceId = await addSource(deps, send, companyId, { name: SHOP_NAME, path, description })
    // Otherwise the sweep would mix checks of today among those of the replayed days.
    await send('PATCH', `/sdk/assets/${sourceId}`, { is_active: false })
    report(`  its catalog, ${METRICS.length + RULES.length + REFERENCES.length} checks`)
    await addChecks(send, sourceId)
    // What the alerts of its last day have in common is known by it.
    await db.company(companyId, trx => lineage.connect(trx, sourceId, SHOP_LINEAGE, { isDemo: true }))
    const begin = new Date(now.getTime() - (HISTORY_DAYS + 1) * DAY_MS)
    let destinationId = ''
    await asOf(deps, companyId, begin, async () => {
      await addOrganization(send)
      destinationId = await addRouting(deps, send, companyId)
    })
    const watched = await send('POST', '/sdk/freshness/schedules', { asset_id: sourceId, ...LATE_SCHEDULE })
    await replayHistory(deps, {
      ...{ companyId, sourceId, shop, now, report },
      scheduleId: String(watched.data.id),
      discover: () => runDiscovery(deps, send, { companyId, sourceId }),
      acceptSchema: () => send('POST', `/sdk/schema/${sourceId}/acknowledge`, {}),
    })
    await settleMessages(deps, companyId)
    // As new destinations for people have it; the ends of incidents of the past would wait for the clock.
    await send('PATCH', `/sdk/alerts/destinations/${destinationId}`, { messages: 'incidents' })
    report('  a contract')
    await send('PUT', `/sdk/contracts/orders?source=${SHOP_NAME}`, { contract: ORDERS_CONTRACT })
    await replayLastDay(deps, { companyId, sourceId, shop, now })
    report('  a warehouse with a copy of its orders')
    await addWarehouse(deps, send, companyId, { path: join(folder, 'warehouse.sqlite'), shopPath: path })
    shop.release()
    report('  a release that changes its tables')
    await runDiscovery(deps, send, { companyId, sourceId })
    await send('PATCH', `/sdk/assets/${sourceId}`, { is_active: true })
    for (const schedule of SCHEDULES) {
      await send('POST', '/sdk/freshness/schedules', { asset_id: sourceId, ...schedule })
    }
    const { data: refresh } = await send('POST', `/sdk/freshness/${sourceId}/refresh`)
    await waitForJob(send, refresh.job_id!, 'check of freshness')
    report('  the rest of its tables, watched by a policy')
    // The documentation watches these two by hand.
    const excluded = ['reviews', 'shipments']
    await send('POST', `/sdk/assets/${sourceId}/watch`, { level: 'light', exclude_patterns: excluded })
    await send('POST', '/sdk/alerts/mute-windows', MUTE_WINDOW)
    // What the console recommends is made of profiles.
    const { data: profile } = await send('POST', `/sdk/assets/${sourceId}/profile`, {})
    await waitForJob(send, profile.job_id!, 'profile')
    // What is open is an incident when the first person looks.
    await db.company(companyId, trx => alerts.demo.past.group(trx, now))
    return sourceId
  } finally {
    shop.close()
  }
}

const DAY_MS = 86_400_000

const SHOP_NAME = 'demo_shop'
const WAREHOUSE_NAME = 'demo_warehouse'

/** Adds a source over a file of the demo and reads its catalog. @returns its id */
async function addSource(
  deps: DemoDeps,
  send: Requester,
  companyId: string,
  { name, path, description }: { name: string; path: string; description: string },
): Promise<string> {
  const { db, catalog } = deps
  const source = await send('POST', '/sdk/assets', {
    name,
    source_type: 'sqlite',
    connection_config: { path },
    description,
    auto_tag_enabled: true,
  })
  const sourceId = String(source.data.id)
  await db.company(companyId, trx => catalog.demo.mark(trx, sourceId))
  await send('POST', `/sdk/assets/${sourceId}/test-connection`)
  await runDiscovery(deps, send, { companyId, sourceId })
  return sourceId
}

async function addChecks(send: Requester, sourceId: string): Promise<void> {
  const hours = await send<{ id: string }>('POST', '/operating-schedules', OPERATING_SCHEDULE)
  for (const metric of METRICS) await send('POST', `/sdk/metrics/${sourceId}`, metric)
  for (const rule of RULES) {
    const isLearned = rule.detection_mode === 'auto'
    const body = {
      ...rule,
      ...(isLearned && { operating_period_mode: 'schedule', operating_schedule_id: hours.id }),
    }
    await send('POST', `/sdk/validity/${sourceId}`, body)
  }
  for (const check of REFERENCES) await send('POST', `/sdk/referential/${sourceId}`, check)
}

async function addOrganization(send: Requester): Promise<void> {
  for (const team of TEAMS) await send('POST', '/sdk/teams', team)
  for (const owners of OWNERS) await send('PUT', '/sdk/owners', owners)
  for (const tag of TAGS) await send('POST', '/sdk/tags', tag)
}

/**
 * Adds a destination whose messages end in this process, and rules; its first test fails and is sent again.
 * @returns the id of the destination
 */
async function addRouting(deps: DemoDeps, send: Requester, companyId: string): Promise<string> {
  const { db, alerts, service } = deps
  const { id } = await db.company(companyId, trx => alerts.demo.createDestination(trx, DESTINATION_NAME))
  service.isDown = true
  try {
    const { data: test } = await send('POST', `/sdk/alerts/destinations/${id}/test`)
    service.isDown = false
    await send('POST', `/sdk/alerts/deliveries/${test.delivery_id}/redeliver`)
  } finally {
    service.isDown = false
  }
  for (const rule of ALERT_RULES) await send('POST', '/sdk/alerts/rules', { ...rule, destination_ids: [id] })
  return id
}

async function addWarehouse(
  deps: DemoDeps,
  send: Requester,
  companyId: string,
  { path, shopPath }: { path: string; shopPath: string },
): Promise<void> {
  copyToWarehouse(path, shopPath)
  const description = 'A copy of the orders of the shop, which lost some'
  const sourceId = await addSource(deps, send, companyId, { name: WAREHOUSE_NAME, path, description })
  for (const edge of WAREHOUSE_EDGES) await send('POST', '/sdk/lineage/edges', edge)
  await send('POST', `/sdk/metrics/${sourceId}`, WAREHOUSE_METRIC)
  await send('POST', '/sdk/freshness/schedules', { asset_id: sourceId, ...WAREHOUSE_SCHEDULE })
  const { data: comparison } = await send('POST', `/sdk/comparisons/${sourceId}`, COPY_OF_ORDERS)
  await send('POST', `/sdk/comparisons/${sourceId}/${comparison.id}/execute`, {})
}

/** What else the demo makes that has a name, by the list that has it: a second of the name would be refused, or be one too many. */
const NAMED_LEFTOVERS = [
  { path: '/sdk/teams', list: 'teams', names: TEAMS.map(({ name }) => name) },
  { path: '/sdk/alerts/rules', list: 'data', names: ALERT_RULES.map(({ name }) => name) },
  { path: '/sdk/alerts/mute-windows', list: 'mute_windows', names: [MUTE_WINDOW.name] },
] as const

interface NamedItem {
  id: string
  name: string
}

/** Removes what an interrupted start has made. */
async function removeLeftovers(send: Requester): Promise<void> {
  const { data } = await send<{ data: NamedItem[] }>('GET', '/assets?asset_type=source')
  for (const { id, name } of data)
    if ([SHOP_NAME, WAREHOUSE_NAME].includes(name)) await send('DELETE', `/sdk/assets/${id}`)
  for (const { path, list, names } of NAMED_LEFTOVERS) {
    const { data: page } = await send<{ data: Record<string, NamedItem[]> }>('GET', path)
    for (const { id, name } of page[list] ?? [])
      if (names.some(each => each === name)) await send('DELETE', `${path}/${id}`)
  }
  const schedules = await send<{ data: NamedItem[] }>('GET', '/operating-schedules')
  for (const { id, name } of schedules.data)
    if (name === OPERATING_SCHEDULE.name) await send('DELETE', `/operating-schedules/${id}`)
}

type Requester = ReturnType<typeof createRequester>

/** Sends requests with an API key to the server's own routes. @throws Error with the reply of a failed request */
export function createRequester({ inject }: Pick<DemoDeps, 'inject'>, key: string) {
  return async <T = DemoReply>(method: string, path: string, payload?: object): Promise<T> => {
    const reply = await inject({
      method,
      url: `/api/v1${path}`,
      ...(payload && { payload }),
      headers: { authorization: `Bearer ${key}` },
    })
    if (reply.statusCode >= 400) throw new Error(`The demo's ${method} ${path} failed: ${reply.payload}`)
    return (reply.payload === '' ? undefined : JSON.parse(reply.payload)) as T
  }
}

const POLL_INTERVAL_MS = 50
const JOB_TIMEOUT_MS = 30_000

async function runDiscovery(
  { db, catalog }: DemoDeps,
  send: Requester,
  { companyId, sourceId }: { companyId: string; sourceId: string },
): Promise<void> {
  const run = await db.company(companyId, trx => catalog.demo.discover(trx, sourceId))
  await waitForJob(send, run.id, 'discovery')
}

async function waitForJob(send: Requester, id: string, what: string): Promise<void> {
  const deadline = Date.now() + JOB_TIMEOUT_MS
  for (;;) {
    const { data: job } = await send('GET', `/sdk/jobs/${id}`)
    if (job.status === 'completed') return
    if (job.status === 'failed' || Date.now() > deadline)
      throw new Error(`The demo's ${what} is ${job.status}: ${JSON.stringify(job)}`)
    await new Promise(done => setTimeout(done, POLL_INTERVAL_MS))
  }
}
