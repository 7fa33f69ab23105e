import type { Server } from '@hapi/hapi'
import type { Connection, Connector, ConnectOptions, Stage } from '../../connectors/connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../connectors/errors.ts'
import type { Source } from './models.ts'
import { withPlace } from './places.ts'
import { storable } from './text.ts'

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

/** The config of a source split by its connector's schema: what may be shown, and what is sealed. */
export function splitSecrets(
  connector: Connector,
  config: Record<string, unknown>,
): { open: Record<string, unknown>; secret: Record<string, unknown> } {
  const names = new Set(namesOf(connector, 'secret'))
  const entries = Object.entries(config)
  return {
    open: Object.fromEntries(entries.filter(([name]) => !names.has(name))),
    secret: Object.fromEntries(entries.filter(([name]) => names.has(name))),
  }
}

/** The fields of a connector's config that its schema marks as secrets, or as where secrets are sent. */
export function namesOf(connector: Connector, mark: 'secret' | 'address'): string[] {
  const { keys } = connector.config.describe() as {
    keys?: Record<string, { metas?: { secret?: true; address?: true }[] }>
  }
  return Object.entries(keys ?? {}).flatMap(([name, key]) =>
    key.metas?.some(meta => meta[mark]) ? [name] : [],
  )
}

/** Where a source's secrets are sealed for; a row copied to another source or company does not open. */
export function sealPlace(companyId: string, sourceId: string): string {
  return `source:${companyId}:${sourceId}`
}

/** The whole config of a source, secrets opened. */
export function openConfig(server: Server, source: Source): Record<string, unknown> {
  const secret = source.secrets
    ? server.vault.open(source.secrets, sealPlace(source.companyId, source.id))
    : '{}'
  return { ...source.config, ...(JSON.parse(secret) as object) }
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
    const connection = await connector.connect(openConfig(server, source), {
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
  return withPlace(server, source, () => connector.test(openConfig(server, source), options(server)), {
    patienceMs: PATIENCE_MS,
    leaves: 0,
  })
}

function options(server: Server): ConnectOptions {
  return { egress: server.sourceEgress, log: server.pino }
}
