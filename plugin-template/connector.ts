import { stat } from 'node:fs/promises'
import Joi from 'joi'
import { sql, type Connection, type Connector, type ConnectOptions, type Stage } from 'tidemark/connector'
import { dialect } from './dialect.ts'
import { toConnectorError } from './errors.ts'
import { openSession } from './session.ts'

/** The `connection_config` of a source. */
export interface SqliteConfig extends Record<string, unknown> {
  /** The database file; the server decides in which folders it may lie. */
  path: string
  /** The zone of timestamps that name none, UTC unless told. */
  timezone?: string
}

function readTimezone(zone: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
      ? zone
      : error('any.invalid')
  } catch {
    return error('any.invalid')
  }
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
  name: 'sqlite',
  label: 'SQLite',
  config: Joi.object<SqliteConfig>({
    path: Joi.string().max(4096).required(),
    timezone: Joi.string().max(64).custom(readTimezone),
  }),
  dialect,
  capabilities: {
    constraints: true,
    regex: true,
    percentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
  },
  connect: (config, options) => openSession(() => locate(config, options), options),
  async test(config, options) {
    let connection: Connection | undefined
    const stages = await runStages({
      async reach() {
        await locate(config, options)
        return 'The file is there.'
      },
      tls: null,
      async sign_in() {
        connection = await sqlite.connect(config, options)
        return 'The file was opened for reading; it asks for no user.'
      },
      async read_catalog() {
        const statement = sql`select count(*) as n from sqlite_schema where type in ('table', 'view')`
        const rows = await connection?.query(statement, { timeoutMs: options.connectTimeoutMs ?? 10_000 })
        return `The catalog can be read: ${String(rows?.[0]?.n)} tables and views.`
      },
    })
    await connection?.close()
    return stages
  },
}

/** Runs the stages in order; after a failed one, and where there is nothing to try, they are skipped. */
async function runStages(stages: Record<Stage['name'], (() => Promise<string>) | null>): Promise<Stage[]> {
  const results: Stage[] = []
  let hasFailed = false
  for (const [name, run] of Object.entries(stages) as [Stage['name'], (() => Promise<string>) | null][]) {
    if (hasFailed || !run) {
      const message = hasFailed ? 'Not tried, since an earlier stage failed.' : 'A file needs no TLS.'
      results.push({ name, status: 'skipped', latencyMs: 0, message })
      continue
    }
    const start = performance.now()
    const latencyMs = () => Math.round(performance.now() - start)
    try {
      const message = await run()
      results.push({ name, status: 'passed', latencyMs: latencyMs(), message })
    } catch (thrown) {
      hasFailed = true
      const error = toConnectorError(thrown)
      results.push({ name, status: 'failed', latencyMs: latencyMs(), message: error.message, error })
    }
  }
  return results
}
