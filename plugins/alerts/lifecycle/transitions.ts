import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { apiError } from '../../../server/http/errors.ts'
import { insertAll, type Transaction } from '../../../server/database/database.ts'

import { isDemo } from '../demo.ts'
import { Alert, AlertTransition, type AlertStatus } from '../models.ts'
import { kindOf } from './kinds.ts'
import { resolveAlerts } from './resolve.ts'
import { sweepCompanies, type SweepContext } from '../delivery/sweep-companies.ts'
import { notifyAgain, notifyResolved } from './notify.ts'
import { lockAlert, lockFreeAlerts } from '../locks.ts'

/** Where each status leads; what leads nowhere is final. */
const TRANSITIONS: Record<AlertStatus, readonly AlertStatus[]> = {
  triggered: ['acknowledged', 'snoozed', 'resolved', 'dismissed'],
  acknowledged: ['snoozed', 'resolved', 'dismissed'],
  snoozed: ['triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed'],
  resolved: [],
  dismissed: [],
}

/** A move that someone asks for. */
export interface TransitionRequest {
  to: 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  actor: string
  reason: string | null
  /** Of a snooze. */
  until?: Date
}

/** The reason of a dismissal that makes what the alert spoke of part of what is expected. */
const EXPECTED_REASON = 'expected'

/** Moves an alert. @throws 404 `ALERT_NOT_FOUND`, 409 `CONFLICT` when its status does not lead there */
export async function transitionAlert(
  server: Server,
  trx: Transaction,
  id: string,
  move: TransitionRequest,
): Promise<Alert> {
  const { to, actor, reason } = move
  let isLearned = false
  if (to === 'dismissed' && reason?.toLowerCase() === EXPECTED_REASON) {
    const known = await Alert.query(trx).findById(id)
    if (known) {
      const { kind, cause } = known
      isLearned = (await kindOf(server, kind).learnExpected?.(trx, { id, cause, actor })) ?? false
    }
  }
  const alert = await lockAlert(trx, id)
  if (!alert) throw noAlert(id)
  const open = TRANSITIONS[alert.status]
  if (!open.includes(to)) {
    const message =
      open.length === 0
        ? `The alert is ${alert.status}, which is final`
        : `The alert is ${alert.status}: from there it can be ${open.join(', ')}`
    throw apiError('CONFLICT', message, { status: alert.status, requested: to })
  }
  if (to === 'resolved') {
    const [resolved] = await resolveAlerts(server, trx, [alert], () => ({ actor, reason }))
    return resolved ?? alert
  }
  const snoozedUntil = to === 'snoozed' ? (move.until ?? null) : null
  const [moved] = await Alert.query(trx)
    .where({ id })
    .patch({
      status: to,
      snoozedUntil,
      ...(to === 'dismissed' && {
        resolvedAt: raw('now()'),
        // What fails after it was learned is beyond what was dismissed.
        dismissalLasts: kindOf(server, alert.kind).isRechecked === true && !isLearned && !isDemo(alert),
      }),
    })
    .returning('*')
  const change = { alertId: id, fromStatus: alert.status, toStatus: to, actor, reason, snoozedUntil }
  await AlertTransition.query(trx).insert(change)
  if (moved && to === 'dismissed')
    await notifyResolved(server, trx, { alerts: [moved], reasonOf: () => ({ reason }) })
  return moved ?? alert
}

/** Most alerts that one sweep wakes. */
const MAX_WOKEN = 1_000
const SNOOZE_OVER_REASON = 'The snooze is over'

/**
 * Brings alerts whose snooze is over back to `triggered`, in all companies, and notifies again those who were notified of
 * them. One that another transaction holds waits for the next sweep.
 * @returns how many
 */
export async function wakeSnoozed({ server, log }: SweepContext): Promise<number> {
  const over = await server.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from alerts where status = 'snoozed' and snoozed_until <= now()
      order by snoozed_until limit :most`,
    { most: MAX_WOKEN },
  )
  return sweepCompanies(log, 'wake snoozed alerts', over, (companyId, those) => {
    const ids = those.map(({ id }) => id)
    return server.db.company(companyId, trx => wakeAlerts(server, trx, ids))
  })
}

async function wakeAlerts(server: Server, trx: Transaction, ids: readonly string[]): Promise<number> {
  const held = await lockFreeAlerts(
    Alert.query(trx)
      .select('id')
      .whereRaw('id = any(cast(? as uuid[]))', [[...ids]])
      .whereRaw(`status = 'snoozed' and snoozed_until <= now()`),
  )
  if (held.length === 0) return 0
  const woken = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [held.map(({ id }) => id)])
    .patch({ status: 'triggered', snoozedUntil: null })
    .returning('*')
  const moves = woken.map(({ id }) => ({
    alertId: id,
    fromStatus: 'snoozed' as const,
    toStatus: 'triggered' as const,
    reason: SNOOZE_OVER_REASON,
    actor: 'system',
  }))
  await insertAll(moves, chunk => AlertTransition.query(trx).insert(chunk))
  await notifyAgain(server, trx, woken, { reason: SNOOZE_OVER_REASON, remindedAt: new Date() })
  return woken.length
}

/** 404 for an alert. */
export function noAlert(id: string) {
  return apiError('ALERT_NOT_FOUND', 'There is no alert of this id: GET /api/v1/sdk/alerts lists them', {
    alert_id: id,
  })
}
