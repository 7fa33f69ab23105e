import { stat } from 'node:fs/promises'
import Joi from 'joi'
import { sql, runConnectionTest, type Connector, type ConnectOptions } from 'tidemark/connector'
import { dialect } from './dialect.ts'
import { ENGINE, toConnectorError } from './errors.ts'
import { openSession } from './session.ts'

export interface SqliteConfig extends Record<string, unknown> {
  /** The database file; the server decides in which folders it may lie. */
  path: string
}

/** The file's real path, when the server lets it be opened and it is a file. */
async function locate(config: SqliteConfig, { egress }: ConnectOptions): Promise<string> {
  const path = await egress.file(config.path)
  if ((await stat(path)).isFile()) return path
  throw Object.assign(new Error('path names a folder or a device: it must name an SQLite file.'), {
    code: 'NOT_A_FILE',
  })
}

/** SQLite, over Node's own node:sqlite. */
export const sqlite: Connector<SqliteConfig> = {
  name: ENGINE,
  label: 'SQLite',
  config: Joi.object<SqliteConfig>({
    path: Joi.string().max(4096).required().description('The database file, in a folder of FILE_SOURCES.'),
  }),
  dialect,
  capabilities: {
    constraints: true,
    regex: true,
    percentile: true,
    groupedPercentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
  },
  connect: (config, options) => openSession(() => locate(config, options), options),
  test: (config, options) =>
    // An error fails the first stage that was not reported.
    runConnectionTest(toConnectorError, async step => {
      await locate(config, options)
      step('reach', 'The file is there.')
      step('tls', 'A file needs no TLS.', 'skipped')
      const connection = await sqlite.connect(config, options)
      try {
        step('sign_in', 'The file was opened for reading; it asks for no user.')
        const rows = await connection.query(COUNT, { timeoutMs: options.connectTimeoutMs ?? 10_000 })
        step('read_catalog', `The catalog can be read: ${String(rows[0]?.n)} tables and views.`)
      } finally {
        await connection.close()
      }
    }),
}

const COUNT = sql`select count(*) as n from sqlite_schema where type in ('table', 'view')`
