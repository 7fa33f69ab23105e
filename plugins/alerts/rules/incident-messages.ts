/** Messages to destinations that are notified of incidents in place of alerts. */
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { SEVERITIES, type IncidentNews, type IncidentSummary } from '../api.ts'
import { stopPostponed } from '../delivery/postponed.ts'
import type { IncidentPart } from '../destinations/payload.ts'
import { lockAlertsOfDeliveries, lockMessagesOfIncidents } from '../locks.ts'
import { Alert, Destination, isOpen } from '../models.ts'
import { findRecipients, IS_SENT, type Recipient } from './recipients.ts'
import { takesIncident } from '../lifecycle/notice.ts'
import { postponeUntil, sendMessages, triggeredMessage, type AddressedMessage } from './notify.ts'

/** A destination that was notified of an incident but not of its end, or for which a message about it is postponed. */
export interface NotifiedOfIncident {
  incidentId: string
  destinationId: string
  /** The alert that the newest such message shows. */
  alertId: string
  ruleIds: string[]
  deliveryId: string
  /** Whether a cooldown postpones it: the destination was not notified. */
  isPostponed: boolean
  /** Whether any is on its way. */
  isPending: boolean
}

const DAY_MS = 86_400_000

/** The destinations that were notified of incidents, by the messages of these. */
export async function findNotifiedOfIncidents(
  trx: Transaction,
  incidents: readonly Pick<IncidentSummary, 'id' | 'createdAt'>[],
): Promise<NotifiedOfIncident[]> {
  if (incidents.length === 0) return []
  return rows<NotifiedOfIncident>(
    trx,
    `select distinct on (incident_id, destination_id) incident_id, destination_id, alert_id, rule_ids,
            id as delivery_id, is_postponed, is_pending
       from (select d.incident_id, d.destination_id, d.alert_id, d.rule_ids, d.id, d.event_type, d.status,
                    not ${IS_SENT} as is_postponed,
                    bool_or(d.event_type = 'alert.triggered' and d.status = 'pending' and ${IS_SENT})
                      over message as is_pending,
                    bool_or(d.event_type = 'alert.resolved') over message as has_end
               from deliveries d
              where d.company_id = :companyId and d.incident_id = any(cast(:ids as uuid[])) and d.id >= :since
             window message as (partition by d.incident_id, d.destination_id)) d
      where event_type = 'alert.triggered' and not has_end and (not is_postponed or status = 'pending')
      order by incident_id, destination_id, is_postponed, id desc`,
    {
      companyId: companyOf(trx),
      ids: incidents.map(({ id }) => id),
      since: sinceOf(incidents),
    },
  )
}

/** The smallest id of a message about incidents, with a day for wrong clocks. */
function sinceOf(incidents: readonly Pick<IncidentSummary, 'createdAt'>[]): string {
  const oldest = incidents.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  return leastUuid(new Date(oldest - DAY_MS))
}

/**
 * Sends what happened to incidents: a first message to each destination that a rule names for one of their alerts, another
 * one where an incident got worse or woke up, and one about its end.
 */
export async function notifyIncidents(server: Server, trx: Transaction, news: IncidentNews): Promise<void> {
  const { joined, changed, ended } = news
  const incidents = new Map([...joined, ...changed, ...ended].map(({ incident }) => [incident.id, incident]))
  if (incidents.size === 0) return
  const shownIds = [...joined.map(({ alertId }) => alertId), ...changed.flatMap(causeAlertOf)]
  const notified = await lockNotified(trx, [...incidents.values()], shownIds)
  const opened = await openingMessages(server, trx, joined, notified)
  const over = new Set(ended.map(({ incident }) => incident.id))
  const reached = notified.filter(({ isPostponed, incidentId }) => !isPostponed && !over.has(incidentId))
  const isOpening = new Set(opened.map(({ incident, destination }) => `${incident?.id} ${destination.id}`))
  const updates = await laterMessages(
    server,
    trx,
    reached.filter(({ incidentId, destinationId }) => !isOpening.has(`${incidentId} ${destinationId}`)),
    changed.map(item => ({ ...item, event: 'updated' as const })),
  )
  const ends = await laterMessages(
    server,
    trx,
    notified.filter(({ isPostponed, incidentId }) => !isPostponed && over.has(incidentId)),
    ended.map(item => ({ ...item, event: 'resolved' as const })),
  )
  await stopPostponed(
    trx,
    notified.filter(({ isPostponed, incidentId }) => isPostponed && over.has(incidentId)),
    'The incident was over before the cooldown of its rule ended',
  )
  const now = opened.filter(({ postponedUntil }) => postponedUntil === null)
  await sendMessages(server, trx, [...ends, ...updates, ...now])
  await postponeUntil(server, trx, opened)
}

const causeAlertOf = ({ incident }: { incident: IncidentSummary }) => incident.causeAlertId ?? []

/**
 * Locks what messages about incidents show, and what was sent about them: all alerts, then messages. A message refers to
 * its alert, which locks it too.
 * @returns the notified destinations
 */
async function lockNotified(
  trx: Transaction,
  incidents: readonly IncidentSummary[],
  shownIds: readonly string[],
): Promise<NotifiedOfIncident[]> {
  const before = await findNotifiedOfIncidents(trx, incidents)
  const alertIds = [...new Set([...shownIds, ...before.map(({ alertId }) => alertId)])]
  await lockAlertsOfDeliveries(
    Alert.query(trx).select('id').whereRaw('id = any(cast(? as uuid[]))', [alertIds]),
  )
  await lockMessagesOfIncidents(
    trx,
    incidents.map(({ id }) => id),
    sinceOf(incidents),
  )
  return findNotifiedOfIncidents(trx, incidents)
}

