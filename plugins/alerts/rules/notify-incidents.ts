/** Notifies destinations that take incidents in place of alerts of what happened to incidents. */
import type { Transaction } from '../../../server/database/database.ts'
import { SEVERITIES } from '../api.ts'
import { findPostponed, stopPostponed } from '../delivery/postponed.ts'
import type { Deps } from '../deps.ts'
import { incidentSubject, type AddressedMessage, type IncidentSummary } from '../messages/message.ts'
import {
  findNotifiedAlone,
  findNotifiedOfEnds,
  lockNotifiedOfIncidents,
  type NotifiedDestination,
} from '../messages/notified.ts'
import { laterMessages, sendMessages } from '../messages/send.ts'
import { Alert, isOpen } from '../models.ts'
import { loadMutes } from '../mute/muted.ts'
import { loadOpenMembers } from './open-members.ts'
import { findRecipients, type MessageRecipient } from './recipients.ts'

/** What happened to incidents. */
export interface IncidentNews {
  /** Alerts that are new in an incident. A destination that was not notified of the incident is notified now. */
  joined: readonly { alertId: string; incident: IncidentSummary }[]
  /** Incidents that got worse, or whose snooze is over, with one sentence that says so. */
  changed: readonly { incident: IncidentSummary; reason: string; isReminder?: true }[]
  /** Incidents that are over, with the reason. The message about one that is held is sent later: it may fail again. */
  ended: readonly { incident: IncidentSummary; reason: string | null; isHeld?: boolean }[]
}

export const NO_NEWS: IncidentNews = { joined: [], changed: [], ended: [] }

/**
 * Sends what happened to incidents: a first message to each destination that a rule names for one of their alerts, another
 * one where an incident got worse or woke up, and one about its end. The caller holds the lock of incidents, and no other.
 */
export async function notifyIncidents(deps: Deps, trx: Transaction, news: IncidentNews): Promise<void> {
  const { joined, changed, ended } = news
  const incidents = new Map([...joined, ...changed, ...ended].map(({ incident }) => [incident.id, incident]))
  if (incidents.size === 0) return
  const alertIds = [
    ...joined.map(({ alertId }) => alertId),
    ...changed.flatMap(({ incident }) => incident.causeAlertId ?? []),
  ]
  const notified = await lockNotifiedOfIncidents(trx, [...incidents.values()], alertIds)
  const opened = await openingMessages(deps, trx, joined, notified)
  const isOpening = new Set(opened.map(({ subject, destination }) => `${subject.id} ${destination.id}`))
  const reached = notified.filter(({ isPostponed }) => !isPostponed)
  const over = new Set(ended.map(({ incident }) => incident.id))
  const updates = await updateMessages(
    trx,
    reached.filter(item => !over.has(item.subjectId) && !isOpening.has(keyOf(item))),
    changed,
  )
  const ends = await endMessages(
    trx,
    reached,
    ended.filter(({ isHeld }) => isHeld !== true),
  )
  const mutedUntil = await loadIncidentMutes(
    trx,
    updates.map(({ subject }) => subject.id),
  )
  await stopPostponed(
    trx,
    notified.filter(({ isPostponed, subjectId }) => isPostponed && over.has(subjectId)),
    'The incident was over before the cooldown of its rule ended',
  )
  const postponed = await findPostponed(trx, 'incident', [...mutedUntil.keys()])
  const due = updates
    .map(message => ({ ...message, postponedUntil: mutedUntil.get(message.subject.id) ?? null }))
    // One that waits for the end of the mute window says what is then to be said.
    .filter(({ subject, destination }) => !postponed.has(`${subject.id} ${destination.id}`))
  await sendMessages(deps, trx, [...ends, ...due, ...opened])
}

/** The ends of the mute windows of incidents all of whose open alerts are muted, by the ids of the incidents. */
async function loadIncidentMutes(
  trx: Transaction,
  incidentIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const mutedUntil = await loadMutes(trx)
  const members = await loadOpenMembers(trx, incidentIds)
  const byIncident = Map.groupBy(members, ({ incidentId }) => incidentId)
  return new Map(
    [...byIncident].flatMap(([id, alerts]) => {
      const ends = alerts.map(mutedUntil)
      const known = ends.flatMap(end => end ?? [])
      if (known.length < ends.length) return []
      return [[id, new Date(Math.min(...known.map(end => end.getTime())))] as const]
    }),
  )
}

const keyOf = ({ subjectId, destinationId }: NotifiedDestination) => `${subjectId} ${destinationId}`

