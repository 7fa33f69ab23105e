import type { Server } from '@hapi/hapi'
import { feature } from '../../server/feature.ts'
import { saveCredentials, readCredentials, type DemoCredentials } from './credentials.ts'
import type { DemoDeps } from './deps.ts'
import { makeSimulatedService } from './receiver.ts'
import { routes } from './routes.ts'
import { ensureSharedShop } from './shared-shop.ts'
import { summarize } from './summary.ts'
import { createDemoSource, createDemoCompany } from './tour.ts'

/** The link that is printed signs in once, within an hour. */
const LINK_SECONDS = 3_600

export interface DemoApi {
  /** Creates the demo in an empty database. Prints the credentials and a summary, also at later starts. */
  runDemo(print: (line: string) => void): Promise<void>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    demo: DemoApi
  }
}

function depsOf(server: Server): DemoDeps {
  const { db, config, pino } = server
  const { auth, alerts, catalog, freshness, lineage, checks } = server.plugins
  const inject: DemoDeps['inject'] = request => server.inject(request)
  const service = makeSimulatedService()
  alerts.connect({ demoReceiver: service.receive })
  return { db, config, pino, inject, auth, alerts, service, catalog, freshness, lineage, checks }
}

/** A company with an example source, created at the first start. */
export const demo = feature({
  name: 'demo',
  needs: [
    'auth',
    'catalog',
    'freshness',
    'checks',
    'validity',
    'metrics',
    'referential',
    'alerts',
    'lineage',
    'profiles',
    'recommendations',
    'comparisons',
    'contracts',
    'owners',
    'operatingSchedules',
  ],
  make(server) {
    const deps = depsOf(server)
    const runDemo: DemoApi['runDemo'] = print => run(deps, print)
    server.ext('onPostStart', () => prepareShop(deps))
    server.afterStart.push(async print => {
      if (deps.config.demoEnabled) await runDemo(print)
    })
    return { api: { runDemo }, routes: routes(deps) }
  },
})

/** With a shared database, a discovery may run on a machine that has served no request for the demo asset. */
async function prepareShop({ config, pino }: DemoDeps): Promise<void> {
  const { demoEnabled, databaseUrl, role, dataDir } = config
  if (!demoEnabled || databaseUrl === undefined || role === 'web') return
  await ensureSharedShop(dataDir).catch((error: unknown) => {
    pino.warn(
      { err: error },
      'the database of the demo asset could not be created: check that DATA_DIR is writable',
    )
  })
}

async function run(deps: DemoDeps, print: (line: string) => void): Promise<void> {
  const credentials = await ensureDemo(deps, print)
  if (!credentials) return
  const { auth, config, pino } = deps
  await auth.setDemoCompany(credentials.companyId)
  const link = await auth
    .createSignInLink({ ...credentials, seconds: LINK_SECONDS })
    // Its user may have been removed.
    .catch(() => config.baseUrl)
  print(`open: ${link}`)
  print(`sign-in: ${credentials.email} ${credentials.password}`)
  print(`key: ${credentials.key}`)
  const found = await summarize(deps, credentials).catch((error: unknown) => {
    pino.debug({ err: error }, 'the demo was changed since it was created')
    return ['The demo source or its key was removed; everything else is unchanged.']
  })
  for (const line of found) print(line)
}

/** The demo of an earlier start, or a new one in an empty database. An interrupted one is created again. */
async function ensureDemo(deps: DemoDeps, print: (line: string) => void): Promise<DemoCredentials | null> {
  const { auth, config } = deps
  const kept = await readCredentials(config.dataDir)
  if (kept?.sourceId) return kept
  if (!kept && (await auth.countCompanies()) > 0) return null
  print('Creating the demo, which takes about 10 seconds:')
  const credentials = kept ?? (await createDemoCompany(auth))
  await saveCredentials(config.dataDir, credentials)
  const complete = { ...credentials, sourceId: await createDemoSource(deps, credentials, print) }
  await saveCredentials(config.dataDir, complete)
  return complete
}
