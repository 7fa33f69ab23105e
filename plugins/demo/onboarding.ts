import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, hasCode } from '../../server/http/errors.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { DemoDeps } from './deps.ts'
import { SHOP_LINEAGE } from './lineage.ts'
import { ensureSharedShop } from './shared-shop.ts'

export type DemoAudit = (
  trx: Transaction,
  action: string,
  target: { type: string; id: string },
  details: object,
) => Promise<unknown>

const NAME = 'demo_shop'
export const DESTINATION_NAME = 'Demo chat'

/** Creates a company's demo source and starts its discovery, unless there is one. */
export async function createDemoAsset(
  { db, config, pino, catalog }: DemoDeps,
  companyId: string,
  audit: DemoAudit,
) {
  if (!config.demoEnabled)
    return {
      error: 'DEMO_DISABLED',
      message: 'There is no demo: the operator can enable it with DEMO_ENABLED=true',
    }
  const path = await ensureSharedShop(config.dataDir).catch((error: unknown) => {
    pino.warn({ err: error }, 'the database of the demo asset could not be created')
    const message =
      'The database of the demo could not be created: the operator can make DATA_DIR/demo writable'
    throw apiError('UNAVAILABLE', message)
  })
  return db.company(companyId, async trx => {
    const description = 'A small shop with 60 days of history, and a bad last day'
    const { source, discovery } = await catalog.demo.ensure(trx, {
      name: NAME,
      path,
      description,
    })
    const { id, name } = source
    if (discovery) {
      const target = { type: 'source', id }
      await audit(trx, 'source.created', target, { name, source_type: source.sourceType, is_demo: true })
      await audit(trx, 'source.discovery_requested', target, { job_id: discovery.id })
    }
    return { id, public_id: id, name, is_new: discovery !== undefined, job_id: discovery?.id ?? null }
  })
}

/** How long loading the lineage waits for a running discovery. */
const DISCOVERY_WAIT_MS = 10_000

/** Loads the lineage of a company's demo source; waits for a running discovery first. */
export async function loadDemoLineage(
  { db, catalog, lineage }: DemoDeps,
  companyId: string,
  audit: DemoAudit,
) {
  const deadline = Date.now() + DISCOVERY_WAIT_MS
  let source = await db.company(companyId, catalog.demo.find)
  while (source && isBeingDiscovered(source) && Date.now() < deadline) {
    await wait(100)
    source = await db.company(companyId, catalog.demo.find)
  }
  if (!source) {
    const message = 'Create the demo asset first: POST /api/v1/auth/preferences/onboarding/demo-asset'
    return { error: 'ASSET_NOT_FOUND', message }
  }
  const { id, lastDiscoveryAt } = source
  if (lastDiscoveryAt === null) {
    const message = `The tables of the demo asset are not discovered yet: POST /api/v1/sdk/assets/${id}/discover, then try again`
    return { error: 'NOT_DISCOVERED', message }
  }
  return db.company(companyId, async trx => {
    const { nodes, edges } = await lineage.connect(trx, id, SHOP_LINEAGE, { isDemo: true })
    const made = { nodes_created: nodes, edges_created: edges }
    if (edges > 0) await audit(trx, 'lineage.loaded', { type: 'source', id }, made)
    return made
  })
}

type DemoSource = NonNullable<Awaited<ReturnType<CatalogApi['demo']['find']>>>

function isBeingDiscovered({ lastDiscoveryAt, discoveryState }: DemoSource): boolean {
  return lastDiscoveryAt === null && ['queued', 'running'].includes(discoveryState)
}

/** Opens the demo alert of a company, unless it is open. */
export function openDemoAlert({ db, alerts, catalog }: DemoDeps, companyId: string, audit: DemoAudit) {
  return db.company(companyId, async trx => {
    const { sourceId, ...asset } = await findStaleTable(catalog, trx)
    const { isNew, ...alert } = await alerts.demo.raise(trx, {
      type: 'freshness_violation',
      severity: 'critical',
      sourceId,
      asset,
      ruleName: `Freshness of ${STALE_TABLE}`,
      title: { found: '3 days old', expected: 'every 24 h' },
      details: {
        table_path: STALE_TABLE,
        timestamp_column: 'updated_at',
        last_updated: new Date(Date.now() - 3 * 86_400_000).toISOString(),
        sla_threshold: '24h',
        data_age_minutes: 3 * 1_440,
      },
    })
    const { id, title, severity } = alert
    if (isNew) await audit(trx, 'alert.created', { type: 'alert', id }, { title, is_demo: true })
    return { id, title, severity, is_new: isNew }
  })
}

const STALE_TABLE = 'main.main.inventory'

/** The table, as far as the company has it: the alert can be opened before the demo asset exists. */
async function findStaleTable(catalog: CatalogApi, trx: Transaction) {
  const source = await catalog.demo.find(trx)
  const table = source && (await catalog.findTable(trx, { source }, STALE_TABLE).catch(ignoreUnknownTable))
  if (source && table) {
    const { id, qualifiedName, kind, tags } = table
    return { sourceId: source.id, id, qualifiedName, assetType: kind, tags }
  }
  const qualifiedName = `${source?.name ?? NAME}.${STALE_TABLE}`
  return {
    sourceId: source?.id ?? null,
    id: source?.id ?? UNKNOWN_ASSET_ID,
    qualifiedName,
    assetType: 'table',
  }
}

const UNKNOWN_ASSET_ID = '00000000-0000-0000-0000-000000000000'

function ignoreUnknownTable(error: unknown): undefined {
  if (!hasCode(error, 'VALIDATION_ERROR')) throw error
}

export function removeDemoAlerts({ db, alerts }: DemoDeps, companyId: string, audit: DemoAudit) {
  return db.company(companyId, async trx => {
    const deleted = await alerts.demo.remove(trx)
    if (deleted > 0)
      await audit(trx, 'alert.removed', { type: 'company', id: companyId }, { deleted, is_demo: true })
    return { deleted }
  })
}

/** Creates the demo destination of a company, unless there is one. */
export function createDemoDestination({ db, alerts }: DemoDeps, companyId: string, audit: DemoAudit) {
  return db.company(companyId, async trx => {
    const made = await alerts.demo.createDestination(trx, DESTINATION_NAME)
    const { id, name, destinationType, isNew } = made
    const kind = { destination_type: destinationType }
    if (isNew)
      await audit(trx, 'destination.created', { type: 'destination', id }, { name, ...kind, is_demo: true })
    return { id, name, ...kind, is_new: isNew }
  })
}
