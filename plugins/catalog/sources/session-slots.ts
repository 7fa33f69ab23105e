import { setTimeout as wait } from 'node:timers/promises'
import { v4 } from 'uuid'
import { rows } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { breakerUpdate, pausedError, BREAKER_STATE, TAKE_PROBE, type ConnectionOutcome } from './breaker.ts'
import type { SessionDeps } from '../deps.ts'
import type { Source } from '../models.ts'
import { ADD_USE, type SessionPurpose, type SessionUse } from './usage.ts'

/** The slot of a process that died is free again after it. */
const LEASE_SECONDS = 60
const RENEWAL_MS = 20_000
/** Between two attempts to take a slot; the first ones follow each other sooner. */
const MAX_POLL_MS = 1_000

type SlotDeps = Pick<SessionDeps, 'db' | 'pino'>

/** How a slot is waited for. */
export interface SlotRequest {
  waitMs: number
  /** Slots left to other work if the source has several: 1 for low priority. */
  reservedSlots: 0 | 1
  /** Whether a schedule started it: then an open breaker stops it. */
  isScheduled: boolean
}

/** The use of a slot, read while it is held and when it is released. */
interface SlotUsage {
  purpose: SessionPurpose
  /** What was used since this was asked last; null for nothing. */
  takeUse(): SessionUse | null
  /** How the connection does. */
  outcome(): ConnectionOutcome
}

/**
 * Runs `work` while holding one of the `max_concurrency` slots of a source, so that all processes together open no more
 * sessions there. Its use is stored with the source when the slot is released, and every 20 s until then, so that a process
 * that dies loses little of it.
 * @throws 503 `UNAVAILABLE` when no slot became free in time, 404 `ASSET_NOT_FOUND` when the source is gone, and a
 *   ConnectorError for which `isPausedError` holds while the breaker is open
 */
export async function withSlot<T>(
  deps: SlotDeps,
  source: Source,
  work: () => Promise<T>,
  { holding, ...request }: SlotRequest & { holding: SlotUsage },
): Promise<T> {
  const lease = { ...(await waitForSlot(deps, source, v4(), request)), holding }
  const renewal = setInterval(() => void renewSlot(deps, source, lease), RENEWAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    await releaseSlot(deps, source, lease)
  }
}

/** A slot that was taken. */
interface SlotLease {
  place: number
  holder: string
  /** Whether connections failed before. */
  wasFailing: boolean
}

async function waitForSlot(
  deps: SlotDeps,
  source: Source,
  holder: string,
  { waitMs, reservedSlots, isScheduled }: SlotRequest,
): Promise<SlotLease> {
  const until = performance.now() + waitMs
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, MAX_POLL_MS)) {
    const attempt = await tryTakeSlot(deps, source, { holder, reservedSlots, isScheduled })
    if (!attempt) throw sourceRemoved(source)
    const { place, breaker } = attempt
    if (isScheduled && breaker === 'open') throw pausedError(source, attempt)
    const lease = place === null ? null : { place, holder, wasFailing: attempt.isFailing }
    const isFree = !isScheduled || breaker !== 'half_open'
    if (lease && (isFree || (await takeProbe(deps, source)))) return lease
    if (lease) await deleteSlot(deps, source, lease)
    if (performance.now() + pauseMs > until) throw allSlotsTaken(source, isScheduled && breaker !== 'closed')
    await wait(pauseMs)
  }
}

/** The result of an attempt to take a slot, and the state of the source's connections. */
interface SlotAttempt extends Pick<Source, 'failingSince' | 'dialAfter' | 'connectionError'> {
  /** Null when none is free, or the breaker is open. */
  place: number | null
  breaker: 'closed' | 'open' | 'trying' | 'half_open'
  isFailing: boolean
}

/**
 * Two that want the same place at once: the one that comes second finds it taken, and tries again.
 * @returns undefined when the source is gone
 */
