/** What the page of one alert shows beside the alert: where it comes from, what it hits, and what became of it. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Deps } from '../deps.ts'
import type { AlertReach, ReachedAsset } from '../look-ups.ts'
import { isDemo, type Alert } from '../models.ts'
import { readAlertActivities } from '../people/alert-timeline.ts'
import { showAlert } from '../present.ts'
import { readUpstream } from './upstream.ts'

const ACTIVITIES = { limit: 50, offset: 0 }
/** More are counted. */
const MAX_NAMED_ASSETS = 5

/** An alert with all of it. */
export async function showAlertInContext(deps: Deps, trx: Transaction, alert: Alert) {
  const shown = await showAlert(deps, trx, alert)
  const tableId = isDemo(alert) || alert.assetId === alert.sourceId ? null : alert.assetId
  const { details } = alert.event
  const reach =
    tableId === null
      ? undefined
      : await deps.lookUps.reach?.readReach(trx, {
          assetId: tableId,
          details: details as Record<string, unknown>,
        })
  return {
    ...shown,
    last_pass: await readLastPass(deps, trx, alert, shown.rule_id),
    incident: await readIncident(trx, alert.id),
    upstream: tableId === null || !deps.lookUps.lineage ? null : await readUpstream(deps, trx, tableId),
    downstream: reach ? presentReach(reach) : null,
    owners: (reach?.assetOwners ?? []).map(({ name, email }) => ({ name, email })),
    activities: await readAlertActivities(trx, alert.id, ACTIVITIES),
  }
}

/** Null of an alert that no check raised. */
async function readLastPass(
  { lookUps }: Deps,
  trx: Transaction,
  { assetId: tableId, createdAt: before, event }: Alert,
  checkId: string | null,
) {
  if (checkId === null || tableId === null) return null
  const { group_values: series = {} } = event.details as { group_values?: Record<string, unknown> }
  return (await lookUps.watch?.readLastPass(trx, { checkId, tableId, series, before })) ?? null
}

async function readIncident(trx: Transaction, alertId: string) {
  const [incident] = await rows<{ id: string; title: string; status: string; isCause: boolean }>(
    trx,
    `select i.id, i.title, i.status, coalesce(i.cause ->> 'alert_id', '') = cast(:alertId as text) as is_cause
       from incident_alerts ia
       join incidents i on i.company_id = :companyId and i.id = ia.incident_id
      where ia.company_id = :companyId and ia.alert_id = cast(:alertId as uuid)`,
    { companyId: companyOf(trx), alertId },
  )
  if (!incident) return null
  const { isCause, ...rest } = incident
  return { ...rest, is_cause: isCause }
}

function presentReach({ tables, dashboards, owners, isComplete }: AlertReach) {
  return {
    table_count: tables.length,
    tables: tables.slice(0, MAX_NAMED_ASSETS).map(presentReached),
    dashboard_count: dashboards.length,
    dashboards: dashboards.slice(0, MAX_NAMED_ASSETS).map(presentReached),
    owners: owners.map(({ name, email }) => ({ name, email })),
    is_complete: isComplete,
  }
}

function presentReached({ id, name, qualifiedName, assetType, url, distance }: ReachedAsset) {
  return { id, name, qualified_name: qualifiedName, asset_type: assetType, url, steps: distance }
}
