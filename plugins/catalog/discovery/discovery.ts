import { ConnectorError, type ConnectorErrorKind } from '../../../connectors/errors.ts'
import { isAway, type Database, type Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import type { CatalogDeps, SessionDeps } from '../deps.ts'
import { lockSourceIfPresent, lockUnfinishedRun } from '../locks.ts'
import { Run, Source, UNFINISHED } from '../models.ts'
import { recordConnectionStatus } from '../sources/connection-status.ts'
import { failureOf } from '../sources/failures.ts'
import { readCatalog, type CatalogReading } from './read-catalog.ts'
import { isOutdated, recordDiscovery, type DiscoveryResult } from './record.ts'

/**
 * Runs one discovery: reads the catalog, compares it with what is known, and records tables, changes and
 * alerts in one transaction. A failure is recorded with the run; it never reports removals.
 * @param options.signal aborts when the process stops: the run stays unfinished, and its job is tried again
 * @param options.slotWaitMs milliseconds to wait while all sessions of the source are in use
 * @throws 503 `UNAVAILABLE` when none was free by then
 */
export async function runDiscovery(
  deps: CatalogDeps,
  companyId: string,
  runId: string,
  options: { signal: AbortSignal; slotWaitMs?: number },
): Promise<DiscoveryResult | null> {
  const { signal, slotWaitMs } = options
  const startedAt = performance.now()
  const source = await deps.db.company(companyId, trx => beginRun(trx, runId))
  if (!source) return null
  const cancelling = watchForCancellation(deps, companyId, runId)
  let found: CatalogReading
  try {
    found = await readCatalog(deps, source, AbortSignal.any([signal, cancelling.signal]), {
      readers: deps.readers,
      slotWaitMs,
    })
  } catch (error) {
    // Cancelled: there is nothing to record.
    if (cancelling.signal.aborted) return null
    // Not the source's fault, and the job is tried again: the process stops, all sessions are in use, or our own
    // database is away.
    if (signal.aborted || hasErrorData(error) || isOwnDatabaseDown(error)) throw error
    deps.pino.warn({ err: (error as Error).message, source_id: source.id }, 'discovery failed')
    const isRecorded = await deps.db.company(companyId, trx =>
      recordFailure(deps, trx, { read: source, runId, error: error as Error }),
    )
    return isRecorded ? null : await runDiscovery(deps, companyId, runId, options)
  } finally {
    cancelling.stop()
  }
  await deps.db.company(companyId, async trx => {
    await Run.query(trx).findById(runId).where({ status: 'running' }).patch({ progress: 60 })
  })
  const recorded = await deps.db.company(companyId, trx =>
    recordDiscovery(deps, trx, { read: source, runId, found, startedAt }),
  )
  return recorded === 'outdated' ? runDiscovery(deps, companyId, runId, options) : recorded
}

/** A connector's error may carry the code of a network that is down just as well. */
function isOwnDatabaseDown(error: unknown): boolean {
  return !(error instanceof ConnectorError) && isAway(error)
}

/** Ends a discovery that failed for a reason of ours; the source is not blamed for it. */
export async function abandonDiscovery(db: Database, companyId: string, runId: string): Promise<void> {
  await db.company(companyId, async trx => {
    const run = await lockUnfinishedRun(trx, runId)
    if (!run) return
    const error = {
      code: 'other',
      message: 'The discovery was given up after several tries; the log has more',
    }
    await Run.query(trx).findById(runId).patch({ status: 'failed', error, completedAt: new Date() })
    await Source.query(trx).findById(run.sourceId).patch({ discoveryState: 'failed' })
  })
}

async function beginRun(trx: Transaction, runId: string): Promise<Source | undefined> {
  const run = await lockUnfinishedRun(trx, runId)
  if (!run) return undefined
  await Run.query(trx).findById(runId).patch({ status: 'running', startedAt: new Date(), progress: 10 })
  const [source] = await Source.query(trx)
    .where({ id: run.sourceId })
    .patch({ discoveryState: 'running' })
    .returning('*')
  return source
}

/** Between two checks whether a running discovery was cancelled. */
const CANCEL_CHECK_MS = 1_000

/** A signal that aborts when a run is no longer to be run. */
function watchForCancellation({ db, pino: log }: SessionDeps, companyId: string, runId: string) {
  const controller = new AbortController()
  const look = async () => {
    try {
      const isOn = await db.company(companyId, async trx =>
        Run.query(trx).findById(runId).where({ status: 'running' }).select('id'),
      )
      if (!isOn) controller.abort(new Error('The discovery was cancelled'))
    } catch (error) {
      log.warn({ err: (error as Error).message, run_id: runId }, 'a run could not be looked at')
    }
  }
  const timer = setInterval(() => void look(), CANCEL_CHECK_MS)
  return { signal: controller.signal, stop: () => clearInterval(timer) }
}

/** Minutes after which a discovery that failed is tried again: after the first failure in a row, the second, … */
const RETRY_MINUTES = [1, 5, 15, 60]
/** What may be better the next time. A wrong password is not, and trying it again may lock the account. */
const RETRYABLE_KINDS: readonly ConnectorErrorKind[] = ['network', 'timeout', 'busy', 'other']

/** @returns false when another database is to be read meanwhile, of which the failure says nothing */
async function recordFailure(
  { alerts, vault }: Pick<CatalogDeps, 'alerts' | 'vault'>,
  trx: Transaction,
  { read: former, runId, error }: { read: Source; runId: string; error: Error },
): Promise<boolean> {
  const source = await lockSourceIfPresent(trx, former.id)
  if (source && isOutdated(vault, former, source)) return false
  const ended = await Run.query(trx)
    .findById(runId)
    .whereIn('status', [...UNFINISHED])
    .patch({ status: 'failed', error: failureOf(error), completedAt: new Date() })
  if (ended === 0 || !source) return true
  const kind = error instanceof ConnectorError ? error.kind : 'other'
  const minutes = RETRYABLE_KINDS.includes(kind) ? RETRY_MINUTES[source.failedDiscoveries] : undefined
  await Source.query(trx)
    .findById(source.id)
    .patch({
      discoveryState: 'failed',
      failedDiscoveries: source.failedDiscoveries + 1,
      retryAt: minutes === undefined ? null : new Date(Date.now() + minutes * 60_000),
    })
  await recordConnectionStatus(alerts, trx, source, error)
  return true
}