async function tryTakeSlot(
  deps: SlotDeps,
  { companyId, id: sourceId }: Source,
  wanted: { holder: string; reservedSlots: number; isScheduled: boolean },
): Promise<SlotAttempt | undefined> {
  const [tried] = await deps.db.company(companyId, trx =>
    rows<SlotAttempt>(
      trx,
      `with source as (
         select *, ${BREAKER_STATE} as breaker from sources where company_id = :companyId and id = :sourceId),
       held as (
         select place from source_sessions
         where company_id = :companyId and source_id = :sourceId and expires_at > now()),
       taken as (
         insert into source_sessions as s (company_id, source_id, place, holder, expires_at)
         select :companyId, :sourceId, n, :holder, now() + make_interval(secs => :lease)
         from source, generate_series(1, max_concurrency) n
         where n not in (select place from held)
           -- More may be held than there are places since their number was lowered.
           and (select count(*) from held) < greatest(max_concurrency - :reservedSlots, 1)
           and (not cast(:isScheduled as boolean) or breaker in ('closed', 'half_open'))
         order by n limit 1
         on conflict (source_id, place) do update set holder = excluded.holder, expires_at = excluded.expires_at
           where s.expires_at <= now()
         returning place)
       select place, breaker, connection_failures > 0 as is_failing, failing_since, dial_after, connection_error
       from source left join taken on true`,
      { companyId, sourceId, lease: LEASE_SECONDS, ...wanted },
    ),
  )
  return tried
}

async function takeProbe(deps: SlotDeps, { companyId, id: sourceId }: Source): Promise<boolean> {
  const probes = await deps.db.company(companyId, trx => rows(trx, TAKE_PROBE, { companyId, sourceId }))
  return probes.length > 0
}

async function deleteSlot(deps: SlotDeps, { companyId, id: sourceId }: Source, { place, holder }: SlotLease) {
  await deps.db.company(companyId, trx =>
    rows(trx, `delete from source_sessions where ${IS_OWN_SLOT}`, { companyId, sourceId, place, holder }),
  )
}

const IS_OWN_SLOT =
  'company_id = :companyId and source_id = :sourceId and place = :place and holder = :holder'

function sourceRemoved({ id }: Source): Error {
  return apiError('ASSET_NOT_FOUND', 'The source was removed', { asset_id: id })
}

type HeldSlot = SlotLease & { holding: SlotUsage }

async function renewSlot(deps: SlotDeps, source: Source, lease: HeldSlot): Promise<void> {
  try {
    await updateSlot(
      deps,
      source,
      lease,
      `update source_sessions set expires_at = now() + interval '${LEASE_SECONDS} s'`,
    )
  } catch (error) {
    deps.pino.warn({ err: error, source_id: source.id }, 'a session of a source could not be renewed')
  }
}

/** A failure here must not replace the result of the work: the lease ends by itself. */
async function releaseSlot(deps: SlotDeps, source: Source, lease: HeldSlot): Promise<void> {
  try {
    await updateSlot(deps, source, lease, 'delete from source_sessions')
  } catch (error) {
    deps.pino.warn({ err: error, source_id: source.id }, 'a session of a source could not be given back')
  }
}

/**
 * Changes a slot, and stores the use and the connection's outcome since the last time, in one statement. The row of the
 * source is locked first, as by a transaction that removes it with all its slots.
 */
async function updateSlot(
  deps: SlotDeps,
  { companyId, id: sourceId, secrets }: Source,
  lease: HeldSlot,
  change: string,
): Promise<void> {
  const { place, holder, wasFailing, holding } = lease
  const use = holding.takeUse()
  const outcome = holding.outcome()
  const breakerChange = breakerUpdate(outcome, wasFailing)
  const lock = breakerChange ? 'no key update' : 'key share'
  const changes = `source as (
      select id from sources where company_id = :companyId and id = :sourceId for ${lock}),
    ${breakerChange ? `breaker_update as (${breakerChange} and exists (select from source)),` : ''}
    changed as (${change} where ${IS_OWN_SLOT} and exists (select from source))`
  await deps.db.company(companyId, trx =>
    rows(trx, `with ${changes} ${use ? ADD_USE : 'select 1 as one from source'}`, {
      companyId,
      sourceId,
      place,
      holder,
      ...(breakerChange && { secrets }),
      ...(use && { ...use, milliseconds: Math.round(use.milliseconds), purpose: holding.purpose }),
    }),
  )
  if (outcome === 'reached') lease.wasFailing = false
}

function allSlotsTaken(source: Source, isTried: boolean): Error {
  const error = apiError(
    'UNAVAILABLE',
    isTried
      ? `Whether ${source.name} can be reached again is being tried: try again`
      : `All ${source.maxConcurrency} sessions of ${source.name} are in use: try again, or raise its max_concurrency`,
    { asset_id: source.id, retry_after_seconds: 5 },
  )
  error.output.headers['Retry-After'] = '5'
  return error
}
