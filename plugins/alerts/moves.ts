import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { apiError } from '../../server/errors.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { Alert, AlertMove, type Status } from './models.ts'
import { close } from './resolve.ts'
import { tell } from './tell.ts'

/** Where each status leads; what leads nowhere is final. */
const MOVES: Record<Status, readonly Status[]> = {
  triggered: ['acknowledged', 'snoozed', 'resolved', 'dismissed'],
  acknowledged: ['snoozed', 'resolved', 'dismissed'],
  snoozed: ['triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed'],
  resolved: [],
  dismissed: [],
}

/** A move that someone asks for. */
export interface Move {
  to: 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  actor: string
  reason: string | null
  /** Of a snooze. */
  until?: Date
}

/** The reason of a dismissal that makes what the alert spoke of part of what is expected. */
const EXPECTED = 'expected'

/** Moves an alert. @throws 404 `ALERT_NOT_FOUND`, 409 `CONFLICT` when its status does not lead there */
export async function moveAlert(server: Server, trx: Transaction, id: string, move: Move): Promise<Alert> {
  const { to, actor, reason } = move
  if (to === 'dismissed' && reason?.toLowerCase() === EXPECTED) {
    const known = await Alert.query(trx).findById(id)
    if (known) {
      const { kind, cause } = known
      await server.plugins.alerts.expected(trx, { id, kind, cause, actor })
    }
  }
  const alert = await Alert.query(trx).findById(id).forUpdate()
  if (!alert) throw noAlert(id)
  const open = MOVES[alert.status]
  if (!open.includes(to)) {
    const message =
      open.length === 0
        ? `The alert is ${alert.status}, which is final`
        : `The alert is ${alert.status}: from there it can be ${open.join(', ')}`
    throw apiError('CONFLICT', message, { status: alert.status, requested: to })
  }
  if (to === 'resolved') {
    const [resolved] = await close(server, trx, [alert], () => ({ actor, reason }))
    return resolved ?? alert
  }
  const snoozedUntil = to === 'snoozed' ? (move.until ?? null) : null
  const [moved] = await Alert.query(trx)
    .where({ id })
    .patch({
      status: to,
      snoozedUntil,
      ...(to === 'dismissed' && { resolvedAt: raw('now()') }),
    })
    .returning('*')
  const change = { alertId: id, fromStatus: alert.status, toStatus: to, actor, reason, snoozedUntil }
  await AlertMove.query(trx).insert(change)
  // Who was told that it began is told that it is over, whoever says so.
  if (moved && to === 'dismissed') await tell(server, trx, [moved], 'alert.resolved', () => ({ reason }))
  return moved ?? alert
}

/**
 * Brings alerts whose snooze is over back to `triggered`, in all companies. One that another transaction holds waits
 * for the next sweep: these rows are locked in no order.
 * @returns how many
 */
export async function wakeSnoozed(trx: Transaction): Promise<number> {
  const woken = await rows(
    trx,
    `with woken as (
       update alerts set status = 'triggered', snoozed_until = null
        where id in (
          select id from alerts where status = 'snoozed' and snoozed_until <= now() for update skip locked)
        returning id, company_id)
     insert into alert_history (company_id, alert_id, from_status, to_status, reason, actor)
     select company_id, id, 'snoozed', 'triggered', 'The snooze is over', 'system' from woken returning id`,
  )
  return woken.length
}

/** 404 for an alert. */
export function noAlert(id: string) {
  return apiError('ALERT_NOT_FOUND', 'There is no alert of this id: GET /api/v1/sdk/alerts lists them', {
    alert_id: id,
  })
}
