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

/**
 * Locks alerts that change their status, or whose deliveries change. Messages refer to alerts, those that a locked one
 * superseded among them, which are not locked: under `for update` they would wait for a transaction that locked such a one
 * before it was superseded.
 */
export const lockAlerts = (alerts: Alerts): Alerts => alerts.orderByRaw(RAISING_ORDER).forNoKeyUpdate()

/** The same, except those that another transaction has locked. */
export const lockFreeAlerts = (alerts: Alerts): Alerts => lockAlerts(alerts).skipLocked()

export async function lockAlert(trx: Transaction, id: string): Promise<Alert | undefined> {
  return Alert.query(trx).findById(id).forNoKeyUpdate()
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

/** Locks the ends of subjects that waited for messages which have ended. An end waits for all of its subject. */
export async function lockWaiting(
  trx: Transaction,
  ended: readonly Pick<Delivery, 'alertId' | 'incidentId' | 'destinationId'>[],
): Promise<Delivery[]> {
  const byKind = Map.groupBy(ended, ({ incidentId }) => (incidentId === null ? 'alert' : 'incident'))
  const waiting: Delivery[] = []
  for (const [kind, messages] of byKind) {
    const subjectIds = messages.map(({ alertId, incidentId }) => incidentId ?? alertId!)
    const destinationIds = messages.map(({ destinationId }) => destinationId)
    const [locked] = await sendStatements(trx, [waitingLock(trx, kind, { subjectIds, destinationIds })])
    waiting.push(...locked)
  }
  return waiting
}

/** What messages are about. Those about incidents refer to the alerts that they show, too. */
export type SubjectKind = 'alert' | 'incident'

/** Conditions in SQL: a delivery `d` is about the subject of the column. */
export const IS_ABOUT: Record<SubjectKind, string> = {
  alert: 'd.incident_id is null',
  incident: 'd.incident_id is not null',
}

function waitingLock(
  trx: Transaction,
  kind: SubjectKind,
  { subjectIds, destinationIds }: { subjectIds: readonly string[]; destinationIds: readonly string[] },
): Reading<Delivery> {
  const subject = `${kind}_id`
  return {
    name: `lock waiting ends of ${kind}s`,
    text: `select * from deliveries d where company_id = :companyId and ${IS_ABOUT[kind]}
        and (${subject}, destination_id) in (
          select * from unnest(cast(:subjectIds as uuid[]), cast(:destinationIds as uuid[])))
        and event_type = 'alert.resolved' and status = 'pending' and attempt = 0 and job_id is null
        and not exists (
          select from deliveries e where e.company_id = :companyId and e.${subject} = d.${subject}
             and e.incident_id is not distinct from d.incident_id
             and e.destination_id = d.destination_id and e.event_type = 'alert.triggered' and e.status = 'pending')
      order by id for update`,
    bindings: { companyId: companyOf(trx), subjectIds: [...subjectIds], destinationIds: [...destinationIds] },
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
 * Locks the messages of subjects that are no end, so that no attempt ends and no redelivery begins without seeing the end
 * of its subject. For alerts that cannot be locked: messages come after all alerts.
 * @param since the smallest id
 */
export async function lockTriggered(
  trx: Transaction,
  kind: SubjectKind,
  ids: readonly string[],
  since: string,
): Promise<void> {
  await rows(
    trx,
    `select from deliveries
      where company_id = :companyId and ${kind}_id = any(cast(:ids as uuid[])) and event_type = 'alert.triggered'
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
