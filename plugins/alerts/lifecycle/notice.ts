/** How alerts reach the feature that makes incidents of them. */
import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../../server/database/database.ts'
import type { AlertGrouping, IncidentSummary } from '../api.ts'
import { isDemo } from '../demo.ts'
import type { Alert, Destination } from '../models.ts'
import { kindOf } from '../kinds.ts'

/** By the database of a server: plugins and jobs see the server as different objects. */
const groupings = new WeakMap<Server['db'], AlertGrouping>()

export function setGrouping(server: Server, grouping: AlertGrouping): void {
  groupings.set(server.db, grouping)
}

type GroupedFields = Pick<Alert, 'kind' | 'sourceId' | 'contextData'>

/** Whether an alert becomes a part of an incident: it is about data, and asks for an action. */
function isGrouped(server: Server, alert: GroupedFields): boolean {
  const isRoutine = kindOf(server, alert.kind).isRoutine === true
  return groupings.has(server.db) && alert.sourceId !== null && !isRoutine && !isDemo(alert)
}

/** Whether a destination is notified of the incident of an alert in place of the alert. */
export function takesIncident(
  server: Server,
  alert: GroupedFields,
  { messages }: Pick<Destination, 'messages'>,
): boolean {
  return messages === 'incidents' && isGrouped(server, alert)
}

/** Has the incidents of alerts updated that were opened or changed their status. */
export async function noticeAlerts(
  server: Server,
  trx: Transaction,
  alerts: readonly (GroupedFields & { id: string })[],
): Promise<void> {
  const ids = alerts.filter(alert => isGrouped(server, alert)).map(({ id }) => id)
  if (ids.length > 0) await groupings.get(server.db)?.notice(trx, ids)
}

/** The incidents of alerts, by the ids of these. */
export async function findIncidents(
  server: Server,
  trx: Transaction,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, IncidentSummary>> {
  const grouping = groupings.get(server.db)
  return grouping && alertIds.length > 0 ? grouping.find(trx, alertIds) : new Map()
}
