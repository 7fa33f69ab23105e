/** Claims of attempts by jobs. A claim that was never released shows that the process of its attempt was lost. */
import { v5 } from 'uuid'
import {
  companyOf,
  sendStatements,
  type Reading,
  type Transaction,
} from '../../../server/database/database.ts'
import type { JobContext } from '../../../server/jobs/jobs.ts'
import { Delivery, type Destination } from '../models.ts'
import type { AttemptData } from './job-kinds.ts'
import type { MessageAbout } from './send.ts'
import { SLOT_LEASE_SECONDS, releaseSlots, takeSlots } from './slots.ts'
import { destinationsOfLock } from '../locks.ts'

export interface AttemptClaim {
  delivery: Delivery
  destination: Destination
  /** What the alert is about; null of a digest, and where nothing is sent. */
  about: MessageAbout | null
  requestId: string
  startedAt: Date
  /**
   * The fence to store if nothing was sent under this claim: the previous one, which no process can hold any more. After
   * a former claim that was not released, it is the claim's own, so that the former one cannot record an outcome.
   */
  unusedFence: number
  /**
   * `ready`: the claim holds a slot. `busy`: no slot is free, and the claim is released. `off`: the destination is
   * switched off or deleted. `lost`: the process of the attempt was lost, so its outcome is `interrupted`.
   */
  state: 'off' | 'lost' | 'busy' | 'ready'
}

/** A job that asks for its attempt. */
export interface ClaimRequest {
  data: AttemptData
  job: Pick<JobContext, 'id' | 'isAfterLoss'>
}

/**
 * Claims attempts of a company, and takes slots of their destinations.
 * @returns for each request its claim; null if the attempt was made or another job holds it
 */
export async function claimAttempts(
  trx: Transaction,
  requests: readonly ClaimRequest[],
): Promise<(AttemptClaim | null)[]> {
  const companyId = companyOf(trx)
  const asked = requests
    .filter(({ data }) => data.company_id === companyId)
    .map(({ data: { delivery_id: id, n }, job }) => ({ id, n, job_id: job.id }))
  const ids = asked.map(({ id }) => id)
  const claiming: Reading<Delivery & { formerJob: string | null; formerAt: Date | null }> = {
    name: 'claim attempts',
    text: `with asked as (
       select * from jsonb_to_recordset(cast(:asked as jsonb)) as a (id uuid, n int, job_id uuid)),
     former as (
       select d.id, a.job_id, d.claimed_by, d.claimed_at from deliveries d join asked a on a.id = d.id
        where d.company_id = :companyId and d.id = any(cast(:ids as uuid[])) and d.status = 'pending'
          and d.attempt = a.n - 1
          and (claimed_by is null or claimed_by = a.job_id or claimed_at < now() - make_interval(secs => :seconds))
        order by d.id for update of d)
     update deliveries d set fence = fence + 1, claimed_by = f.job_id, claimed_at = now()
       from former f where d.company_id = :companyId and d.id = any(cast(:ids as uuid[])) and f.id = d.id
     returning d.*, f.claimed_by as former_job, f.claimed_at as former_at`,
    bindings: { companyId, asked: JSON.stringify(asked), ids, seconds: SLOT_LEASE_SECONDS },
  }
  const [claimed, destinations, alerts] = await sendStatements(trx, [
    claiming,
    destinationsOfLock(trx, ids),
    aboutOf(trx, ids),
  ])
  const claims = requests.map(({ job: { id: jobId, isAfterLoss } }, place) => {
    // Two tries of one job may overlap: one of them gets the attempt.
    const isFirst = requests.findIndex(({ job }) => job.id === jobId) === place
    const delivery = isFirst ? claimed.find(({ claimedBy }) => claimedBy === jobId) : undefined
    if (!delivery?.claimedAt) return null
    const { formerJob, formerAt, fence, claimedAt, ...rest } = delivery
    const destination = destinations.find(({ id }) => id === rest.destinationId)
    if (!destination) throw new Error(`Delivery ${delivery.id} has no destination`)
    const former = formerJob
      ? { requestId: requestIdOf(delivery.id, fence - 1), startedAt: formerAt ?? claimedAt }
      : undefined
    const claim = {
      delivery,
      destination,
      about: aboutIn(alerts, delivery.alertId),
      requestId: requestIdOf(delivery.id, fence),
      startedAt: claimedAt,
      unusedFence: formerJob ? fence : fence - 1,
    }
    // A claim that was not released. One of this job may come from a process that is alive but lost its database.
    const isLost = former !== undefined && (formerJob !== jobId || isAfterLoss)
    const isOff = !destination.isActive || destination.deletedAt !== null
    return { claim, former, state: isLost ? ('lost' as const) : isOff ? ('off' as const) : undefined }
  })
  await releaseSlots(
    trx,
    claims.flatMap(claim => claim?.former?.requestId ?? []),
  )
  const ready = claims.flatMap(claim => (claim && !claim.state ? [claim.claim] : []))
  const holders = await takeSlots(
    trx,
    ready.map(({ requestId: holder, destination }) => ({ holder, destination })),
  )
  for (const { delivery, requestId, unusedFence: fence } of ready)
    if (!holders.has(requestId))
      await Delivery.query(trx)
        .where({ id: delivery.id })
        .patch({ ...UNCLAIMED_FIELDS, fence })
  return claims.map(made => {
    if (!made) return null
    const { claim, former, state } = made
    if (state === 'lost') return { ...claim, ...former, state }
    return { ...claim, state: state ?? (holders.has(claim.requestId) ? 'ready' : 'busy') }
  })
}

