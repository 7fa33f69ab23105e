import type { ConnectOptions, Row } from '../connector.ts'
import { withConnectTimeout, rejectOnAbort } from '../dial.ts'
import { ConnectorError } from '../errors.ts'
import { openRestClient } from '../rest/http.ts'
import { makeRestSession, runRestStatement } from '../rest/statements.ts'
import type { EngineSession } from '../session.ts'
import type { StageReporter } from '../stages.ts'
import { accountHost, type SnowflakeConfig } from './config.ts'
import { makeSnowflakeClassifier } from './errors.ts'
import { makeSnowflakeApi, type SnowflakeStatement } from './statements.ts'
import { makeSnowflakeSigner } from './token.ts'

export type SnowflakeSession = EngineSession<SnowflakeStatement>

const ENGINE = 'snowflake'
const CONNECT_TIMEOUT_MS = 10_000

/** Needs no warehouse. A name that does not exist, or may not be used, is NULL here and no error elsewhere. */
const CURRENT_CONTEXT = `select current_warehouse() as "warehouse", current_database() as "database", current_schema() as "schema"`

/**
 * Signs in: one statement shows that the key or token is good and that Snowflake knows what the configuration
 * names. There is no session in Snowflake; every statement carries all of it.
 */
export async function openSession(
  port: number,
  config: SnowflakeConfig,
  options: ConnectOptions,
  step?: StageReporter,
): Promise<SnowflakeSession> {
  const classify = makeSnowflakeClassifier(config)
  try {
    const sign = makeSnowflakeSigner(config)
    const http = await openRestClient(
      { engine: ENGINE, host: accountHost(config.account), port },
      options,
      { headers: () => ({ ...sign(Date.now()), 'user-agent': 'tidemark/1.0' }), describe },
      step,
    )
    const api = makeSnowflakeApi(http, config)
    const { onStatement } = options
    const backend = { engine: ENGINE, classify, onStatement }
    const session = makeRestSession<SnowflakeStatement>(http, backend, (statement, limits, signal) =>
      runRestStatement(ENGINE, api, statement, limits, signal),
    )
    try {
      await withConnectTimeout(ENGINE, options, async signal => {
        const { connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS } = options
        const whoami = session.run({ text: CURRENT_CONTEXT, values: [] }, { timeoutMs, signal })
        const [row = {}] = await rejectOnAbort(whoami, signal)
        assertConfigExists(row, config)
      })
    } catch (error) {
      // Not waited for: a service that is silent would hold up what it failed for.
      void session.close()
      throw error
    }
    step?.('sign_in', `Signed in as ${config.username}.`)
    return session
  } catch (error) {
    throw classify(error)
  }
}

/** The vendor's code and message of a failed request. */
function describe(body: unknown): { code?: string; message?: string } {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown }
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
  }
}

function assertConfigExists(row: Row, config: SnowflakeConfig): void {
  if (!('warehouse' in row)) {
    const code = 'QUOTED_IDENTIFIERS_IGNORE_CASE'
    const message = `Snowflake ignores the case of quoted names: set ${code} to false for the user.`
    throw new ConnectorError({ kind: 'other', engine: ENGINE, code, message })
  }
  for (const name of ['warehouse', 'database', 'schema'] as const) {
    if (config[name] === undefined || row[name] === config[name]) continue
    const code = name.toUpperCase()
    const message =
      `There is no ${name} ${config[name]} that the role may use: check ${name} in the exact case that ` +
      `SHOW ${code}S prints (mostly upper case), and grant the role USAGE on it.`
    throw new ConnectorError({ kind: 'missing-object', engine: ENGINE, code, message })
  }
}
