/** Who was notified of what: read from deliveries. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { IS_ABOUT, lockAlerts, lockTriggered, type SubjectKind } from '../locks.ts'
import { Alert } from '../models.ts'
import type { IncidentSummary } from './message.ts'

/** Tolerates wrong clocks: the id of a delivery holds the time of the process that created it. */
const DAY_MS = 86_400_000

/** Condition in SQL: a delivery `d` is neither postponed nor was it stopped before its first attempt. */
export const IS_SENT = `not (d.fence = 0 and (d.status = 'stopped' or d.status = 'pending' and d.job_id is null))`

/** A destination that was notified of a subject but not yet of its end, or whose message is postponed. */
export interface NotifiedDestination {
  /** The subject that the caller gave. */
  newestId: string
  /** The subject of the message: `newestId`, or an alert that it superseded. */
  subjectId: string
  /** The alert that the newest such message shows. */
  alertId: string
  destinationId: string
  ruleIds: string[]
  /** The newest such delivery. */
  deliveryId: string
  /** Whether a cooldown postpones it: the destination has not been notified. */
  isPostponed: boolean
  /** Whether an `alert.triggered` is on its way. */
  isPending: boolean
}

/**
 * The destinations that were notified of alerts, or of those that they superseded, but not yet of their ends. The caller
 * holds the locks of the alerts, under which messages are created and end. The superseded ones are not locked, and would
 * have come before: their messages are.
 */
export async function findNotified(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'supersedes' | 'createdAt'>[],
): Promise<NotifiedDestination[]> {
  if (alerts.length === 0) return []
  const chain = await loadChains(trx, alerts)
  const older = chain.filter(({ newestId, id }) => newestId !== id).map(({ id }) => id)
  if (older.length > 0) await lockTriggered(trx, 'alert', older, sinceOf(chain))
  return readNotified(trx, 'alert', chain)
}

/** The destinations that were notified of incidents, but not yet of their ends. */
export async function findNotifiedOfIncidents(
  trx: Transaction,
  incidents: readonly Pick<IncidentSummary, 'id' | 'createdAt'>[],
): Promise<NotifiedDestination[]> {
  if (incidents.length === 0) return []
  return readNotified(
    trx,
    'incident',
    incidents.map(({ id, createdAt }) => ({ newestId: id, id, createdAt })),
  )
}

/**
 * Locks what messages about incidents show, and what was sent about them: all alerts, then messages. A message refers to
 * its alert, which locks it too.
 * @param alertIds other alerts that new messages may show
 * @returns the notified destinations
 */
export async function lockNotifiedOfIncidents(
  trx: Transaction,
  incidents: readonly Pick<IncidentSummary, 'id' | 'createdAt'>[],
  alertIds: readonly string[],
): Promise<NotifiedDestination[]> {
  const before = await findNotifiedOfIncidents(trx, incidents)
  const shownIds = [...new Set([...alertIds, ...before.map(({ alertId }) => alertId)])]
  await lockAlerts(Alert.query(trx).select('id').whereRaw('id = any(cast(? as uuid[]))', [shownIds]))
  const incidentIds = incidents.map(({ id }) => id)
  await lockTriggered(trx, 'incident', incidentIds, sinceOf(incidents))
  return findNotifiedOfIncidents(trx, incidents)
}

function readNotified(
  trx: Transaction,
  kind: SubjectKind,
  links: readonly SubjectLink[],
): Promise<NotifiedDestination[]> {
  return rows<NotifiedDestination>(trx, notifiedQuery(kind), {
    companyId: companyOf(trx),
    newestIds: links.map(({ newestId }) => newestId),
    ids: links.map(({ id }) => id),
    since: sinceOf(links),
  })
}

/**
 * Reads messages once, by the index on their subjects. Without statistics, as in the minute after thousands were created,
 * PostgreSQL plans a second look for the ends as a loop over all of them.
 */
const notifiedQuery = (kind: SubjectKind) => `
  select distinct on (newest_id, subject_id, destination_id) newest_id, subject_id, alert_id, destination_id, rule_ids,
         id as delivery_id, is_postponed, is_pending
    from (select newest_id, subject.id as subject_id, d.alert_id, d.destination_id, d.rule_ids, d.id, d.event_type, d.status,
                 not ${IS_SENT} as is_postponed,
                 bool_or(d.event_type = 'alert.triggered' and d.status = 'pending' and ${IS_SENT})
                   over message as is_pending,
                 -- A subject may go on after its end.
                 first_value(d.event_type) over (
                   message order by d.event_type = 'alert.triggered' and not ${IS_SENT}, d.id desc
                 ) = 'alert.resolved' as has_end
            from unnest(cast(:newestIds as uuid[]), cast(:ids as uuid[])) as subject (newest_id, id)
            join deliveries d on d.company_id = :companyId and d.${kind}_id = subject.id and d.id >= :since
             and ${IS_ABOUT[kind]}
          window message as (partition by newest_id, subject.id, d.destination_id)) d
   where event_type = 'alert.triggered' and case when is_postponed then status = 'pending' else not has_end end
   order by newest_id, subject_id, destination_id, is_postponed, id desc`