/** The first messages about incidents, each with the alert of the cause, or else the worst of those that rules match. */
async function openingMessages(
  deps: Deps,
  trx: Transaction,
  joined: IncidentNews['joined'],
  notified: readonly NotifiedDestination[],
): Promise<AddressedMessage[]> {
  const incidentOf = new Map(joined.map(({ alertId, incident }) => [alertId, incident]))
  const alerts = (await loadAlerts(trx, [...incidentOf.keys()])).filter(isOpen)
  const alone = await findNotifiedAlone(trx, alerts)
  const matched = (await findRecipients(deps, trx, alerts))
    .filter(
      recipient => recipient.takesIncident && !alone.has(`${recipient.alert.id} ${recipient.destination.id}`),
    )
    .map(recipient => ({ ...recipient, incident: incidentOf.get(recipient.alert.id)! }))
  const before = new Map(notified.map(item => [keyOf(item), item]))
  const wereOver = await findNotifiedOfEnds(trx, [...new Set(matched.map(({ incident }) => incident.id))])
  const groups = Map.groupBy(matched, ({ incident, destination }) => `${incident.id} ${destination.id}`)
  return [...groups].flatMap(([key, matches]) => {
    const former = before.get(key)
    const free = matches.filter(({ postponedUntil }) => postponedUntil === null)
    // One that is postponed waits for its time, unless another alert may be sent now.
    if (former && (!former.isPostponed || free.length === 0)) return []
    const [first] = (free.length > 0 ? free : matches).toSorted((a, b) => rankOf(b) - rankOf(a))
    return first ? [incidentMessage(first, first.incident, { wasOver: wereOver.has(key) })] : []
  })
}

/** Which alert of an incident a message shows: that of the cause, or else the worst. */
export function rankOf({ alert, incident }: { alert: Alert; incident: IncidentSummary }): number {
  return alert.id === incident.causeAlertId ? SEVERITIES.length : SEVERITIES.indexOf(alert.severity)
}

const FAILED_AGAIN = 'It failed again'

/**
 * The first message about an incident to a destination, or a later one.
 * @param wasOver whether the destination was notified of its end: then the message says that it goes on
 */
export function incidentMessage(
  { alert, destination, ruleIds, postponedUntil }: MessageRecipient,
  incident: IncidentSummary,
  { wasOver = false, isRepeat = false }: { wasOver?: boolean; isRepeat?: boolean } = {},
) {
  return {
    subject: incidentSubject(incident, wasOver || isRepeat ? 'updated' : 'opened', alert),
    type: 'alert.triggered' as const,
    ...(wasOver && { reason: { reason: FAILED_AGAIN } }),
    destination,
    ruleIds,
    postponedUntil,
  }
}

/** Messages that incidents got worse or woke up. Each shows the alert of the cause, or else what was shown before. */
async function updateMessages(
  trx: Transaction,
  notified: readonly NotifiedDestination[],
  changed: IncidentNews['changed'],
): Promise<AddressedMessage[]> {
  const byIncident = new Map(changed.map(item => [item.incident.id, item]))
  const reached = notified.filter(({ subjectId }) => byIncident.has(subjectId))
  const shownId = ({ subjectId, alertId }: NotifiedDestination) =>
    byIncident.get(subjectId)?.incident.causeAlertId ?? alertId
  const alerts = await byIds(trx, reached.map(shownId))
  return laterMessages(trx, 'alert.triggered', reached, item => {
    const { incident, reason, isReminder } = byIncident.get(item.subjectId)!
    const alert = alerts.get(shownId(item))
    if (!alert) return undefined
    const subject = incidentSubject(incident, 'updated', alert)
    return { subject, reason: { reason, ...(isReminder && { remindedAt: new Date() }) } }
  })
}

/** Messages that incidents are over. Each shows what was shown before. */
async function endMessages(
  trx: Transaction,
  notified: readonly NotifiedDestination[],
  ended: IncidentNews['ended'],
): Promise<AddressedMessage[]> {
  const byIncident = new Map(ended.map(item => [item.incident.id, item]))
  const reached = notified.filter(({ subjectId }) => byIncident.has(subjectId))
  const alerts = await byIds(
    trx,
    reached.map(({ alertId }) => alertId),
  )
  return laterMessages(trx, 'alert.resolved', reached, ({ subjectId, alertId }) => {
    const { incident, reason } = byIncident.get(subjectId)!
    const alert = alerts.get(alertId)
    return alert && { subject: incidentSubject(incident, 'resolved', alert), reason: { reason } }
  })
}

async function byIds(trx: Transaction, ids: readonly string[]): Promise<Map<string, Alert>> {
  const alerts = ids.length > 0 ? await loadAlerts(trx, ids) : []
  return new Map(alerts.map(alert => [alert.id, alert]))
}

async function loadAlerts(trx: Transaction, ids: readonly string[]): Promise<Alert[]> {
  return Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [[...new Set(ids)]])
    .orderBy('id')
}
