import { discoverJob } from '../../plugins/catalog/discovery/jobs.ts'
import { startServer, type Tenant, type TestServer } from './server.ts'
import { startSource, type Source } from './source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A server and a company whose owner is signed in. */
export interface Stage {
  app: TestServer
  tenant: Tenant
}

/** A stage with a PostgreSQL source of the company, not discovered yet. */
export interface World extends Stage {
  source: Source
  /** The source's record. */
  asset: { id: string; [field: string]: unknown }
}

/** Makes a stage of its own; starting a server is most of what a test takes, so that files share one where they can. */
export async function makeStage(
  t: Teardown,
  options: Parameters<typeof startServer>[1] = {},
): Promise<Stage> {
  const app = await startServer(t, options)
  return { app, tenant: await app.signUp() }
}

/** Makes a world whose source holds what the statements make. */
export async function makeWorld(
  t: Teardown,
  statements: readonly string[],
  options: Parameters<typeof startServer>[1] = {},
): Promise<World> {
  const source = await makeSourceWith(t, statements)
  return addSource(await makeStage(t, options), source)
}

/**
 * Makes a world on a stage that other tests use before and after. Its source is removed at the end of the test, and
 * with it all rules, metrics, results and alerts, so that no test finds those of another.
 */
export async function makeWorldOn(t: Teardown, stage: Stage, statements: readonly string[]): Promise<World> {
  const source = await makeSourceWith(t, statements)
  const world = await addSource(stage, source)
  t.teardown(async () => {
    const removed = await stage.tenant.ask('DELETE', `/api/v1/sdk/assets/${world.asset.id}`)
    if (![200, 404].includes(removed.status)) throw new Error(JSON.stringify(removed.body))
    // A source that is removed leaves its alerts.
    await stage.app.query('delete from alerts where source_id = $1', [world.asset.id])
  })
  return world
}

async function makeSourceWith(t: Teardown, statements: readonly string[]): Promise<Source> {
  const source = await startSource(t)
  for (const statement of statements) await source.query(statement)
  return source
}

async function addSource({ app, tenant }: Stage, source: Source): Promise<World> {
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
