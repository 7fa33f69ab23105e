import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { ConnectorError, sql, type Connection, type ConnectOptions } from 'tidemark/connector'
import { sqlite } from '../connector.ts'

/** A folder of this test alone, gone at its end. */
export const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sqlite-')))

const databases: DatabaseSync[] = []
t.teardown(() => {
  for (const database of databases) database.close()
  rmSync(folder, { recursive: true })
})

/** A database file with some tables, open for writing: what a server's administrator would have. */
export function makeDatabase(name: string, script = ''): { path: string; database: DatabaseSync } {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  databases.push(database)
  database.exec(script)
  return { path, database }
}

/** What the server gives a connector; here it lets everything through. */
export const options: ConnectOptions = {
  egress: {
    address: () => Promise.reject(new Error('not asked')),
    file: path => Promise.resolve(realpathSync(path)),
    folder: path => Promise.resolve(realpathSync(path)),
  },
  log: { debug: () => {}, warn: () => {} },
}

/** Opens a session for the length of a function. */
export async function withSession<Result>(path: string, use: (connection: Connection) => Promise<Result>) {
  const connection = await sqlite.connect({ path }, options)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** The ConnectorError that something is rejected with; anything else is thrown. */
export async function failure(doing: Promise<unknown>): Promise<ConnectorError> {
  const error = await doing.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConnectorError) return error
  throw error
}

/** Statements that run now: a reader keeps the process from ending while it works, and only then. */
export const running = () => process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length

/** Never ends, and never leaves SQLite's own code. */
export const endless = sql`with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n`
