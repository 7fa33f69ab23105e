import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import type { AlertsApi, Event, EventType, Learn, Severity } from './api.ts'
import { startDelivery } from './delivery.ts'
import { messageBody } from './message.ts'
import { Alert, AlertMove, type MessageType, type Status, type StoredEvent } from './models.ts'
import { recipients } from './recipients.ts'

/** The statuses in which a repeat counts on the alert instead of opening another. */
const OPEN: readonly Status[] = ['triggered', 'acknowledged', 'snoozed']

/** `server.plugins.alerts` of a server. */
export function makeAlertsApi(server: Server): AlertsApi {
  const learners = new Map<EventType, Learn>()
  return {
    async raise(trx, event) {
      if (!event.isNews) await supersede(trx, event)
      const { id, isNew } = await store(trx, event)
      if (isNew) {
        const alert = await Alert.query(trx).findById(id).throwIfNotFound()
        await AlertMove.query(trx).insert({
          alertId: id,
          fromStatus: null,
          toStatus: alert.status,
          actor: 'system',
        })
        await tell(server, trx, alert, 'alert.triggered')
      }
      return { alertId: id, isNew }
    },
    async resolve(trx, type, cause) {
      const alert = await Alert.query(trx)
        .findOne({ kind: type, cause })
        .whereIn('status', [...OPEN])
        .forUpdate()
      if (!alert) return false
      await close(server, trx, alert, { actor: 'system', reason: 'It recovered' })
      return true
    },
    // Replaced by statements for all of them.
    async raiseAll(trx, events) {
      const raised = []
      for (const event of events) raised.push(await this.raise(trx, event))
      return raised
    },
    async resolveAll(trx, type, causes) {
      let count = 0
      for (const cause of causes) if (await this.resolve(trx, type, cause)) count += 1
      return count
    },
    onExpected: (type, learn) => void learners.set(type, learn),
    expected: async (trx, { id, kind, cause }) => learners.get(kind)?.(trx, { id, cause }),
  }
}

const RANK: Record<Severity, number> = { info: 0, warning: 1, critical: 2 }

/**
 * Closes the open alert of a cause that has got worse, so that a new one is opened and told. It has to be a new
 * one: receivers take a second message with the same alert id for a duplicate. Nobody is told `alert.resolved`.
 */
async function supersede(trx: Transaction, event: Event): Promise<void> {
  const open = await Alert.query(trx)
    .findOne({ kind: event.type, cause: event.cause })
    .whereIn('status', [...OPEN])
    .forUpdate()
  if (!open || RANK[event.severity] <= RANK[open.severity]) return
  await markResolved(trx, open, { actor: 'system', reason: `It got worse: ${event.severity}` })
}

/** Resolves an open alert whose row the caller holds, and sends `alert.resolved`. */
export async function close(
  server: Server,
  trx: Transaction,
  alert: Alert,
  move: { actor: string; reason: string | null },
): Promise<Alert> {
  const resolved = await markResolved(trx, alert, move)
  await tell(server, trx, resolved, 'alert.resolved')
  return resolved
}

async function markResolved(
  trx: Transaction,
  alert: Alert,
  move: { actor: string; reason: string | null },
): Promise<Alert> {
  const [resolved] = await Alert.query(trx)
    .where({ id: alert.id })
    .patch({ status: 'resolved', resolvedAt: raw('now()'), snoozedUntil: null })
    .returning('*')
  if (!resolved) throw new Error(`Alert ${alert.id} vanished under its lock`)
  await AlertMove.query(trx).insert({
    alertId: alert.id,
    fromStatus: alert.status,
    toStatus: 'resolved',
    ...move,
  })
  return resolved
}

/** Inserts the alert, or counts on the open one of its cause: the unique index on open alerts decides which. */
async function store(trx: Transaction, event: Event): Promise<{ id: string; isNew: boolean }> {
  const [row] = await rows<{ id: string; isNew: boolean }>(
    trx,
    `insert into alerts
       (id, company_id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, context_data, resolved_at)
     values
       (:id, :companyId, :sourceId, :assetId, :kind, :cause, :severity, :status, :ruleName, :title,
        cast(:event as jsonb), cast(:contextData as jsonb), case when :status = 'resolved' then now() end)
     on conflict (company_id, kind, cause) where status in ('triggered', 'acknowledged', 'snoozed')
     do update set occurrences = alerts.occurrences + 1, last_seen_at = now()
     returning id, xmax = 0 as is_new`,
    {
      id: v7(),
      companyId: companyOf(trx),
      sourceId: event.sourceId,
      assetId: event.asset.id,
      kind: event.type,
      cause: event.cause,
      severity: event.severity,
      status: event.isNews ? 'resolved' : 'triggered',
      ruleName: event.ruleName,
      title: event.title,
      event: JSON.stringify(storedEvent(event)),
      contextData: JSON.stringify(event.contextData ?? {}),
    },
  )
  if (!row) throw new Error('An alert was neither stored nor counted')
  return row
}

function storedEvent(event: Event): StoredEvent {
  const { asset } = event
  return {
    type: event.type,
    change_type: event.changeType,
    asset: {
      id: asset.id,
      qualified_name: asset.qualifiedName,
      asset_type: asset.assetType,
      tags: [...(asset.tags ?? [])],
    },
    details: event.details,
  }
}

async function tell(server: Server, trx: Transaction, alert: Alert, type: MessageType): Promise<void> {
  const told = await recipients(trx, alert, type)
  if (told.length === 0) return
  const body = messageBody(alert, type, server.config.baseUrl)
  for (const { destination, ruleIds } of told) {
    await startDelivery(server, trx, {
      alertId: alert.id,
      destinationId: destination.id,
      ruleIds,
      eventType: type,
      body,
    })
  }
}
