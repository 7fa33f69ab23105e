/** What is known to be wrong with assets. */
import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Symptom } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { routineNames } from '../../kinds.ts'
import { findFailedRuns } from '../grouping/findings.ts'
import type { Flow } from '../grouping/flow.ts'
import { IS_OPEN } from '../../models.ts'
import { symptomOf } from '../grouping/symptoms.ts'

/** A finding about an asset, before it is weighed. */
export interface RawFinding {
  symptom: Symptom
  eventType: string
  assetId: string
  qualifiedName: string
  at: Date
  summary: string
  details: Record<string, unknown>
}

/** Tables of a source that are looked at. */
const MAX_TROUBLED = 200
/** Findings of each kind. */
const MAX_FINDINGS = 100
/** Alerts that may explain something: open ones, and those that ended lately. */
const IS_CURRENT = `(${IS_OPEN} or created_at >= :since and status = 'resolved')
        and kind <> all(cast(:routineKinds as text[]))`

/** The tables of a source with open or recent alerts, those with the newest first. */
export async function findTroubledTables(
  { kinds }: Deps,
  trx: Transaction,
  sourceId: string,
  since: Date,
): Promise<string[]> {
  const troubled = await rows<{ assetId: string }>(
    trx,
    `select asset_id from alerts
      where company_id = :companyId and source_id = :sourceId and asset_id <> :sourceId and ${IS_CURRENT}
      group by asset_id order by max(created_at) desc limit ${MAX_TROUBLED}`,
    { companyId: companyOf(trx), sourceId, since, routineKinds: routineNames(kinds) },
  )
  return troubled.map(({ assetId }) => assetId)
}

interface AlertFinding {
  id: string
  kind: string
  assetId: string
  title: string
  qualifiedName: string
  details: Record<string, unknown> | null
  createdAt: Date
}

/** Open and recent alerts, schema changes that none of these speaks of, tables that are late, and runs that failed. */
export async function findAll(
  deps: Deps,
  trx: Transaction,
  assetIds: readonly string[],
  since: Date,
  flow: Flow,
): Promise<RawFinding[]> {
  const bindings = { companyId: companyOf(trx), ids: [...assetIds], since, most: MAX_FINDINGS }
  const alerts = await rows<AlertFinding>(
    trx,
    `select id, kind, asset_id, title, event #>> '{asset,qualified_name}' as qualified_name,
            event -> 'details' as details, created_at
       from alerts
      where company_id = :companyId and asset_id = any(cast(:ids as uuid[]))
        and ${IS_CURRENT}
      order by created_at desc limit :most`,
    { ...bindings, routineKinds: routineNames(deps.kinds) },
  )
  const changes = await rows<{
    tableId: string
    changeType: string
    objectName: string
    impact: string
    detectedAt: Date
    qualifiedName: string
  }>(
    trx,
    `select c.table_id, c.change_type, c.object_name, c.impact, c.detected_at, t.qualified_name
       from schema_changes c join tables t on t.company_id = :companyId and t.id = c.table_id
      where c.company_id = :companyId and c.table_id = any(cast(:ids as uuid[])) and c.detected_at >= :since
        and c.impact <> 'low'
      order by c.detected_at desc limit :most`,
    bindings,
  )
  const late = await rows<{ tableId: string; qualifiedName: string; lastUpdated: Date | null; at: Date }>(
    trx,
    `select c.table_id, t.qualified_name, cast(c.settings ->> 'lastUpdated' as timestamptz) as last_updated,
         coalesce(c.last_checked_at, now()) as at
       from checks c join tables t on t.company_id = :companyId and t.id = c.table_id
      where c.company_id = :companyId and c.table_id = any(cast(:ids as uuid[])) and c.kind = 'freshness'
        and c.is_active and c.status = 'fail' limit :most`,
    bindings,
  )
  const ofAlerts = alerts.map(alert => ({
    symptom: symptomOf(deps, alert.kind, alert.details ?? {}),
    eventType: alert.kind,
    assetId: alert.assetId,
    qualifiedName: alert.qualifiedName,
    at: alert.createdAt,
    summary: alert.title,
    details: { alert_id: alert.id },
  }))
  const hasAlert = new Set(ofAlerts.map(({ assetId, symptom }) => `${assetId} ${symptom}`))
  return [
    ...ofAlerts,
    ...changes
      .filter(({ tableId }) => !hasAlert.has(`${tableId} drift`))
      .map(({ tableId, changeType, objectName, impact, detectedAt, qualifiedName }) => ({
        symptom: 'drift' as const,
        eventType: 'schema_change',
        assetId: tableId,
        qualifiedName,
        at: detectedAt,
        summary: `${qualifiedName}: ${changeType.replaceAll('_', ' ')} (${objectName})`,
        details: { change_type: changeType, object_name: objectName, impact },
      })),
    ...late
      .filter(({ tableId }) => !hasAlert.has(`${tableId} stale`))
      .map(({ tableId, qualifiedName, lastUpdated, at }) => ({
        symptom: 'stale' as const,
        eventType: 'freshness_violation',
        assetId: tableId,
        qualifiedName,
        at,
        summary: `${qualifiedName} is late: its newest data is of ${lastUpdated?.toISOString() ?? 'an unknown time'}`,
        details: { last_updated: lastUpdated },
      })),
    ...(await findFailedRuns(deps.lookUps, trx, assetIds, since, flow)).map(({ createdAt: at, ...run }) => ({
      ...run,
      at,
      details: {},
    })),
  ]
}
