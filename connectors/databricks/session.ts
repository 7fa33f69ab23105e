import type { ConnectOptions, Row } from '../connector.ts'
import { opening } from '../dial.ts'
import { ConnectorError } from '../errors.ts'
import { RestFailure } from '../rest/errors.ts'
import { openHttp, type Http } from '../rest/http.ts'
import { runStatement, weighed } from '../rest/statements.ts'
import { makeSession, type Limits, type Session } from '../session.ts'
import type { Step } from '../stages.ts'
import { warehouseOf, type DatabricksConfig } from './config.ts'
import { databricksError, describeFailure } from './errors.ts'
import { statementApi, type DatabricksStatements, type Statement } from './statements.ts'

export const ENGINE = 'databricks'

/** States of a warehouse in which statements wait. */
const STARTS: Readonly<Record<string, string>> = {
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
  step?: Step,
): Promise<Session<Statement>> {
  try {
    const http = await openHttp(
      { engine: ENGINE, host: config.host, port },
      options,
      {
        headers: () => ({ authorization: `Bearer ${config.access_token}`, 'user-agent': 'tidemark/1.0' }),
        describe: describeFailure(config.access_token),
      },
      step,
    )
    try {
      const told = await readWarehouse(http, config, options)
      step?.('sign_in', told)
    } catch (error) {
      http.close()
      throw error
    }
    const api = statementApi(ENGINE, http, config)
    return makeSession<Statement>({
      engine: ENGINE,
      classify: thrown => databricksError(ENGINE, thrown),
      run: weighed(http, (statement, limits, signal) => run(api, statement, limits, signal)),
      end: async () => http.close(),
      onStatement: options.onStatement,
    })
  } catch (error) {
    throw databricksError(ENGINE, error)
  }
}

/** What is worth telling about the warehouse. */
async function readWarehouse(http: Http, config: DatabricksConfig, options: ConnectOptions): Promise<string> {
  const path = `/api/2.0/sql/warehouses/${encodeURIComponent(warehouseOf(config))}`
  const { body } = await opening(ENGINE, options, signal =>
    http.send({ method: 'GET', path, isRepeatable: true, signal }),
  )
  const { state } = (body ?? {}) as { state?: unknown }
  if (typeof state !== 'string') throw new RestFailure(200, { code: 'NO_WORKSPACE' })
  if (state.startsWith('DELET')) {
    throw new RestFailure(404, { code: 'NOT_FOUND', message: 'The SQL warehouse was deleted.' })
  }
  return `The token is good, and the SQL warehouse ${STARTS[state] ?? 'runs'}.`
}

async function run(
  api: DatabricksStatements,
  statement: Statement,
  limits: Limits,
  signal: AbortSignal,
): Promise<Row[]> {
  try {
    return await runStatement(ENGINE, api, statement, limits, signal)
  } catch (error) {
    const isLate = error instanceof ConnectorError && error.kind === 'timeout'
    throw isLate && api.isWaiting() ? neverBegan(error) : error
  }
}

function neverBegan({ code, cause }: ConnectorError): ConnectorError {
  return new ConnectorError({
    kind: 'timeout',
    engine: ENGINE,
    code,
    message:
      'The statement waited for the SQL warehouse all of its time: try again when the warehouse has started, or let it run more clusters.',
    cause,
  })
}
