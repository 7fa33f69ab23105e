import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Asset } from '../assets/assets.ts'
import type { AttentionItem } from '../../alerts/api.ts'
import type { CoverageQuery, HealthPart } from '../assets/asset-extensions.ts'
import { countChanges } from './status.ts'

const HEALTH_DAYS = 30
const MAX_LISTED = 20

/** Tables whose source is discovered on schedule. */
export const driftCoverage: CoverageQuery = {
  kind: 'schema_drift',
  text: `select t.company_id, t.source_id, t.id as table_id from tables t
    join sources s on s.company_id = t.company_id and s.id = t.source_id
    where t.is_active and s.is_active and s.discovery_interval <> 'off'`,
}

/** Counts of schema changes of an asset, or of the whole company. @param days how far back `total_changes` reaches */
export async function summarizeChanges(
  trx: Transaction,
  companyId: string,
  asset: Asset | undefined,
  days: number,
) {
  const counts = await countChanges(trx, companyId, asset, days)
  const [last] = await rows<{ at: Date | null }>(
    trx,
    `select max(last_discovery_at) as at from sources
     where company_id = :companyId and (cast(:sourceId as uuid) is null or id = :sourceId)`,
    { companyId, sourceId: asset?.source.id ?? null },
  )
  return {
    total_changes: counts.recent,
    unacknowledged: counts.open,
    critical_count: counts.high,
    warning_count: counts.medium,
    info_count: counts.low,
    last_check: last?.at ?? null,
  }
}

/**
 * Changes of the last 30 days, and the sources with open changes of impact high or medium.
 * @param since the time from which changes are counted too; one more statement
 */
export async function readDriftHealth(trx: Transaction, since?: Date): Promise<HealthPart> {
  const companyId = companyOf(trx)
  const summary = await summarizeChanges(trx, companyId, undefined, HEALTH_DAYS)
  const changes = since === undefined ? undefined : await countChangesSince(trx, companyId, since)
  const attention = await rows<{ assetId: string; assetName: string; count: number; isHigh: boolean }>(
    trx,
    `select s.id as asset_id, s.name as asset_name, cast(count(*) as int) as count,
       bool_or(c.impact = 'high') as is_high
     from schema_changes c join sources s on s.company_id = c.company_id and s.id = c.source_id
     where c.company_id = :companyId and not c.is_acknowledged and c.impact in ('high', 'medium') and s.is_active
     group by 1, 2 order by is_high desc, count desc, s.id limit :limit`,
    { companyId, limit: MAX_LISTED },
  )
  return {
    name: 'schema_drift',
    summary,
    attention: attention.map(presentOpenChanges),
    ...(changes !== undefined && { since: { schema_changes: changes } }),
  }
}

async function countChangesSince(trx: Transaction, companyId: string, since: Date): Promise<number> {
  const [found] = await rows<{ count: number }>(
    trx,
    `select cast(count(*) as int) as count from schema_changes
     where company_id = :companyId and detected_at >= :since`,
    { companyId, since },
  )
  return found?.count ?? 0
}

function presentOpenChanges(open: {
  assetId: string
  assetName: string
  count: number
  isHigh: boolean
}): AttentionItem {
  return {
    type: 'schema_drift',
    severity: open.isHigh ? 'critical' : 'warning',
    title: `Schema changes of ${open.assetName} that are not acknowledged: ${open.count}`,
    asset_id: open.assetId,
    asset_name: open.assetName,
  }
}
