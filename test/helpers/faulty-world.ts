import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DEFAULT_DEADLINES } from '../../server/deadlines.ts'
import { makeLog } from '../../server/telemetry/log.ts'
import { startServer, type Tenant, type TestServer } from './server.ts'

const EXTENSION = new URL('extensions/faulty.ts', import.meta.url).href

/** A server with the extension that makes mistakes, and what it logs. */
export interface FaultyWorld {
  app: TestServer
  tenant: Tenant
  /** The mistakes that the extension makes now, and one of them. After each test it makes none. */
  faults: Faulty['faults']
  hang: Faulty['hang']
  mend: Faulty['mend']
  /** What was logged since this was asked last. */
  logged(): string
  /** Adds a source of the engine with a table of three rows. @returns its record, which `discover` takes */
  addSource(config?: object): Promise<{ app: TestServer; tenant: Tenant; asset: { id: string } }>
}

type Faulty = typeof import('./extensions/faulty.ts')

interface TestFile {
  teardown(down: () => unknown): unknown
  afterEach(restore: () => void): unknown
}

/** Makes the world for one test file; the deadlines of its server may be altered. */
export async function makeFaultyWorld(t: TestFile): Promise<FaultyWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-faulty-'))
  t.teardown(() => rm(folder, { recursive: true }))
  let lines = ''
  const log = makeLog({ logLevel: 'info', logFormat: 'json' }, { write: line => void (lines += line) })
  const app = await startServer(t, {
    settings: { EXTENSIONS: EXTENSION, FILE_SOURCES: folder, WEBHOOK_DELAYS: '0,3600' },
    build: { log },
    isOwn: true,
  })
  const tenant = await app.signUp()
  // After the server has loaded it, whose hooks find what it imports: it is the same module.
  const { faults, hang, mend } = (await import(EXTENSION)) as Faulty
  t.afterEach(() => {
    mend()
    Object.assign(app.server.deadlines, DEFAULT_DEADLINES)
  })
  return {
    ...{ app, tenant, faults, hang, mend },
    logged() {
      const found = lines
      lines = ''
      return found
    },
    async addSource(config = {}) {
      const path = join(folder, `${randomUUID()}.db`)
      const database = new DatabaseSync(path)
      database.exec(`create table orders (id integer primary key, total integer);
        insert into orders values (1, 5), (2, null), (3, 9)`)
      database.close()
      const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
        name: `shop ${randomUUID().slice(0, 8)}`,
        source_type: 'badengine',
        connection_config: { path, ...config },
        statement_timeout_seconds: 1,
      })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return { app, tenant, asset: made.body.data }
    },
  }
}
