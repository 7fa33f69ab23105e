/**
 * Locks of alerts, deliveries, destinations and rules, in this order. An alert about a destination is locked after that
 * destination, against the order: it is open only while the destination is off, and no other transaction locks it then.
 * The order of all locks: `server/database/locks.ts`.
 */
import type { QueryBuilder } from 'objection'
import {
  sendStatements,
  companyOf,
  rows,
  type Reading,
  type Transaction,
} from '../../server/database/database.ts'
import { lockName } from '../../server/database/locks.ts'
import { Alert, AlertRule, Delivery, Destination } from './models.ts'

/** Makes transactions that create demo alerts wait for each other. */
export function lockDemoAlerts(trx: Transaction): Promise<void> {
  return lockName(trx, `demo-alerts:${companyOf(trx)}`)
}

/**
 * Makes transactions of a company that change its incidents wait for each other. A name, so it comes before all other
 * locks: nothing that raises or ends alerts, which holds others by then, takes it.
 */
export function lockIncidents(trx: Transaction): Promise<void> {
  return lockName(trx, `incidents:${companyOf(trx)}`)
}

type Alerts = QueryBuilder<Alert, Alert[]>

/** The order in which raising locks alerts. */
const RAISING_ORDER = 'kind collate "C", cause collate "C", id'
const inRaisingOrder = (alerts: Alerts) => alerts.orderByRaw(RAISING_ORDER)

/** Locks alerts that change their status. */
export const lockAlerts = (alerts: Alerts): Alerts => inRaisingOrder(alerts).forUpdate()

/** Locks alerts that change their status, except those that another transaction has locked. */
export const lockFreeAlerts = (alerts: Alerts): Alerts => lockAlerts(alerts).skipLocked()

/** Locks alerts whose deliveries change. */
export const lockAlertsOfDeliveries = (alerts: Alerts): Alerts => inRaisingOrder(alerts).forNoKeyUpdate()

/** Locks alerts whose deliveries change, except those that another transaction has locked. */
export const lockFreeAlertsOfDeliveries = (alerts: Alerts): Alerts =>
  lockAlertsOfDeliveries(alerts).skipLocked()

export async function lockAlert(trx: Transaction, id: string): Promise<Alert | undefined> {
  return Alert.query(trx).findById(id).forUpdate()
}

/**
 * Locks the alerts of deliveries, as a statement. A delivery that ends, and a message that resolving adds, see each other
 * under it.
 */
export function alertsOfLock(
  trx: Transaction,
  deliveries: readonly Pick<Delivery, 'alertId'>[],
): Reading<Pick<Alert, 'id' | 'deliveryFailed' | 'resolvedAt'>> {
  return {
    name: 'lock alerts of deliveries',
    text: `select id, delivery_failed, resolved_at from alerts
      where company_id = :companyId and id = any(cast(:ids as uuid[]))
      order by ${RAISING_ORDER} for no key update`,
    bindings: { companyId: companyOf(trx), ids: deliveries.flatMap(({ alertId }) => alertId ?? []) },
  }
}

/** Locks deliveries, as a statement. */
export function deliveriesLock(
  trx: Transaction,
  deliveries: readonly Pick<Delivery, 'id'>[],
): Reading<object> {
  return {
    name: 'lock deliveries',
    text: `select from deliveries where company_id = :companyId and id = any(cast(:ids as uuid[]))
      order by id for update`,
    bindings: { companyId: companyOf(trx), ids: deliveries.map(({ id }) => id) },
  }
}

/** Locks the destinations of deliveries, deleted ones too, as a statement. */
export function destinationsOfLock(trx: Transaction, deliveryIds: readonly string[]): Reading<Destination> {
  return {
    name: 'lock destinations of deliveries',
    text: `select * from destinations where company_id = :companyId and id in (
        select destination_id from deliveries where company_id = :companyId and id = any(cast(:ids as uuid[])))
      order by id for no key update`,
    bindings: { companyId: companyOf(trx), ids: [...deliveryIds] },
  }
}

export async function lockAlertOfDelivery(trx: Transaction, delivery: Pick<Delivery, 'alertId'>) {
  const [[alert]] = await sendStatements(trx, [alertsOfLock(trx, [delivery])])
  return alert
}

export const lockDeliveries = (deliveries: QueryBuilder<Delivery, Delivery[]>) =>
  deliveries.orderBy('id').forUpdate()

