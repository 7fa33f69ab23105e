import { discoverJob } from '../../plugins/catalog/jobs.ts'
import { startServer, type Tenant, type TestServer } from './server.ts'
import { startSource, type Source } from './source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A server, a signed-in company, and its PostgreSQL source, not discovered yet. */
export interface World {
  source: Source
  app: TestServer
  tenant: Tenant
  /** The source's record. */
  asset: { id: string; [field: string]: unknown }
}

/** Makes a world whose source holds what the statements make. */
export async function makeWorld(
  t: Teardown,
  statements: readonly string[],
  options: Parameters<typeof startServer>[1] = {},
): Promise<World> {
  const source = await startSource(t)
  for (const statement of statements) await source.query(statement)
  const app = await startServer(t, options)
  const tenant = await app.signUp()
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: source.config,
  })
  if (made.status !== 201) throw new Error(`the source was refused: ${JSON.stringify(made.body)}`)
  return { source, app, tenant, asset: made.body.data as World['asset'] }
}

/** Asks for a discovery, waits for its job to end, and gives the job's record. */
export async function discover({ app, tenant, asset }: Pick<World, 'app' | 'tenant' | 'asset'>) {
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/discover`)
  await app.server.jobs.settled(discoverJob, data => data.run_id === asked.body.data.job_id)
  return (await tenant.ask('GET', `/api/v1/sdk/jobs/${asked.body.data.job_id}`)).body.data
}
