import { randomUUID } from 'node:crypto'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import type { MonitorsDocument } from '../../../plugins/monitors/file/monitors-file.ts'
import { startServer, type Tenant } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

export const SHOP = `create table customers (id int primary key, email text);
  create table orders (id int primary key, customer_id int, status text, total numeric, updated_at timestamptz);
  create table events (id int, body text)`

/** A server on which companies have sources of the same database, by the same name. */
export async function startMonitors(t: Parameters<typeof startServer>[0]) {
  const { server, signUp, query } = await startServer(t)

  async function addSource(tenant: Tenant, name: string, config: object): Promise<string> {
    const fields = { name, source_type: 'postgresql', connection_config: config }
    const made = await tenant.ask('POST', '/api/v1/sdk/assets', fields)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    const id = made.body.data.id as string
    await discover(tenant, id)
    return id
  }

  async function discover(tenant: Tenant, id: string): Promise<void> {
    const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
    await server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
  }

  /** A database, and a source of it for each tenant. */
  async function shop(t: Parameters<typeof startServer>[0], tenants: readonly Tenant[], statements = SHOP) {
    const database = await startSource(t)
    await database.query(statements)
    const name = `shop-${randomUUID().slice(0, 8)}`
    const ids: string[] = []
    for (const tenant of tenants) ids.push(await addSource(tenant, name, database.config))
    return { database, name, ids }
  }

  return { server, signUp, query, discover, shop }
}

/** Asks the routes of monitors for one source. */
export function monitorsOf(tenant: Tenant, source: string, file = 'monitors/shop.yaml') {
  const path = `/api/v1/sdk/monitors/${source}`
  const send =
    (what: 'plan' | 'apply') =>
    async (content: string | object, more: object = {}) =>
      tenant.ask('POST', `${path}/${what}`, { files: [{ name: file, content }], ...more })
  return {
    async export(): Promise<MonitorsDocument> {
      const { status, body } = await tenant.ask('GET', path)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.data as MonitorsDocument
    },
    plan: send('plan'),
    apply: send('apply'),
  }
}
