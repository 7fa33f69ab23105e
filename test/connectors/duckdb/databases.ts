import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import type { Connection, ConnectOptions } from '../../../connectors/connector.ts'
import { duckdb, type DuckdbConfig } from '../../../connectors/duckdb/index.ts'

/** A folder of this test alone, gone at its end. */
export const folder = realpathSync(mkdtempSync(join(tmpdir(), 'duckdb-')))
t.teardown(() => rmSync(folder, { recursive: true }))

/** What the server gives a connector; here it lets everything through. */
export const options: ConnectOptions = {
  egress: {
    address: () => Promise.reject(new Error('not asked')),
    file: async path => realpathSync(path),
    folder: async path => realpathSync(path),
  },
  log: { debug: () => {}, warn: () => {} },
}

/** Writes with a writer of its own, which waits until no reader has the file. */
export async function write(path: string, ...statements: string[]): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const instance = await DuckDBInstance.create(path)
      const connection = await instance.connect()
      try {
        for (const statement of statements) await connection.run(statement)
      } finally {
        connection.closeSync()
        instance.closeSync()
      }
      return
    } catch (error) {
      if (attempt > 100 || !/lock/.test((error as Error).message)) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

/** A `connection_config` as the server validates it. */
export function configOf(path: string, more: Partial<DuckdbConfig> = {}): DuckdbConfig {
  const { value, error } = duckdb.config.validate({ path, ...more })
  if (error) throw error
  return value as DuckdbConfig
}

/** Opens a session for the length of a function. */
export async function withSession<Result>(path: string, use: (connection: Connection) => Promise<Result>) {
  const connection = await duckdb.connect(configOf(path), options)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** Statements that run now: a reader keeps the process from ending while it works, and only then. */
export const running = () => process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length
