import type { ConnectOptions, Row } from '../connector.ts'
import { withConnectTimeout } from '../dial.ts'
import { ConnectorError } from '../errors.ts'
import { RestFailure } from '../rest/errors.ts'
import { openRestClient, type RestClient } from '../rest/http.ts'
import { makeRestSession, runRestStatement } from '../rest/statements.ts'
import type { EngineSession, StatementLimits } from '../session.ts'
import type { StageReporter } from '../stages.ts'
import { warehouseId, type DatabricksConfig } from './config.ts'
import { classifyDatabricksError, makeFailureReader } from './errors.ts'
import { makeDatabricksApi, type DatabricksApi, type DatabricksStatement } from './statements.ts'

export const ENGINE = 'databricks'

/** States of a warehouse in which statements wait. */
const WAITING_STATES: Readonly<Record<string, string>> = {
  STOPPED: 'is stopped and starts with the first statement',
  STOPPING: 'is stopping and starts again with the first statement',
  STARTING: 'is starting',
}

/**
 * Opens a session: one request asks for the warehouse, which shows that the token and the path are good and
 * costs nothing. There is no session in Databricks, and a warehouse that has stopped stays so until the first
 * statement. Rejects with ConnectorError.
 */
export async function openSession(
  port: number,
  config: DatabricksConfig,
  options: ConnectOptions,
  step?: StageReporter,
): Promise<EngineSession<DatabricksStatement>> {
  try {
    const http = await openRestClient(
      { engine: ENGINE, host: config.host, port },
      options,
      {
        headers: () => ({ authorization: `Bearer ${config.access_token}`, 'user-agent': 'tidemark/1.0' }),
        describe: makeFailureReader(config.access_token),
      },
      step,
    )
    try {
      const warehouse = await describeWarehouse(http, config, options)
      step?.('sign_in', warehouse)
    } catch (error) {
      http.close()
      throw error
    }
    const api = makeDatabricksApi(ENGINE, http, config)
    const { onStatement } = options
    return makeRestSession<DatabricksStatement>(
      http,
      { engine: ENGINE, classify, onStatement },
      (statement, limits, signal) => run(api, statement, limits, signal),
      (statement, limits, signal) => run(api, statement, limits, signal),
    )
  } catch (error) {
    throw classify(error)
  }
}

const classify = (thrown: unknown) => classifyDatabricksError(ENGINE, thrown)

async function describeWarehouse(
  http: RestClient,
  config: DatabricksConfig,
  options: ConnectOptions,
): Promise<string> {
  const path = `/api/2.0/sql/warehouses/${encodeURIComponent(warehouseId(config))}`
  const { body } = await withConnectTimeout(ENGINE, options, signal => http.get(path, { signal }))
  const { state } = (body ?? {}) as { state?: unknown }
  if (typeof state !== 'string') throw new RestFailure(200, { code: 'NO_WORKSPACE' })
  if (state.startsWith('DELET')) {
    throw new RestFailure(404, { code: 'NOT_FOUND', message: 'The SQL warehouse was deleted.' })
  }
  return `The token is good, and the SQL warehouse ${WAITING_STATES[state] ?? 'runs'}.`
}

async function run(
  api: DatabricksApi,
  statement: DatabricksStatement,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<Row[]> {
  try {
    return await runRestStatement(ENGINE, api, statement, limits, signal)
  } catch (error) {
    const isLate = error instanceof ConnectorError && error.kind === 'timeout'
    throw isLate && api.isWaiting() ? warehouseTimeoutError(error) : error
  }
}

function warehouseTimeoutError({ code, cause }: ConnectorError): ConnectorError {
  const message =
    'The statement waited for the SQL warehouse all of its time: try again when the warehouse has started, or let it run more clusters.'
  return new ConnectorError({ kind: 'timeout', engine: ENGINE, code, message, cause })
}
