/** One look at how fresh an asset is: check it, where that is wanted and allowed, and judge what is recorded. */
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal, type Client } from './cli/client.ts'
import { CommandError, EXIT, unlessAborted } from './cli/command.ts'
import { hasCode } from './http/errors.ts'
import { follow, type Failure } from './cli/client-job.ts'
import { isTable, judgeAsset, mayTurnFresh, type FreshnessRecord, type Verdict } from './freshness-result.ts'

/** What one look found, and whether a later one may find the asset fresh. */
export interface Look {
  verdict: Verdict
  mayTurn: boolean
}

interface LookOptions {
  /** Whether to check now; else the last check counts. */
  refresh: boolean
  signal: AbortSignal
  note(line: string): void
}

/** Checks the asset, if that is wanted and allowed, and judges what is recorded of it. */
export async function look(client: Client, asset: string, options: LookOptions): Promise<Look> {
  const { signal, note } = options
  const [known] = (await readRecords(client, asset, signal, 1)).records
  if (!known) throw notWatched(asset)
  const { isRefreshed, failure } = options.refresh
    ? await refresh(client, asset, known, options)
    : { isRefreshed: false }
  const { records, now } = await readRecords(client, asset, signal)
  const active = records.filter(record => record.is_active !== false || isTable(asset, record))
  // What is paused does not count beside what is checked; alone, it tells itself what it is worth.
  const monitored = active.length > 0 ? active : records
  const isHopeless = failure !== undefined && HOPELESS.includes(failure.code)
  const verdict = judgeAsset(asset, monitored, { isRefreshed, now })
  // What kept the check from being recorded at all.
  if (failure && verdict.status !== 'error') {
    const message = `error: ${verdict.asset} could not be checked: ${failure.message}`
    throw new CommandError(message, EXIT.error, { mayPass: !isHopeless })
  }
  for (const { asset: table, note: said, last_updated: updated, checked_at: checked } of monitored) {
    if (said !== null && updated !== null && checked !== null && updated > checked) note(`${table}: ${said}`)
  }
  return { verdict, mayTurn: !isHopeless && monitored.every(mayTurnFresh) }
}

function notWatched(asset: string): CommandError {
  const body = JSON.stringify({ asset_id: asset, sla_threshold: '24h' })
  return new CommandError(
    `Nobody watches the freshness of ${asset}: POST /api/v1/sdk/freshness/schedules, such as ${body} for a table`,
    EXIT.usage,
  )
}

/** Most records of one page. */
const PAGE = 100

/** All records of an asset, and the service's clock as of the last page. */
async function readRecords(
  client: Client,
  asset: string,
  signal: AbortSignal,
  most = Infinity,
): Promise<{ records: FreshnessRecord[]; now: Date }> {
  const records: FreshnessRecord[] = []
  for (;;) {
    const query = new URLSearchParams({
      asset_id: asset,
      limit: String(Math.min(PAGE, most)),
      offset: String(records.length),
    })
    const { body, at } = await client.ask<{
      data?: { data?: FreshnessRecord[]; pagination?: { has_more?: boolean } }
    }>('GET', `/sdk/freshness?${query}`, signal)
    const page = body.data?.data
    if (!Array.isArray(page))
      throw new CommandError('The service does not answer as Tidemark does: check --url', EXIT.usage)
    records.push(...page)
    if (!body.data?.pagination?.has_more || page.length === 0 || records.length >= most)
      return { records, now: at }
  }
}

/** Codes of failures that somebody has to mend first. */
const HOPELESS = ['credentials', 'permission', 'tls', 'driver_missing', 'egress_refused']

async function refresh(
  client: Client,
  asset: string,
  known: FreshnessRecord,
  { signal, note }: LookOptions,
): Promise<{ isRefreshed: boolean; failure?: Failure | undefined }> {
  try {
    const failure = client.near
      ? await checkHere(client.near, asset, known, signal)
      : await checkThere(client, asset, known, { signal, note })
    return { isRefreshed: true, failure }
  } catch (error) {
    if (!(error instanceof Refusal && error.status === 403)) throw error
    note('The key may not ask for a check, which takes the scope read-write: the answer goes by the last one')
    return { isRefreshed: false }
  }
}

/** Milliseconds between two tries while all sessions of a source are in use. */
const BUSY = 5_000

/** Checks in this process: there may be no workers, and the operator does not have to wait for theirs. */
async function checkHere(
  { server, companyId }: NonNullable<Client['near']>,
  asset: string,
  known: FreshnessRecord,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const scheduleIds = isTable(asset, known) ? [known.schedule_id] : undefined
  for (;;) {
    try {
      const request = { companyId, sourceId: known.source_id, scheduleIds }
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
      await pause(BUSY, undefined, { signal })
    }
  }
}

/** Asks the service for a check, and waits for its job to end. */
async function checkThere(
  client: Client,
  asset: string,
  known: FreshnessRecord,
  { signal, note }: Pick<LookOptions, 'signal' | 'note'>,
): Promise<Failure | undefined> {
  const id = isTable(asset, known) ? known.asset_id : known.source_id
  const asked = await client.ask<{ data: { job_id: string } }>('POST', `/sdk/freshness/${id}/refresh`, signal)
  const told = { what: `The check of ${asset}`, instead: '--no-refresh goes by the last check', note }
  const job = await follow(client, asked.body.data.job_id, told, signal)
  if (job.status === 'completed') return undefined
  if (job.status === 'cancelled') return { code: 'other', message: 'its check was cancelled' }
  return job.error ?? { code: 'other', message: 'its check failed' }
}