/** What two messages to one destination have in common if one of them waits for the other. */
type MessageKey = Pick<Delivery, 'alertId' | 'incidentId' | 'destinationId'>

/** Locks the messages that waited for some that have ended. */
export async function lockWaiting(trx: Transaction, ended: readonly MessageKey[]): Promise<Delivery[]> {
  const ofAlerts = ended.filter(({ incidentId }) => incidentId === null)
  const ofIncidents = ended.filter(({ incidentId }) => incidentId !== null)
  const found: Delivery[] = []
  if (ofAlerts.length > 0) found.push(...(await sendStatements(trx, [waitingLock(trx, ofAlerts)]))[0])
  if (ofIncidents.length > 0)
    found.push(...(await sendStatements(trx, [waitingEndsLock(trx, ofIncidents)]))[0])
  return found
}

/** Locks the messages of alerts to destinations that wait for the end of these, as a statement. */
function waitingLock(trx: Transaction, ended: readonly MessageKey[]): Reading<Delivery> {
  return {
    name: 'lock waiting deliveries',
    text: `select * from deliveries where company_id = :companyId
        and (alert_id, destination_id) in (select * from unnest(cast(:alerts as uuid[]), cast(:destinations as uuid[])))
        and status = 'pending' and attempt = 0 and job_id is null and incident_id is null
      order by id for update`,
    bindings: {
      companyId: companyOf(trx),
      alerts: ended.map(({ alertId }) => alertId),
      destinations: ended.map(({ destinationId }) => destinationId),
    },
  }
}

/** The same for ends of incidents: each waits for all earlier messages of its incident to its destination. */
function waitingEndsLock(trx: Transaction, ended: readonly MessageKey[]): Reading<Delivery> {
  return {
    name: 'lock waiting ends of incidents',
    text: `select * from deliveries d where company_id = :companyId
        and (incident_id, destination_id) in (
          select * from unnest(cast(:incidents as uuid[]), cast(:destinations as uuid[])))
        and event_type = 'alert.resolved' and status = 'pending' and attempt = 0 and job_id is null
        and not exists (
          select from deliveries e where e.company_id = :companyId and e.incident_id = d.incident_id
             and e.destination_id = d.destination_id and e.event_type = 'alert.triggered' and e.status = 'pending')
      order by id for update`,
    bindings: {
      companyId: companyOf(trx),
      incidents: ended.map(({ incidentId }) => incidentId),
      destinations: ended.map(({ destinationId }) => destinationId),
    },
  }
}

export async function lockDelivery(trx: Transaction, id: string): Promise<Delivery> {
  return Delivery.query(trx).findById(id).forUpdate().throwIfNotFound()
}

/** Locks a pending delivery; undefined if it has ended or another transaction has locked it. */
export async function lockFreePendingDelivery(trx: Transaction, id: string): Promise<Delivery | undefined> {
  return Delivery.query(trx).findOne({ id, status: 'pending' }).forUpdate().skipLocked()
}

/**
 * Locks the messages of incidents that are no end, so that no attempt ends and no redelivery begins without seeing the end
 * of its incident. Their alerts may not be locked: messages come after all alerts.
 * @param since the smallest id
 */
export const lockMessagesOfIncidents = (trx: Transaction, incidentIds: readonly string[], since: string) =>
  lockTriggered(trx, 'incident_id', incidentIds, since)

/**
 * Locks the first messages of alerts that are not locked, so that no attempt ends and no redelivery begins without
 * seeing the end of their chain.
 * @param since the smallest id
 */
export const lockFirstMessages = (trx: Transaction, alertIds: readonly string[], since: string) =>
  lockTriggered(trx, 'alert_id', alertIds, since)

async function lockTriggered(
  trx: Transaction,
  column: 'alert_id' | 'incident_id',
  ids: readonly string[],
  since: string,
) {
  await rows(
    trx,
    `select from deliveries
      where company_id = :companyId and ${column} = any(cast(:ids as uuid[])) and event_type = 'alert.triggered'
        and id >= :since
      order by id for update`,
    { companyId: companyOf(trx), ids: [...ids], since },
  )
}

/** Locks a destination, deleted ones too. Its slots are counted under this lock. */
export const lockDestination = (trx: Transaction, id: string) =>
  Destination.query(trx).findById(id).forNoKeyUpdate()

export const lockRule = (trx: Transaction, id: string) => AlertRule.query(trx).findById(id).forNoKeyUpdate()

/** End of a SELECT that locks alert rules. */
export const LOCK_RULES = 'order by id for no key update'