/**
 * The newest messages that were sent about alerts and incidents, by `<subject> <destination>`. A message whose end was
 * sent after it does not count: what comes back is news again.
 */
export async function findNewestSent(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'createdAt'>[],
  incidents: readonly Pick<IncidentSummary, 'id' | 'createdAt'>[],
): Promise<ReadonlyMap<string, string>> {
  if (alerts.length === 0) return new Map()
  const newest = (kind: SubjectKind) => `
    select key, id from (
      select ${kind}_id || ' ' || destination_id as key, (array_agg(id order by id desc))[1] as id,
             (array_agg(event_type order by id desc))[1] as event_type from deliveries d
       where company_id = :companyId and ${kind}_id = any(cast(:${kind}Ids as uuid[])) and ${IS_ABOUT[kind]}
         and d.id >= :since and (event_type = 'alert.triggered' and ${IS_SENT}
           -- An end waits for the message before it.
           or event_type = 'alert.resolved' and status <> 'stopped')
       group by 1) newest
     where event_type = 'alert.triggered'`
  const sent = await rows<{ key: string; id: string }>(
    trx,
    `${newest('alert')} union all ${newest('incident')}`,
    {
      companyId: companyOf(trx),
      alertIds: alerts.map(({ id }) => id),
      incidentIds: incidents.map(({ id }) => id),
      since: sinceOf([...alerts, ...incidents]),
    },
  )
  return new Map(sent.map(({ key, id }) => [key, id]))
}

/** The smallest id of a message about subjects. */
function sinceOf(subjects: readonly { createdAt: Date }[]): string {
  const oldest = subjects.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  return leastUuid(new Date(oldest - DAY_MS))
}

/** An incident; or an alert, or one that it superseded, directly or indirectly. */
interface SubjectLink {
  newestId: string
  id: string
  createdAt: Date
}

async function loadChains(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'supersedes' | 'createdAt'>[],
): Promise<SubjectLink[]> {
  const newest = alerts.map(({ id, createdAt }) => ({ newestId: id, id, createdAt }))
  const successors = alerts.filter(({ supersedes }) => supersedes !== null)
  if (successors.length === 0) return newest
  const older = await rows<SubjectLink>(
    trx,
    `with recursive chain as (
       select newest_id, id as supersedes, null::uuid as id, null::timestamptz as created_at
         from unnest(cast(:newestIds as uuid[]), cast(:ids as uuid[])) as successors (newest_id, id)
       union
       select newest_id, a.supersedes, a.id, a.created_at from chain
         join alerts a on a.company_id = :companyId and a.id = chain.supersedes)
     select newest_id, id, created_at from chain where id is not null`,
    {
      companyId: companyOf(trx),
      newestIds: successors.map(({ id }) => id),
      ids: successors.map(({ supersedes }) => supersedes),
    },
  )
  return [...newest, ...older]
}

/** Incidents and destinations, as `<incident> <destination>`, that were notified of an end of the incident. */
export async function findNotifiedOfEnds(
  trx: Transaction,
  incidentIds: readonly string[],
): Promise<Set<string>> {
  if (incidentIds.length === 0) return new Set()
  const notified = await rows<{ incidentId: string; destinationId: string }>(
    trx,
    `select distinct incident_id, destination_id from deliveries
      where company_id = :companyId and incident_id = any(cast(:ids as uuid[])) and event_type = 'alert.resolved'`,
    { companyId: companyOf(trx), ids: [...incidentIds] },
  )
  return new Set(notified.map(({ incidentId, destinationId }) => `${incidentId} ${destinationId}`))
}

/** Alerts and destinations of which there are messages about the alert alone: it was sent before it had an incident. */
export async function findNotifiedAlone(trx: Transaction, alerts: readonly Alert[]): Promise<Set<string>> {
  if (alerts.length === 0) return new Set()
  const alone = await rows<{ alertId: string; destinationId: string }>(
    trx,
    `select distinct alert_id, destination_id from deliveries d
      where company_id = :companyId and alert_id = any(cast(:ids as uuid[])) and ${IS_ABOUT.alert}`,
    { companyId: companyOf(trx), ids: alerts.map(({ id }) => id) },
  )
  return new Set(alone.map(({ alertId, destinationId }) => `${alertId} ${destinationId}`))
}
