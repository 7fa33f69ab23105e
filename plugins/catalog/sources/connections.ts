import { join, resolve } from 'node:path'
import type { Server } from '@hapi/hapi'
import type { Connection, ConnectOptions, Stage } from '../../../connectors/connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../../connectors/errors.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { GiveUp } from '../../../server/jobs/jobs.ts'
import { withFields } from '../../../server/telemetry/origin.ts'
import { storable } from '../../../server/database/storable.ts'
import { outcomeOfError, type ConnectionOutcome } from './breaker.ts'
import { connectorConfig } from './config.ts'
import type { Source } from '../models.ts'
import { withSlot } from './session-slots.ts'
import { openSession } from './session.ts'
import { makeMeter, type UseMeter, type SessionPurpose, type SessionUse } from './usage.ts'

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

/** A failure in replies. The message of an error that is neither a connector's nor the API's is not shown. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ConnectorError)
    return { code: ERROR_CODES[error.kind], message: storable(error.message) }
  if (hasErrorData(error) || error instanceof GiveUp)
    return { code: 'other', message: storable(error.message) }
  return { code: 'other', message: 'Something unexpected went wrong; the log has more' }
}

/** Milliseconds after which a statement at a source is ended there. */
export function statementTimeoutMs(server: Server, source: Source): number {
  return (source.statementTimeoutSeconds ?? server.config.statementTimeout) * 1_000
}

/** How long to wait while all sessions of a source are in use, in milliseconds. */
const SLOT_WAIT_MS = 10_000

/** What a session is for. */
export interface SessionOptions {
  /** Under which its use is recorded. */
  purpose: SessionPurpose
  /** Whether a schedule started it: then an open breaker stops it. */
  isScheduled?: boolean
  /** Milliseconds that most statements will be given; saves the statement that would set it. */
  timeoutMs?: number
  /** Whether it leaves one of several sessions to other work: previews and dry runs. */
  isLowPriority?: boolean
  /** Gives up the dialling, and closes the session with whatever runs in it. */
  signal?: AbortSignal
  /** Is called with what the session used when it has ended, also after a failure. */
  onUse?(use: SessionUse): void
}

/** Opens a session when one may be open, gives it to `work`, and closes it in any case. */
export function withConnection<T>(
  server: Server,
  source: Source,
  work: (connection: Connection) => Promise<T>,
  { purpose, isScheduled = false, timeoutMs, isLowPriority = false, signal, onUse }: SessionOptions,
): Promise<T> {
  const connector = server.connectors.get(source.sourceType)
  const meter = openMeter(server, source, purpose)
  const progress: { isOpen: boolean; outcome: ConnectionOutcome } = { isOpen: false, outcome: undefined }
  const session = async () => {
    const connection = await openSession(
      connector,
      connectorConfig(server, connector, source),
      { ...connectOptions(server, source, meter), statementTimeoutMs: timeoutMs, signal },
      meter.onCall,
    )
    Object.assign(progress, { isOpen: true, outcome: 'reached' })
    const giveUp = () => void connection.close().catch(() => undefined)
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      return await work(connection)
    } finally {
      signal?.removeEventListener('abort', giveUp)
      await connection.close()
    }
  }
  const watched = () =>
    session()
      .catch((error: unknown) => {
        if (!progress.isOpen) meter.fails()
        progress.outcome = signal?.aborted ? undefined : outcomeOfError(error, progress.isOpen)
        throw error
      })
      .finally(() => onUse?.(meter.total()))
  const place = {
    waitMs: SLOT_WAIT_MS,
    reservedSlots: isLowPriority ? 1 : 0,
    isScheduled,
    holding: { purpose, takeUse: meter.take, outcome: () => progress.outcome },
  } as const
  return withFields({ source_id: source.id }, () => withSlot(server, source, watched, place))
}

/** Tries a source stage by stage, when a session may be open there. */
export function testConnection(server: Server, source: Source): Promise<Stage[]> {
  const connector = server.connectors.get(source.sourceType)
  const meter = openMeter(server, source, 'test')
  let outcome: ConnectionOutcome
  const test = async () => {
    const stages = await connector.test(
      connectorConfig(server, connector, source),
      connectOptions(server, source, meter),
    )
    const failed = stages.find(({ status }) => status === 'failed')
    if (failed) meter.fails()
    outcome = failed ? outcomeOfError(failed.error, failed.name === 'read_catalog') : 'reached'
    return stages
  }
  return withSlot(server, source, test, {
    waitMs: SLOT_WAIT_MS,
    reservedSlots: 0,
    isScheduled: false,
    holding: { purpose: 'test', takeUse: meter.take, outcome: () => outcome },
  })
}

function openMeter({ telemetry }: Server, { sourceType }: Source, purpose: SessionPurpose): UseMeter {
  return makeMeter(taken => telemetry.statement(sourceType, purpose, taken))
}

function connectOptions(server: Server, { isDemo }: Source, { onStatement }: UseMeter): ConnectOptions {
  const demoFolder = join(resolve(server.config.dataDir), 'demo')
  const egress = isDemo ? server.egressForFolder(demoFolder) : server.sourceEgress
  return { egress, log: server.pino, onStatement }
}
