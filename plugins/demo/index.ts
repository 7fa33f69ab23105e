import type { Server } from '@hapi/hapi'
import { feature } from '../../server/feature.ts'
import { saveCredentials, readCredentials, type DemoCredentials } from './credentials.ts'
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

/** A company with an example source, created at the first start. */
export const demo = feature<DemoApi>({
  name: 'demo',
  needs: [
    ...['auth', 'catalog', 'freshness', 'scans', 'validity', 'metrics', 'referential'],
    ...['alerts', 'lineage', 'profiles', 'recommendations'],
  ],
  api: server => ({ runDemo: print => run(server, print) }),
  setUp(server, { runDemo }) {
    server.ext('onPostStart', () => prepareShop(server))
    server.afterStart.push(async print => {
      if (server.config.demoEnabled) await runDemo(print)
    })
  },
  routes,
})

/** With a shared database, a discovery may run on a machine that has served no request for the demo asset. */
async function prepareShop(server: Server): Promise<void> {
  const { demoEnabled, databaseUrl, role, dataDir } = server.config
  if (!demoEnabled || databaseUrl === undefined || role === 'web') return
  await ensureSharedShop(dataDir).catch((error: unknown) => {
    server.pino.warn(
      { err: error },
      'the database of the demo asset could not be created: check that DATA_DIR is writable',
    )
  })
}

async function run(server: Server, print: (line: string) => void): Promise<void> {
  const credentials = await ensureDemo(server, print)
  if (!credentials) return
  await server.plugins.auth.setDemoCompany(credentials.companyId)
  const link = await server.plugins.auth
    .createSignInLink({ ...credentials, seconds: LINK_SECONDS })
    // Its user may have been removed.
    .catch(() => server.config.baseUrl)
  print(`open: ${link}`)
  print(`sign-in: ${credentials.email} ${credentials.password}`)
  print(`key: ${credentials.key}`)
  const found = await summarize(server, credentials).catch((error: unknown) => {
    server.pino.debug({ err: error }, 'the demo was changed since it was created')
    return ['The demo source or its key was removed; everything else is unchanged.']
  })
  for (const line of found) print(line)
}

/** The demo of an earlier start, or a new one in an empty database. An interrupted one is created again. */
async function ensureDemo(server: Server, print: (line: string) => void): Promise<DemoCredentials | null> {
  const kept = await readCredentials(server.config.dataDir)
  if (kept?.sourceId) return kept
  if (!kept && (await server.plugins.auth.countCompanies()) > 0) return null
  print('Creating the demo, which takes about 10 seconds:')
  const credentials = kept ?? (await createDemoCompany(server))
  await saveCredentials(server.config.dataDir, credentials)
  const complete = { ...credentials, sourceId: await createDemoSource(server, credentials, print) }
  await saveCredentials(server.config.dataDir, complete)
  return complete
}
