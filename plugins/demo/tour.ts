import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { DemoCredentials } from './credentials.ts'
import type { AuthApi } from '../auth/api.ts'
import type { DemoDeps } from './deps.ts'
import { HISTORY_DAYS, openShop } from './shop.ts'
import { SHOP_LINEAGE } from './lineage.ts'
import { METRICS, REFERENCES, RULES, SCHEDULES } from './checks.ts'

type DemoReply = Record<string, never> & { data: Record<string, string> }

/** Creates the demo company, its owner and a key, without requests, which would count against rate limits. */
export async function createDemoCompany(auth: AuthApi): Promise<DemoCredentials> {
  const email = 'owner@demo.example'
  const password = randomBytes(12).toString('base64url')
  const { id: companyId } = await auth.createCompany({ name: 'Demo' })
  await auth.createUser({ companyId, email, password, role: 'owner' })
  const { key } = await auth.createKey({ companyId, name: 'demo', scope: 'admin' })
  return { email, password, key, companyId }
}

const REPORT_EVERY_DAYS = 7

/**
 * Creates the demo source and replays its history, with the requests that a user would send.
 * @param report receives a progress line for each step
 * @returns the source's id
 */
export async function createDemoSource(
  deps: DemoDeps,
  { key, companyId }: DemoCredentials,
  report: (line: string) => void,
): Promise<string> {
  const { db, config, catalog, lineage, checks } = deps
  const now = new Date()
  const send = createRequester(deps, key)
  await removeLeftover(send)
  const path = join(resolve(config.dataDir), 'demo', 'shop.sqlite')
  report('  a shop in SQLite')
  const shop = openShop(path, now)
  try {
    const source = await send('POST', '/sdk/assets', {
      name: SOURCE_NAME,
      source_type: 'sqlite',
      connection_config: { path },
      description: 'A small shop with four weeks of history, and a bad last day',
      auto_tag_enabled: true,
    })
    const sourceId = String(source.data.id)
    await db.company(companyId, trx => catalog.demo.mark(trx, sourceId))
    // Otherwise the sweep would mix checks of today among those of the replayed days.
    await send('PATCH', `/sdk/assets/${sourceId}`, { is_active: false })
    await send('POST', `/sdk/assets/${sourceId}/test-connection`)
    await runDiscovery(deps, send, { companyId, sourceId })
    report(`  its catalog, ${METRICS.length + RULES.length + REFERENCES.length} checks`)
    for (const metric of METRICS) await send('POST', `/sdk/metrics/${sourceId}`, metric)
    for (const rule of RULES) await send('POST', `/sdk/validity/${sourceId}`, rule)
    for (const check of REFERENCES) await send('POST', `/sdk/referential/${sourceId}`, check)

    // What the alerts of its last day have in common is known by it.
    await db.company(companyId, trx => lineage.connect(trx, sourceId, SHOP_LINEAGE, { isDemo: true }))
    const tables = await listCheckedTables(deps, companyId, sourceId)
    for (let daysAgo = HISTORY_DAYS; daysAgo >= 0; daysAgo--) {
      shop.addDay(daysAgo)
      const at = new Date(now.getTime() - daysAgo * 86_400_000)
      for (const tableId of tables) await checks.runTable(companyId, tableId, 'active', { at })
      const done = HISTORY_DAYS - daysAgo
      if (done > 0 && done % REPORT_EVERY_DAYS === 0) report(`  ${done} of ${HISTORY_DAYS} days of checks`)
    }
    shop.release()
    report('  a release that changes its tables')
    await runDiscovery(deps, send, { companyId, sourceId })
    await send('PATCH', `/sdk/assets/${sourceId}`, { is_active: true })
    for (const schedule of SCHEDULES) {
      await send('POST', '/sdk/freshness/schedules', { asset_id: sourceId, ...schedule })
    }
    report('  the rest of its tables, watched by a policy')
    // The documentation watches these two by hand.
    const excluded = ['reviews', 'shipments']
    await send('POST', `/sdk/assets/${sourceId}/watch`, { level: 'light', exclude_patterns: excluded })
    // What the console recommends is made of profiles.
    const { data: profile } = await send('POST', `/sdk/assets/${sourceId}/profile`, {})
    await waitForJob(send, profile.job_id!, 'profile')
    return sourceId
  } finally {
    shop.close()
  }
}

const SOURCE_NAME = 'demo_shop'

/** Removes the source of an interrupted start. */
async function removeLeftover(send: Requester): Promise<void> {
  const { data } = await send<{ data: { id: string }[] }>(
    'GET',
    `/assets?asset_type=source&source=${SOURCE_NAME}`,
  )
  for (const { id } of data) await send('DELETE', `/sdk/assets/${id}`)
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

async function listCheckedTables(
  { db, catalog }: DemoDeps,
  companyId: string,
  sourceId: string,
): Promise<string[]> {
  const names = new Set([
    ...[...METRICS, ...RULES].map(watched => watched.table_path),
    ...REFERENCES.map(watched => String(watched.child_table_path)),
  ])
  return db.company(companyId, async trx => {
    const asset = await catalog.findAsset(trx, sourceId)
    const ids: string[] = []
    for (const name of names) ids.push((await catalog.findTable(trx, asset, name)).id)
    return ids
  })
}
