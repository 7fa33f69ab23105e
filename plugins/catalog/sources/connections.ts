import { join, resolve } from 'node:path'
import { assertStages } from '../../../connectors/answers/sessions.ts'
import type { Connection, Connector, ConnectOptions, Stage } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { runConnectionTest } from '../../../connectors/stages.ts'
import type { Config } from '../../../server/settings/config.ts'
import { withFields } from '../../../server/telemetry/origin.ts'
import { outcomeOfError, type ConnectionOutcome } from './breaker.ts'
import { connectorConfig, describeMissingConnector, secretsOf, type SourceConfig } from './config.ts'
import { makeConnectorCalls, type ConnectorCalls } from './connector-calls.ts'
import type { Connectors, SessionDeps } from '../deps.ts'
import type { Source } from '../models.ts'
import { withSlot } from './session-slots.ts'
import { limitBytes, maxBytesPerStatement } from './byte-limit.ts'
import { openSession } from './session.ts'
import { makeMeter, type UseMeter, type SessionPurpose, type SessionUse } from './usage.ts'

/** Milliseconds after which a statement at a source is ended there. */
export function statementTimeoutMs(config: Config, source: Source): number {
  return (source.statementTimeoutSeconds ?? config.statementTimeout) * 1_000
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
  /** Milliseconds to wait while all sessions of the source are in use; defaults to 10 s. A job that is put back waits for none. */
  slotWaitMs?: number | undefined
  /** Gives up the dialling, and closes the session with whatever runs in it. */
  signal?: AbortSignal
  /** Is called with what the session used when it has ended, also after a failure. */
  onUse?(use: SessionUse): void
}

/** Opens a session when one may be open, gives it to `work`, and closes it in any case. */
export function withConnection<T>(
  deps: SessionDeps,
  source: Source,
  work: (connection: Connection) => Promise<T>,
  {
    purpose,
    isScheduled = false,
    timeoutMs,
    isLowPriority = false,
    slotWaitMs,
    signal,
    onUse,
  }: SessionOptions,
): Promise<T> {
  const meter = openMeter(deps, source, purpose)
  const progress: { isOpen: boolean; outcome: ConnectionOutcome } = { isOpen: false, outcome: undefined }
  const session = async () => {
    const { connector, config, calls } = prepareCalls(deps, source)
    const opened = await openSession(
      connector,
      config,
      { ...connectOptions(deps, source, meter), statementTimeoutMs: timeoutMs, signal },
      { calls, onCall: meter.onCall },
    )
    Object.assign(progress, { isOpen: true, outcome: 'reached' })
    const maxBytes = connector.capabilities.byteLimit ? null : maxBytesPerStatement(source)
    const connection = maxBytes === null ? opened : limitBytes(opened, { engine: connector.name, maxBytes })
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
    waitMs: slotWaitMs ?? SLOT_WAIT_MS,
    reservedSlots: isLowPriority ? 1 : 0,
    isScheduled,
    holding: { purpose, takeUse: meter.take, outcome: () => progress.outcome },
  } as const
  return withFields({ source_id: source.id }, () => withSlot(deps, source, watched, place))
}

/**
 * Tries a source stage by stage, when a session may be open there. A test that throws, does not end or returns anything
 * but stages fails in the first stage.
 */
export function testConnection(deps: SessionDeps, source: Source): Promise<Stage[]> {
  const meter = openMeter(deps, source, 'test')
  let outcome: ConnectionOutcome
  const test = async () => {
    const stages = await runTest(deps, source, meter)
    const failed = stages.find(({ status }) => status === 'failed')
    if (failed) meter.fails()
    outcome = failed ? outcomeOfError(failed.error, failed.name === 'read_catalog') : 'reached'
    return stages
  }
  return withSlot(deps, source, test, {
    waitMs: SLOT_WAIT_MS,
    reservedSlots: 0,
    isScheduled: false,
    holding: { purpose: 'test', takeUse: meter.take, outcome: () => outcome },
  })
}

async function runTest(deps: SessionDeps, source: Source, meter: UseMeter): Promise<Stage[]> {
  try {
    const { connector, config, calls } = prepareCalls(deps, source)
    const milliseconds = deps.deadlines.test
    const options = connectOptions(deps, source, meter)
    const tested = await calls.run('test', { milliseconds }, signal =>
      connector.test(config, { ...options, signal }),
    )
    return calls.maskStages(assertStages(connector.name, tested))
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    return runConnectionTest(
      () => thrown,
      () => Promise.reject(thrown),
    )
  }
}

/** The connector of a source with its config. @throws ConnectorError if no extension provides it */
function prepareCalls(
  deps: SessionDeps,
  source: Source,
): { connector: Connector; config: SourceConfig; calls: ConnectorCalls } {
  const connector = loadedConnector(deps.connectors, source)
  const config = connectorConfig(deps.vault, connector, source)
  const { deadlines, pino: log } = deps
  return {
    connector,
    config,
    calls: makeConnectorCalls(connector, { secrets: secretsOf(connector, config), log, deadlines }),
  }
}

function loadedConnector(connectors: Connectors, { sourceType: engine }: Source): Connector {
  if (connectors.has(engine)) return connectors.get(engine)
  const message = describeMissingConnector(connectors, engine)
  throw new ConnectorError({ kind: 'driver-missing', engine, message })
}

function openMeter({ telemetry }: SessionDeps, { sourceType }: Source, purpose: SessionPurpose): UseMeter {
  return makeMeter(taken => telemetry.statement(sourceType, purpose, taken))
}

function connectOptions(deps: SessionDeps, source: Source, { onStatement }: UseMeter): ConnectOptions {
  const demoFolder = join(resolve(deps.config.dataDir), 'demo')
  const maxBytes = maxBytesPerStatement(source)
  const egress = source.isDemo ? deps.egressForFolder(demoFolder) : deps.sourceEgress
  return {
    egress,
    log: deps.pino,
    onStatement,
    ...(maxBytes !== null && { maxBytesPerStatement: maxBytes }),
  }
}
