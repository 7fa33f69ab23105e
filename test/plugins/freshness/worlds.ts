import { randomUUID } from 'node:crypto'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { startServer, type Tenant } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

type Teardown = Parameters<typeof startSource>[0]

/** A server with two companies: `tenant` monitors sources, `stranger` must not see them. */
export async function startWorlds(t: Teardown, options: Parameters<typeof startServer>[1] = {}) {
  const { server, signUp, query } = await startServer(t, options)
  const { checkSource } = server.plugins.freshness
  // Registration is rate-limited, so one company monitors all sources of a file.
  const tenant: Tenant = await signUp()
  const stranger: Tenant = await signUp('Other')

  /** Adds a source and discovers it. */
  async function addSource(type: string, config: object): Promise<{ id: string; name: string }> {
    const name = `shop-${randomUUID().slice(0, 8)}`
    const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
      name,
      source_type: type,
      connection_config: config,
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    const id = made.body.data.id as string
    await discover(id)
    return { id, name }
  }

  async function discover(id: string): Promise<void> {
    const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
    await server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
  }

  /** A PostgreSQL source with these tables. */
  async function world(t: Teardown, statements: string) {
    const database = await startSource(t)
    await database.query(statements)
    const source = await addSource('postgresql', database.config)
    const watch = async (table: string, fields: object = {}) => {
      const reply = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
        asset_id: source.id,
        table_path: table,
        ...fields,
      })
      if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
      return reply.body.data
    }
    const freshness = async (table: string) => {
      const name = `${source.name}.${database.name}.public.${table}`
      return (await tenant.ask('GET', `/api/v1/freshness?asset=${name}`)).body
    }
    const check = (at?: Date) => checkSource({ companyId: tenant.companyId, sourceId: source.id, at })
    return { database, source, watch, freshness, check }
  }

  return { server, tenant, stranger, query, addSource, discover, world }
}

/** Fields of a schedule with an explicit threshold. */
export const explicit = (threshold: string) => ({ monitoring_mode: 'explicit', sla_threshold: threshold })
