import { raw } from 'objection'
import { ExtensionCallError } from '../../../server/extension-errors.ts'
import { apiError } from '../../../server/http/errors.ts'
import { callWithin, DeadlineError } from '../../../server/with-timeout.ts'
import { insertAll, type Transaction } from '../../../server/database/database.ts'
import type { StatusRequest } from './status-body.ts'
import type { Deps } from '../deps.ts'
import { Alert, AlertTransition, IS_OPEN, isDemo, type AlertStatus } from '../models.ts'
import { kindOf } from '../kinds.ts'
import { resolveAlerts } from './resolve.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import { notifyAgain, notifyResolved } from '../rules/notify.ts'
import { lockAlert, lockAlerts, lockFreeAlerts } from '../locks.ts'
import { noAlert } from './find-alert.ts'
import { noticeAlerts } from './notice.ts'

/** The statuses that each status can change to; one that leads nowhere is final. */
const TRANSITIONS: Record<AlertStatus, readonly AlertStatus[]> = {
  triggered: ['acknowledged', 'snoozed', 'resolved', 'dismissed'],
  acknowledged: ['snoozed', 'resolved', 'dismissed'],
  snoozed: ['triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed'],
  resolved: [],
  dismissed: [],
}

/** A dismissal for this reason adds the values of the alert to the expected ones. */
const EXPECTED_REASON = 'expected'

/** Changes the status of an alert. @throws 404 `ALERT_NOT_FOUND`, 409 `CONFLICT` if its status does not lead there */
export async function transitionAlert(
  deps: Deps,
  trx: Transaction,
  id: string,
  request: StatusRequest,
): Promise<Alert> {
  const { to, actor, reason } = request
  let isLearned = false
  if (to === 'dismissed' && reason?.toLowerCase() === EXPECTED_REASON) {
    const unlocked = await Alert.query(trx).findById(id)
    if (unlocked) isLearned = await learnExpected(deps, trx, unlocked, actor)
  }
  const alert = await lockAlert(trx, id)
  if (!alert) throw noAlert(id)
  const next = TRANSITIONS[alert.status]
  if (!next.includes(to)) {
    const message =
      next.length === 0
        ? `The alert is ${alert.status}, which is final`
        : `The alert is ${alert.status}: from there it can be ${next.join(', ')}`
    throw apiError('CONFLICT', message, { status: alert.status, requested: to })
  }
  const [changed] = await applyStatus(deps, trx, [alert], request, isLearned)
  return changed ?? alert
}

/** Lets the kind of an alert learn its values. @throws ExtensionCallError if one of an extension does not end */
async function learnExpected(
  { kinds, deadlines }: Pick<Deps, 'kinds' | 'deadlines'>,
  trx: Transaction,
  { id, kind, cause }: Alert,
  actor: StatusRequest['actor'],
): Promise<boolean> {
  const { learnExpected: learn } = kindOf(kinds, kind)
  const { validate: milliseconds } = deadlines
  try {
    return (await callWithin(milliseconds, () => learn?.(trx, { id, cause, actor }))) ?? false
  } catch (thrown) {
    if (!(thrown instanceof DeadlineError)) throw thrown
    throw new ExtensionCallError(`The alert kind ${kind} did not end learnExpected in time`, {
      cause: thrown,
    })
  }
}

/** Changes the status of those of some alerts that can get it. @returns these */
export async function changeStatus(
  deps: Deps,
  trx: Transaction,
  ids: readonly string[],
  request: StatusRequest,
): Promise<Alert[]> {
  const open = await lockAlerts(
    Alert.query(trx)
      .whereRaw('id = any(cast(? as uuid[]))', [[...ids]])
      .whereRaw(IS_OPEN),
  )
  const able = open.filter(({ status }) => TRANSITIONS[status].includes(request.to))
  return able.length > 0 ? applyStatus(deps, trx, able, request, false) : []
}

/** Changes the status of locked alerts. @param isLearned whether their values are expected from now on */
async function applyStatus(
  deps: Deps,
  trx: Transaction,
  alerts: readonly Alert[],
  request: StatusRequest,
  isLearned: boolean,
): Promise<Alert[]> {
  const { to, actor, reason, until, resolution = null } = request
  const ids = alerts.map(({ id }) => id)
  const changing = () => Alert.query(trx).whereRaw('id = any(cast(? as uuid[]))', [ids])
  const stated = { ...(reason !== null && { notes: reason }), ...(resolution && { resolution }) }
  if (to === 'resolved') {
    if (Object.keys(stated).length > 0) await changing().patch(stated)
    return resolveAlerts(deps, trx, alerts, () => ({ actor, reason, resolution }))
  }
  const snoozedUntil = to === 'snoozed' ? (until ?? null) : null
  const rechecked = alerts.filter(alert => kindOf(deps.kinds, alert.kind).isRechecked && !isDemo(alert))
  const lasting = isLearned ? [] : rechecked.map(({ id }) => id)
  const changed = await changing()
    .patch({
      ...stated,
      status: to,
      snoozedUntil,
      ...(to === 'dismissed' && {
        resolvedAt: raw('now()'),
        // A failure after learning is a new one.
        dismissalLasts: raw('id = any(cast(? as uuid[]))', [lasting]),
      }),
    })
    .returning('*')
  const transitions = alerts.map(({ id: alertId, status: fromStatus }) => ({
    alertId,
    fromStatus,
    toStatus: to,
    actor,
    reason,
    snoozedUntil,
    resolution,
  }))
  await insertAll(transitions, chunk => AlertTransition.query(trx).insert(chunk))
  if (to === 'dismissed') await notifyResolved(deps, trx, { alerts: changed, reasonOf: () => ({ reason }) })
  await noticeAlerts(deps, trx, changed)
  return changed
}

/** Per sweep. */
const MAX_WOKEN = 1_000
const SNOOZE_OVER_REASON = 'The snooze is over'

/**
 * Sets alerts of all companies whose snooze ended back to `triggered`, and notifies the notified destinations again. One
 * that another transaction has locked waits for the next sweep.
 * @returns how many
 */
export async function wakeSnoozed(deps: Deps, log: Pick<Deps['log'], 'error'>): Promise<number> {
  const due = await deps.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from alerts where status = 'snoozed' and snoozed_until <= now()
      order by snoozed_until limit :most`,
    { most: MAX_WOKEN },
  )
  return sweepCompanies(log, 'wake snoozed alerts', due, (companyId, alerts) => {
    const ids = alerts.map(({ id }) => id)
    return deps.db.company(companyId, trx => wakeAlerts(deps, trx, ids))
  })
}

async function wakeAlerts(deps: Deps, trx: Transaction, ids: readonly string[]): Promise<number> {
  const locked = await lockFreeAlerts(
    Alert.query(trx)
      .select('id')
      .whereRaw('id = any(cast(? as uuid[]))', [[...ids]])
      .whereRaw(`status = 'snoozed' and snoozed_until <= now()`),
  )
  if (locked.length === 0) return 0
  const woken = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [locked.map(({ id }) => id)])
    .patch({ status: 'triggered', snoozedUntil: null })
    .returning('*')
  const transitions = woken.map(({ id }) => ({
    alertId: id,
    fromStatus: 'snoozed' as const,
    toStatus: 'triggered' as const,
    reason: SNOOZE_OVER_REASON,
    actor: 'system',
  }))
  await insertAll(transitions, chunk => AlertTransition.query(trx).insert(chunk))
  await notifyAgain(deps, trx, woken, { reason: SNOOZE_OVER_REASON, remindedAt: new Date() })
  await noticeAlerts(deps, trx, woken)
  return woken.length
}
