import type { Stage } from '../../../connectors/connector.ts'
import { formatName } from '../../../connectors/catalog.ts'
import { trimEnd } from '../../../connectors/trim-end.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { AlertsApi } from '../../alerts/api.ts'
import type { SessionDeps } from '../deps.ts'
import { Source } from '../models.ts'
import { isPausedError } from './breaker.ts'
import { testConnection } from './connections.ts'
import { failureOf } from './failures.ts'

/**
 * Tests the connection of a source for a caller, who is answered with the outcome: it raises no alert. A success resolves
 * an open one. `audit` runs in the same transaction.
 */
export async function testSource(
  deps: SessionDeps & { alerts: AlertsApi },
  source: Source,
  audit: (trx: Transaction, errorCode: string | null) => Promise<unknown>,
) {
  const stages = await testConnection(deps, source)
  const failed = stages.find(stage => stage.status === 'failed')
  const error = failed ? (failed.error ?? unknownFailure(source, failed)) : null
  const failure = error && failureOf(error)
  await deps.db.company(source.companyId, async trx => {
    const tls = stages.find(({ name, status }) => name === 'tls' && status !== 'failed')
    // Skipped after an earlier stage failed, it has no result.
    if (tls && !failed)
      await Source.query(trx)
        .findById(source.id)
        .patch({ isEncrypted: tls.status === 'passed' })
    await recordConnectionStatus(deps.alerts, trx, source, error, { isByHand: true })
    await audit(trx, failure?.code ?? null)
  })
  return {
    success: !failed,
    latency_ms: stages.reduce((sum, stage) => sum + Math.round(stage.latencyMs), 0),
    error_code: failure?.code ?? null,
    error_message: failure?.message ?? null,
    tested_at: new Date().toISOString(),
    stages: stages.map(({ name, status, latencyMs, message }) => ({
      name,
      status,
      latency_ms: Math.round(latencyMs),
      message,
    })),
  }
}

function unknownFailure(source: Source, stage: Stage): ConnectorError {
  return new ConnectorError({ kind: 'other', engine: source.sourceType, message: stage.message })
}

/** What an event of a source as a whole is about; alert rules go by its tags too. */
export function sourceEventFields({ id, name, tags }: Source) {
  return { sourceId: id, asset: { id, qualifiedName: formatName([name]), assetType: 'source', tags } }
}

/**
 * Stores whether a source could be reached, and raises or resolves its `connection_failed` alert. Raises none for a source
 * that is inactive or removed, since no later connection would resolve it. Ignores results of an open breaker, of a source
 * that is busy, and of a connection that was changed meanwhile.
 * @param options `isByHand` if a caller waits for the outcome: a failure then raises no alert
 */
export async function recordConnectionStatus(
  alerts: AlertsApi,
  trx: Transaction,
  source: Source,
  error: Error | null,
  options: { isByHand?: boolean } = {},
): Promise<void> {
  if (isPausedError(error) || isBusy(error)) return
  const failure = error && failureOf(error)
  const [noted] = await Source.query(trx)
    .where({ id: source.id, secrets: source.secrets })
    .patch({
      connectionStatus: failure ? 'failed' : 'connected',
      connectionError: failure,
      testedAt: new Date(),
    })
    .returning('isActive')
  if (!noted) return
  if (!failure) {
    await alerts.resolve(trx, 'connection_failed', source.id)
    return
  }
  if (!noted.isActive || options.isByHand) return
  await alerts.raise(trx, {
    type: 'connection_failed',
    cause: source.id,
    severity: 'critical',
    ...sourceEventFields(source),
    ruleName: 'Connection',
    title: { found: `cannot be read: ${trimEnd(failure.message, '. \n')}` },
    details: { error_code: failure.code, error_message: failure.message },
  })
}

/** Whether a source is there and will answer later. */
function isBusy(error: Error | null): boolean {
  return error instanceof ConnectorError && error.kind === 'busy'
}