type OpeningMessage = AddressedMessage & Pick<Recipient, 'postponedUntil'>

/** The first messages about incidents, each with the alert of the cause, or else the worst of those that rules match. */
async function openingMessages(
  server: Server,
  trx: Transaction,
  joined: IncidentNews['joined'],
  notified: readonly NotifiedOfIncident[],
): Promise<OpeningMessage[]> {
  const incidentOf = new Map(joined.map(({ alertId, incident }) => [alertId, incident]))
  const alerts = (await loadAlerts(trx, [...incidentOf.keys()])).filter(isOpen)
  const alone = await findAlone(trx, alerts)
  const found = await findRecipients(server, trx, alerts)
  const matched = alerts.flatMap((alert, place) =>
    (found[place] ?? [])
      .filter(({ destination }) => takesIncident(server, alert, destination))
      .filter(({ destination }) => !alone.has(`${alert.id} ${destination.id}`))
      .map(recipient => ({ alert, incident: incidentOf.get(alert.id)!, ...recipient })),
  )
  const known = new Map(notified.map(item => [`${item.incidentId} ${item.destinationId}`, item]))
  const groups = Map.groupBy(matched, ({ incident, destination }) => `${incident.id} ${destination.id}`)
  return [...groups].flatMap(([key, matches]) => {
    const before = known.get(key)
    const free = matches.filter(({ postponedUntil }) => postponedUntil === null)
    // One that is postponed waits for its time, unless another alert may be sent now.
    if (before && (!before.isPostponed || free.length === 0)) return []
    const [first] = (free.length > 0 ? free : matches).toSorted((a, b) => rankOf(b) - rankOf(a))
    if (!first) return []
    const { alert, incident, postponedUntil } = first
    const part = partOf(server, incident, 'opened')
    return [{ ...triggeredMessage(alert, first), incident: part, postponedUntil }]
  })
}

function rankOf({ alert, incident }: { alert: Alert; incident: IncidentSummary }): number {
  return alert.id === incident.causeAlertId ? SEVERITIES.length : SEVERITIES.indexOf(alert.severity)
}

/** Alerts and destinations of which there are messages about the alert alone: it was sent before it had an incident. */
async function findAlone(trx: Transaction, alerts: readonly Alert[]): Promise<Set<string>> {
  if (alerts.length === 0) return new Set()
  const found = await rows<{ alertId: string; destinationId: string }>(
    trx,
    `select distinct alert_id, destination_id from deliveries
      where company_id = :companyId and alert_id = any(cast(:ids as uuid[])) and incident_id is null`,
    { companyId: companyOf(trx), ids: alerts.map(({ id }) => id) },
  )
  return new Set(found.map(({ alertId, destinationId }) => `${alertId} ${destinationId}`))
}

/** Messages to destinations that were notified of an incident: that it changed, or that it is over. */
async function laterMessages(
  server: Server,
  trx: Transaction,
  notified: readonly NotifiedOfIncident[],
  news: readonly {
    incident: IncidentSummary
    reason: string | null
    event: 'updated' | 'resolved'
    isReminder?: true
  }[],
): Promise<AddressedMessage[]> {
  const byIncident = new Map(news.map(item => [item.incident.id, item]))
  const reached = notified.filter(({ incidentId }) => byIncident.has(incidentId))
  if (reached.length === 0) return []
  const shownOf = ({ incidentId, alertId }: NotifiedOfIncident) => {
    const { incident, event } = byIncident.get(incidentId)!
    return event === 'updated' ? (incident.causeAlertId ?? alertId) : alertId
  }
  const alerts = await loadAlerts(trx, reached.map(shownOf))
  const byId = new Map(alerts.map(alert => [alert.id, alert]))
  const destinations = await Destination.query(trx)
    .findByIds([...new Set(reached.map(({ destinationId }) => destinationId))])
    .whereNull('deletedAt')
  return reached.flatMap(item => {
    const { incident, reason, event, isReminder } = byIncident.get(item.incidentId)!
    const destination = destinations.find(({ id }) => id === item.destinationId)
    const alert = byId.get(shownOf(item))
    const isEnd = event === 'resolved'
    // The end is recorded for a destination that is off; it can be sent again later.
    if (!destination || !alert || (!isEnd && !destination.isActive)) return []
    return [
      {
        alert,
        incident: partOf(server, incident, event),
        type: isEnd ? ('alert.resolved' as const) : ('alert.triggered' as const),
        reason: { reason, ...(isReminder && { remindedAt: new Date() }) },
        destination,
        ruleIds: item.ruleIds,
        isWaiting: isEnd && item.isPending,
      },
    ]
  })
}

async function loadAlerts(trx: Transaction, ids: readonly string[]): Promise<Alert[]> {
  return Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [[...new Set(ids)]])
    .orderBy('id')
}

/** What a message says of an incident. */
export function partOf(
  server: Server,
  incident: IncidentSummary,
  event: IncidentPart['event'],
): IncidentPart {
  const { id, status, severity, title, causeAsset, alertCount, createdAt } = incident
  return {
    id,
    event,
    status,
    severity,
    title,
    cause: causeAsset,
    alert_count: alertCount,
    created_at: createdAt.toISOString(),
    updated_at: new Date().toISOString(),
    url: `${server.config.baseUrl}/incidents/${id}`,
  }
}
