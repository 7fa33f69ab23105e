import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Plugin, Server } from '@hapi/hapi'
import { summarize } from './summary.ts'
import { makeDemo, type Credentials } from './tour.ts'

/** What the start asks of the demo, as `server.plugins.demo`. */
export interface DemoApi {
  /** On an empty database makes the demo; prints how to sign in and what was found, also at later starts. */
  run(print: (line: string) => void): Promise<void>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    demo: DemoApi
  }
}

/** A company with a source to look at, made at the first start. */
export const demo: Plugin<undefined> = {
  name: 'demo',
  dependencies: ['auth', 'catalog', 'freshness', 'scans', 'validity', 'metrics', 'alerts'],
  register(server) {
    server.expose({ run: print => run(server, print) } satisfies DemoApi)
  },
}

async function run(server: Server, print: (line: string) => void): Promise<void> {
  const file = join(resolve(server.config.dataDir), 'demo', 'credentials.json')
  const isEmpty = (await server.plugins.auth.countCompanies()) === 0
  const credentials = isEmpty ? await makeDemo(server) : await readCredentials(file)
  if (!credentials) return
  if (isEmpty) await writeFile(file, JSON.stringify(credentials), { mode: 0o600 })
  print(`sign-in: ${credentials.email} ${credentials.password}`)
  print(`key: ${credentials.key}`)
  for (const line of await summarize(server, credentials)) print(line)
}

/** The demo's credentials of an earlier start; null where there was none. */
async function readCredentials(file: string): Promise<Credentials | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Credentials)
}
