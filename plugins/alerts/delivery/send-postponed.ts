import type { Server } from '@hapi/hapi'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { Alert, Delivery } from '../models.ts'
import { IS_POSTPONED, stopPostponed } from './postponed.ts'
import { findRecipients } from '../rules/recipients.ts'
import { sweepCompanies, type SweepContext } from './sweep-companies.ts'
import { triggeredMessage, sendMessages } from '../lifecycle/notify.ts'

/** Most postponed deliveries that one sweep looks at. */
const MAX_DUE = 1_000

/** Whether a postponed delivery may be sent now, a condition in SQL. */
const IS_DUE = `${IS_POSTPONED} and coalesce(next_attempt_at, created_at) <= now()`

/**
 * Sends the messages of all companies whose cooldowns are over and whose troubles last. Those of a snoozed alert wait for
 * the end of its snooze.
 * @returns how many deliveries were sent
 */
export async function sendPostponed({ server, log }: SweepContext): Promise<number> {
  const due = await server.db.system(trx =>
    rows<{ alertId: string; companyId: string }>(
      trx,
      `select alert_id, company_id from deliveries d
        where ${IS_DUE} and exists (select from alerts a where a.id = d.alert_id and a.status <> 'snoozed')
        order by next_attempt_at limit :most`,
      { most: MAX_DUE },
    ),
  )
  return sweepCompanies(log, 'send postponed messages', due, (companyId, those) => {
    const alertIds = [...new Set(those.map(({ alertId }) => alertId))]
    return server.db.company(companyId, trx => sendDueMessages(server, trx, alertIds))
  })
}

/**
 * Sends the postponed messages of some alerts that are due. Rules and destinations count as they are now: what no rule
 * asks for any more is stopped, and what a cooldown still holds back waits on. The row of a message that is sent makes
 * way for a delivery of now. An alert that another transaction holds is left to the next sweep. One that is over has
 * postponed messages only if the version before closed it.
 */
async function sendDueMessages(
  server: Server,
  trx: Transaction,
  alertIds: readonly string[],
): Promise<number> {
  const alerts = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [[...alertIds]])
    .whereNot({ status: 'snoozed' })
    // In the order in which raising locks them.
    .orderByRaw('kind collate "C", cause collate "C", id')
    .forNoKeyUpdate()
    .skipLocked()
  const due = await Delivery.query(trx)
    .whereRaw('alert_id = any(cast(? as uuid[]))', [alerts.map(({ id }) => id)])
    .whereRaw(IS_DUE)
    .orderBy('id')
    .forUpdate()
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null)
  const found = await findRecipients(trx, open)
  const judged = due.map(delivery => {
    const place = open.findIndex(({ id }) => id === delivery.alertId)
    const recipient = found[place]?.find(({ destination }) => destination.id === delivery.destinationId)
    return { delivery, alert: open[place]!, recipient }
  })
  const unwanted = judged.filter(({ recipient }) => !recipient).map(({ delivery }) => delivery)
  await stopPostponed(
    trx,
    unwanted.map(({ id, alertId }) => ({ deliveryId: id, alertId: alertId! })),
    'When the cooldown ended, the alert was over, the destination was switched off, or no rule asked for it any more',
  )
  for (const { delivery, recipient } of judged)
    if (recipient?.postponedUntil)
      await Delivery.query(trx).where({ id: delivery.id }).patch({ nextAttemptAt: recipient.postponedUntil })
  const sent = judged.flatMap(({ delivery, alert, recipient }) =>
    recipient?.postponedUntil === null
      ? [{ id: delivery.id, message: triggeredMessage(alert, recipient) }]
      : [],
  )
  await Delivery.query(trx)
    .delete()
    .whereRaw('id = any(cast(? as uuid[]))', [sent.map(({ id }) => id)])
  await sendMessages(
    server,
    trx,
    sent.map(({ message }) => message),
  )
  return sent.length
}
