import { ignoreRejection } from '../../connectors/foreign-code.ts'
import type { Transaction } from '../../server/database/database.ts'
import { reportThrown } from '../../server/extension-errors.ts'
import { toApiNames } from '../../server/http/fields.ts'
import { RESOLUTION_FIELDS, type AlertKind, type AlertResolution, type ResolutionField } from './api.ts'
import type { Deps } from './deps.ts'
import { kindOf } from './kinds.ts'
import { loadMutes, type MutedUntil } from './mute/muted.ts'
import { loadAssignees, type Assignee } from './people/assignee.ts'
import { Alert, isDemo, isOpen, type AlertTransition } from './models.ts'

type PresentDeps = Pick<Deps, 'kinds' | 'log' | 'config'>

/** What replies show beside the row of an alert. */
export interface AlertSurroundings {
  assignees: ReadonlyMap<string, Assignee>
  mutedUntil: MutedUntil
}

/** Reads what replies show beside the rows of some alerts. */
export async function readSurroundings(
  trx: Transaction,
  alerts: readonly Alert[],
): Promise<AlertSurroundings> {
  const mutedUntil: MutedUntil = alerts.some(isOpen) ? await loadMutes(trx) : () => null
  return { assignees: await loadAssignees(trx, alerts), mutedUntil }
}

/** An alert by itself, with what replies show beside it. */
export async function showAlert(deps: PresentDeps, trx: Transaction, alert: Alert) {
  return presentAlert(deps, alert, await readSurroundings(trx, [alert]))
}

export function presentAlert(
  { kinds, log, config }: PresentDeps,
  alert: Alert,
  { assignees, mutedUntil }: AlertSurroundings,
) {
  const { event } = alert
  const kind = kindOf(kinds, alert.kind)
  return {
    id: alert.id,
    rule_id: ruleIdOf(log, kind, alert),
    rule_name: alert.ruleName,
    alert_type: kind.label,
    event_type: alert.kind,
    severity: alert.severity,
    status: alert.status,
    title: alert.title,
    finding: event.finding ?? null,
    message: alert.title,
    delivery_failed: alert.deliveryFailed,
    occurrences: alert.occurrences,
    asset_id: event.asset.id,
    qualified_name: event.asset.qualified_name,
    asset: {
      id: event.asset.id,
      qualified_name: event.asset.qualified_name,
      asset_type: event.asset.asset_type,
    },
    event: { type: event.type, change_type: event.change_type ?? null, details: event.details },
    context_data: alert.contextData,
    created_at: alert.createdAt,
    triggered_at: alert.createdAt,
    last_seen_at: alert.lastSeenAt,
    snoozed_until: alert.snoozedUntil,
    muted_until: isOpen(alert) ? mutedUntil(alert) : null,
    resolved_at: alert.resolvedAt,
    assignee: (alert.assigneeId !== null && assignees.get(alert.assigneeId)) || null,
    notes: alert.notes,
    ...presentResolution(alert.resolution),
    links: alertLinks(config.baseUrl, alert),
  }
}

const ASSET_PAGES: Record<string, string> = { destination: 'routing', source: 'sources' }

/** The pages of an alert and of its asset, by id; a client that takes no HTML is redirected from there to the API. */
export function alertLinks(baseUrl: string, { id, event: { asset } }: Pick<Alert, 'id' | 'event'>) {
  return {
    alert_url: `${baseUrl}/alerts/${id}`,
    asset_url: assetUrl(baseUrl, asset),
  }
}

export function assetUrl(
  baseUrl: string,
  { id, asset_type: type }: { id: string; asset_type: string },
): string {
  return `${baseUrl}/${ASSET_PAGES[type] ?? 'tables'}/${id}`
}

/** A kind of an extension that throws names no rule: it must not take the whole list with it. */
function ruleIdOf(log: Deps['log'], kind: AlertKind, alert: Alert): string | null {
  const { cause, event } = alert
  if (isDemo(alert)) return null
  try {
    const id = kind.ruleIdOf?.({ cause, details: event.details as Record<string, unknown> })
    ignoreRejection(id)
    return typeof id === 'string' ? id : null
  } catch (thrown) {
    reportThrown(log, `alert kind ${kind.name}`, thrown, { fields: { call: 'ruleIdOf' } })
    return null
  }
}

function presentResolution(resolution: AlertResolution | null) {
  const fields = RESOLUTION_FIELDS.map(field => [field, resolution?.[field] ?? null])
  return Object.fromEntries(fields) as Record<ResolutionField, string | null>
}

/** An alert with what the inbox reads beside it. */
export class InboxAlert extends Alert {
  declare acknowledgedAt: Date | null
  /** The names of the destinations that got a message about it. */
  declare destinationName: string | null
}

/** An alert with the fields by which inboxes know it. */
export function presentInboxAlert(deps: PresentDeps, alert: InboxAlert, surroundings: AlertSurroundings) {
  return {
    ...presentAlert(deps, alert, surroundings),
    alert_state: alert.status === 'triggered' ? 'new' : alert.status,
    asset_name: alert.event.asset.qualified_name,
    destination_name: alert.destinationName,
    acknowledged_at: alert.acknowledgedAt,
    dismissed_at: alert.status === 'dismissed' ? alert.resolvedAt : null,
  }
}

export function presentTransition(transition: AlertTransition) {
  const { id: _id, alertId: _alertId, companyId: _companyId, resolution, ...shown } = transition
  return { ...toApiNames(shown), ...presentResolution(resolution) }
}

/** A transition as an entry of a list of actions. */
export function presentAction({ toStatus, at, actor, reason, resolution }: AlertTransition) {
  return {
    action: toStatus,
    timestamp: at,
    user_id: actor.startsWith('user:') ? actor.slice('user:'.length) : null,
    notes: reason,
    ...presentResolution(resolution),
  }
}
