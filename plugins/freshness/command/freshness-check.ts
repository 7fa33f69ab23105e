/** One freshness check of an asset for the command line: refresh its records if requested and allowed, then judge them. */
import { setTimeout as pause } from 'node:timers/promises'
import { type ServiceClient } from '../../../server/cli/client.ts'
import { ServiceError } from '../../../server/cli/service-error.ts'
import { CommandError, EXIT, unlessAborted } from '../../../server/cli/command.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { waitForJob, type JobFailure } from '../../../server/cli/client-job.ts'
import {
  isTableOf,
  judgeFreshness,
  mayTurnFresh,
  type FreshnessRecord,
  type FreshnessVerdict,
} from './freshness-result.ts'

/** The verdict of one check, and whether a later one may find the asset fresh. */
export interface FreshnessLook {
  verdict: FreshnessVerdict
  mayTurnFresh: boolean
}

interface FreshnessLookOptions {
  /** Whether to check now instead of using the last check. */
  refresh: boolean
  signal: AbortSignal
  note(line: string): void
}

/** Refreshes the asset's records if requested and allowed, and judges them. */
export async function checkFreshness(
  client: ServiceClient,
  asset: string,
  options: FreshnessLookOptions,
): Promise<FreshnessLook> {
  const { signal, note } = options
  const [first] = (await readRecords(client, asset, signal, 1)).records
  if (!first) throw notMonitoredError(asset)
  const { isRefreshed, failure } = options.refresh
    ? await refreshRecords(client, asset, first, options)
    : { isRefreshed: false }
  const { records, now } = await readRecords(client, asset, signal)
  const active = records.filter(record => record.is_active !== false || isTableOf(asset, record))
  // Paused schedules do not count beside active ones; an asset that has only paused ones is judged by them.
  const monitored = active.length > 0 ? active : records
  const isPermanent = failure !== undefined && PERMANENT_FAILURE_CODES.includes(failure.code)
  const verdict = judgeFreshness(asset, monitored, { isRefreshed, now })
  // The check failed before anything was recorded.
  if (failure && verdict.status !== 'error') {
    const message = `error: ${verdict.asset} could not be checked: ${failure.message}`
    throw new CommandError(message, EXIT.error, { isTransient: !isPermanent })
  }
  for (const { asset: table, note: recordNote, last_updated: updated, last_check_at: checked } of monitored) {
    if (recordNote !== null && updated !== null && checked !== null && updated > checked)
      note(`${table}: ${recordNote}`)
  }
  return { verdict, mayTurnFresh: !isPermanent && monitored.every(mayTurnFresh) }
}

function notMonitoredError(asset: string): CommandError {
  const body = JSON.stringify({ asset_id: asset, sla_threshold: '24h' })
  return new CommandError(
    `The freshness of ${asset} is not monitored: POST /api/v1/sdk/freshness/schedules, such as ${body} for a table`,
    EXIT.usage,
  )
}

const RECORDS_PER_PAGE = 100

/** Reads up to `limit` records of an asset, and the service's clock as of the last page. */
async function readRecords(client: ServiceClient, asset: string, signal: AbortSignal, limit = Infinity) {
  const records: FreshnessRecord[] = []
  for (;;) {
    const query = new URLSearchParams({
      asset_id: asset,
      limit: String(Math.min(RECORDS_PER_PAGE, limit)),
      offset: String(records.length),
    })
    const { body, serverTime: at } = await client.request<{
      data?: { data?: FreshnessRecord[]; pagination?: { has_more?: boolean } }
    }>('GET', `/sdk/freshness?${query}`, signal)
    const page = body.data?.data
    if (!Array.isArray(page))
      throw new CommandError('The service does not answer as Tidemark does: check --url', EXIT.usage)
    records.push(...page)
    if (!body.data?.pagination?.has_more || page.length === 0 || records.length >= limit)
      return { records, now: at }
  }
}

/** Codes of failures that repeat until a person fixes the source. */
const PERMANENT_FAILURE_CODES = ['credentials', 'permission', 'tls', 'driver_missing', 'egress_refused']

async function refreshRecords(
  client: ServiceClient,
  asset: string,
  record: FreshnessRecord,
  { signal, note }: FreshnessLookOptions,
): Promise<{ isRefreshed: boolean; failure?: JobFailure | undefined }> {
  try {
    const failure = client.local
      ? await checkLocally(client.local, asset, record, signal)
      : await checkRemotely(client, asset, record, { signal, note })
    return { isRefreshed: true, failure }
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 403)) throw error
    note('The key may not start a check, which requires the scope read-write: using the last one')
    return { isRefreshed: false }
  }
}

const BUSY_SOURCE_RETRY_MS = 5_000

/** Checks in this process, since workers may not run. */
async function checkLocally(
  { server, companyId }: NonNullable<ServiceClient['local']>,
  asset: string,
  record: FreshnessRecord,
  signal: AbortSignal,
): Promise<JobFailure | undefined> {
  const scheduleIds = isTableOf(asset, record) ? [record.schedule_id] : undefined
  for (;;) {
    try {
      const request = { companyId, sourceId: record.source_id, scheduleIds }
      const checking = server.plugins.freshness.checkSource(request)
      const { measured, failed } = await unlessAborted(checking, signal)
      const [first] = failed
      if (measured === 0 && !first)
        throw new CommandError(
          `All freshness schedules of ${asset} are paused: set is_active of one, or ask for a table of it`,
          EXIT.usage,
        )
      return measured === 0 && first
        ? { code: first.error.kind.replaceAll('-', '_'), message: first.error.message }
        : undefined
    } catch (error) {
      if (!hasCode(error, 'UNAVAILABLE')) throw error
      await pause(BUSY_SOURCE_RETRY_MS, undefined, { signal })
    }
  }
}

/** Starts a check at the service and waits for its job to end. */
async function checkRemotely(
  client: ServiceClient,
  asset: string,
  record: FreshnessRecord,
  { signal, note }: Pick<FreshnessLookOptions, 'signal' | 'note'>,
): Promise<JobFailure | undefined> {
  const id = isTableOf(asset, record) ? record.asset_id : record.source_id
  const reply = await client.request<{ data: { job_id: string } }>(
    'POST',
    `/sdk/freshness/${id}/refresh`,
    signal,
  )
  const options = { what: `The check of ${asset}`, instead: '--no-refresh uses the last check', note }
  const job = await waitForJob(client, `/sdk/jobs/${reply.body.data.job_id}`, options, signal)
  if (job.status === 'completed') return undefined
  if (job.status === 'cancelled') return { code: 'other', message: 'its check was cancelled' }
  return job.error ?? { code: 'other', message: 'its check failed' }
}