type AlertAbout = MessageAbout & { id: string }

/** What the alerts of deliveries are about, without the details, which may be long. */
function aboutOf(trx: Transaction, deliveryIds: readonly string[]): Reading<AlertAbout> {
  return {
    name: 'read what deliveries are about',
    text: `select id, severity, jsonb_strip_nulls(jsonb_build_object('type', event -> 'type',
          'change_type', event -> 'change_type', 'asset', jsonb_build_object(
            'qualified_name', event #> '{asset,qualified_name}', 'asset_type', event #> '{asset,asset_type}'))) as event
       from alerts where company_id = :companyId and id in (
        select alert_id from deliveries where company_id = :companyId and id = any(cast(:ids as uuid[])))`,
    bindings: { companyId: companyOf(trx), ids: [...deliveryIds] },
  }
}

function aboutIn(alerts: readonly AlertAbout[], alertId: string | null): MessageAbout | null {
  const alert = alerts.find(({ id }) => id === alertId)
  return alert ? { severity: alert.severity, event: alert.event } : null
}

const BUSY_SECONDS = 2
/**
 * For a silent destination, whose only slot is taken for up to 30 seconds: at `BUSY_SECONDS`, its backlog would occupy
 * the queue. The spread keeps the backlog from becoming due all at once.
 */
const BUSY_SILENT_SECONDS = 15
const BUSY_SILENT_SPREAD_SECONDS = 10

/** Seconds until a `busy` attempt is claimed again. */
export function busySeconds({ silentSince }: Pick<Destination, 'silentSince'>): number {
  return silentSince ? BUSY_SILENT_SECONDS + Math.random() * BUSY_SILENT_SPREAD_SECONDS : BUSY_SECONDS
}

/** Derived, so that the id is known even if the process that made the request is lost. */
const requestIdOf = (deliveryId: string, fence: number): string => v5(String(fence), deliveryId)

/** Releases a claim under which no outcome was recorded, so that the attempt is made again. */
export async function releaseClaim(trx: Transaction, { delivery, requestId }: AttemptClaim): Promise<void> {
  await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch(UNCLAIMED_FIELDS)
  await releaseSlots(trx, [requestId])
}

export const UNCLAIMED_FIELDS = { claimedBy: null, claimedAt: null }
