import type { Server } from '@hapi/hapi'
import type { Connection, ConnectOptions, Stage } from '../../connectors/connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../connectors/errors.ts'
import { storable } from '../../server/storable.ts'
import { connectorConfig } from './config.ts'
import type { Source } from './models.ts'
import { withPlace } from './places.ts'

/** The `error_code` of the API for each kind of failure. */
const ERROR_CODES: Record<ConnectorErrorKind, string> = {
  credentials: 'credentials',
  network: 'network',
  timeout: 'timeout',
  tls: 'tls',
  permission: 'permission',
  'missing-object': 'missing_object',
  'invalid-query': 'other',
  'driver-missing': 'driver_missing',
  'egress-refused': 'egress_refused',
  other: 'other',
}

/** A failure as the API tells it. Of an error that is not a connector's, only that it was unexpected. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ConnectorError)
    return { code: ERROR_CODES[error.kind], message: storable(error.message) }
  return { code: 'other', message: 'Something unexpected went wrong; the log has more' }
}

/** Milliseconds after which a statement at a source is ended there. */
export function statementTimeoutMs(server: Server, source: Source): number {
  return (source.statementTimeoutSeconds ?? server.config.statementTimeout) * 1_000
}

/** How long to wait while all sessions of a source are in use, in milliseconds. */
const PATIENCE_MS = 10_000

/** What a session is for. */
export interface SessionOptions {
  /** Milliseconds that most statements will be given; saves the statement that would set it. */
  timeoutMs?: number
  /** Whether it leaves one of several sessions to others: work of people who only look. */
  canWait?: boolean
}

/** Opens a session when one may be open, gives it to `work`, and closes it in any case. */
export function withConnection<T>(
  server: Server,
  source: Source,
  work: (connection: Connection) => Promise<T>,
  { timeoutMs, canWait = false }: SessionOptions = {},
): Promise<T> {
  const connector = server.connectors.get(source.sourceType)
  const session = async () => {
    const connection = await connector.connect(connectorConfig(server, connector, source), {
      ...options(server),
      statementTimeoutMs: timeoutMs,
    })
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  }
  return withPlace(server, source, session, { patienceMs: PATIENCE_MS, leaves: canWait ? 1 : 0 })
}

/** Tries a source stage by stage, when a session may be open there. */
export function testConnection(server: Server, source: Source): Promise<Stage[]> {
  const connector = server.connectors.get(source.sourceType)
  const test = () => connector.test(connectorConfig(server, connector, source), options(server))
  return withPlace(server, source, test, { patienceMs: PATIENCE_MS, leaves: 0 })
}

function options(server: Server): ConnectOptions {
  return { egress: server.sourceEgress, log: server.pino }
}
