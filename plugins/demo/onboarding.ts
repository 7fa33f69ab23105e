import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, hasCode } from '../../server/http/errors.ts'
import { LINEAGE } from './lineage.ts'
import { sharedShop } from './shared-shop.ts'

/** Why there is nothing to show, as the envelope tells it. */
export interface Refusal {
  error: 'DEMO_DISABLED' | 'ASSET_NOT_FOUND' | 'NOT_DISCOVERED'
  message: string
}

/** Notes what was made, in the transaction that makes it. */
export type Tell = (
  trx: Transaction,
  action: string,
  target: { type: string; id: string },
  details: object,
) => Promise<unknown>

const NAME = 'demo_shop'
const CHAT = 'Demo chat'

/** Gives a company its demo source, whose discovery starts when it is made. */
export async function demoAsset(server: Server, companyId: string, tell: Tell): Promise<object | Refusal> {
  if (!server.config.demoEnabled) {
    return {
      error: 'DEMO_DISABLED',
      message: 'There is no demo here: the operator can have one with DEMO_ENABLED=true',
    }
  }
  const path = await sharedShop(server.config.dataDir).catch((error: unknown) => {
    server.pino.warn({ err: error }, 'the database of the demo asset could not be made')
    const message =
      'The database of the demo could not be made: the service has to be let write to DATA_DIR/demo'
    throw apiError('UNAVAILABLE', message)
  })
  return server.db.company(companyId, async trx => {
    const description = 'A small shop with four weeks of history, and a bad last day'
    const { source, discovery } = await server.plugins.catalog.demo.ensure(trx, {
      name: NAME,
      path,
      description,
    })
    const { id, name } = source
    if (discovery) {
      const target = { type: 'source', id }
      await tell(trx, 'source.created', target, { name, source_type: source.sourceType, is_demo: true })
      await tell(trx, 'source.discovery_requested', target, { job_id: discovery.id })
    }
    return { id, public_id: id, name, is_new: discovery !== undefined, job_id: discovery?.id ?? null }
  })
}

/** Milliseconds that the lineage of a source that is being discovered is waited for. */
const PATIENCE = 10_000

/** Loads the lineage of a company's demo source; of one that was just made, when its discovery has ended. */
export async function demoLineage(server: Server, companyId: string, tell: Tell): Promise<object | Refusal> {
  const { catalog, lineage } = server.plugins
  const deadline = Date.now() + PATIENCE
  let source = await server.db.company(companyId, catalog.demo.find)
  while (source && isOnItsWay(source) && Date.now() < deadline) {
    await wait(100)
    source = await server.db.company(companyId, catalog.demo.find)
  }
  if (!source) {
    const message = 'Make the demo asset first: POST /api/v1/auth/preferences/onboarding/demo-asset'
    return { error: 'ASSET_NOT_FOUND', message }
  }
  const { id, lastDiscoveryAt } = source
  if (lastDiscoveryAt === null) {
    const message = `The tables of the demo asset are not known yet: POST /api/v1/sdk/assets/${id}/discover, then try again`
    return { error: 'NOT_DISCOVERED', message }
  }
  return server.db.company(companyId, async trx => {
    const { nodes, edges } = await lineage.connect(trx, id, LINEAGE, { isDemo: true })
    const made = { nodes_created: nodes, edges_created: edges }
    if (edges > 0) await tell(trx, 'lineage.loaded', { type: 'source', id }, made)
    return made
  })
}

type Source = NonNullable<Awaited<ReturnType<Server['plugins']['catalog']['demo']['find']>>>

function isOnItsWay({ lastDiscoveryAt, discoveryState }: Source): boolean {
  return lastDiscoveryAt === null && ['queued', 'running'].includes(discoveryState)
}

/** Opens the demo alert of a company, or gives the one that is open. */
export function demoAlert(server: Server, companyId: string, tell: Tell): Promise<object> {
  return server.db.company(companyId, async trx => {
    const { sourceId, ...asset } = await staleTable(server, trx)
    const { alert, isNew } = await server.plugins.alerts.demo.raise(trx, {
      severity: 'critical',
      sourceId,
      asset,
      ruleName: `Freshness of ${TABLE}`,
      title: `${TABLE} is stale: its newest data is 3 days old, and at most 24h are allowed`,
      details: {
        table_path: TABLE,
        timestamp_column: 'updated_at',
        last_updated: new Date(Date.now() - 3 * 86_400_000).toISOString(),
        sla_threshold: '24h',
        data_age_minutes: 3 * 1_440,
      },
    })
    const { id, title, severity } = alert
    if (isNew) await tell(trx, 'alert.created', { type: 'alert', id }, { title, is_demo: true })
    return { id, title, severity, is_new: isNew }
  })
}

/** The table of the shop that is not kept up to date. */
const TABLE = 'main.main.inventory'

/** That table, as far as the company has it: an alert can be looked at before the demo asset was made. */
async function staleTable(server: Server, trx: Transaction) {
  const { catalog } = server.plugins
  const source = await catalog.demo.find(trx)
  const table = source && (await catalog.findTable(trx, { source }, TABLE).catch(unlessUnknown))
  if (source && table) {
    const { id, qualifiedName, kind, tags } = table
    return { sourceId: source.id, id, qualifiedName, assetType: kind, tags }
  }
  const qualifiedName = `${source?.name ?? NAME}.${TABLE}`
  return { sourceId: source?.id ?? null, id: source?.id ?? NOBODY, qualifiedName, assetType: 'table' }
}

const NOBODY = '00000000-0000-0000-0000-000000000000'

function unlessUnknown(error: unknown): undefined {
  if (!hasCode(error, 'VALIDATION_ERROR')) throw error
}

/** Deletes the demo alerts of a company. */
export function removeDemoAlerts(server: Server, companyId: string, tell: Tell): Promise<object> {
  return server.db.company(companyId, async trx => {
    const deleted = await server.plugins.alerts.demo.remove(trx)
    if (deleted > 0)
      await tell(trx, 'alert.removed', { type: 'company', id: companyId }, { deleted, is_demo: true })
    return { deleted }
  })
}

/** Makes the demo destination of a company, or gives the one that is there. */
export function demoDestination(server: Server, companyId: string, tell: Tell): Promise<object> {
  return server.db.company(companyId, async trx => {
    const { destination, isNew } = await server.plugins.alerts.demo.destination(trx, CHAT)
    const { id, name, destinationType } = destination
    const kind = { destination_type: destinationType }
    if (isNew)
      await tell(trx, 'destination.created', { type: 'destination', id }, { name, ...kind, is_demo: true })
    return { id, name, ...kind, is_new: isNew }
  })
}
