import { v7 } from 'uuid'
import { insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AlertsApi } from '../../alerts/api.ts'
import type { Asset } from '../assets/assets.ts'
import { SchemaBaseline, Table, type Source } from '../models.ts'
import { lockSource } from '../locks.ts'

/** Who accepts, and what for. */
interface Acceptance {
  /** `user:<id>` or `key:<id>`. */
  by: string
  description?: string | null
}

/** Open changes to acknowledge: those of a source, of one table of it, or only some of these. */
interface ChosenChanges extends Asset {
  changeIds?: readonly string[]
}

/** Why the alert of a table was resolved. */
const ACCEPTED = 'What it has become was accepted'
const ALL_ACKNOWLEDGED = 'All its changes were acknowledged'
const DISMISSED = 'Its alert was dismissed as expected'

/**
 * Takes what a source, or one table of it, is now for right: nothing of it differs from its baseline any more, its
 * open changes are acknowledged, and their alerts resolved.
 * @throws 409 `CONFLICT` while nothing is known of the source
 */
export async function acceptBaseline(
  alerts: AlertsApi,
  trx: Transaction,
  asset: Asset,
  { by, description = null }: Acceptance,
): Promise<SchemaBaseline> {
  const source = await lockSource(trx, asset.source.id)
  if (source.lastDiscoveryAt === null) {
    throw apiError(
      'CONFLICT',
      `${source.name} was never discovered, so there is nothing to accept: discover it first`,
      {
        asset_id: source.id,
        suggestion: `POST /api/v1/sdk/assets/${source.id}/discover; what it finds is the first baseline`,
      },
    )
  }
  // Read again under the lock: a discovery may have changed it.
  const table = asset.table && (await Table.query(trx).findById(asset.table.id).throwIfNotFound())
  const settled = await acceptState(trx, { source, table }, by)
  await alerts.resolveAll(trx, 'schema_change', settled, ACCEPTED)
  return SchemaBaseline.query(trx).insertAndFetch({
    id: v7(),
    sourceId: source.id,
    tableId: table?.id ?? null,
    description,
    ...(table ? countsOf(table) : { tableCount: source.tableCount, columnCount: source.columnCount }),
    capturedBy: by,
  })
}

/**
 * Acknowledges open changes. A table of which none is open any more is accepted as it is.
 * @returns how many were open; 0 when all were acknowledged before
 */
export async function acknowledgeChanges(
  alerts: AlertsApi,
  trx: Transaction,
  { source, table, changeIds }: ChosenChanges,
  by: string,
): Promise<number> {
  const { companyId, id: sourceId } = await lockSource(trx, source.id)
  const touched = await rows<{ tableId: string; count: number }>(
    trx,
    `with done as (
       update schema_changes set is_acknowledged = true, acknowledged_at = now(), acknowledged_by = :by
       where company_id = :companyId and source_id = :sourceId and not is_acknowledged
         and (cast(:tableId as uuid) is null or table_id = :tableId)
         and (cast(:changeIds as uuid[]) is null or id = any(cast(:changeIds as uuid[])))
       returning table_id)
     select table_id, count(*)::int as count from done group by table_id`,
    { by, companyId, sourceId, tableId: table?.id ?? null, changeIds: changeIds ?? null },
  )
  if (touched.length === 0) return 0
  const accepted = await acceptSettled(
    trx,
    source,
    touched.map(({ tableId }) => tableId),
    by,
  )
  await alerts.resolveAll(trx, 'schema_change', accepted, ALL_ACKNOWLEDGED)
  return touched.reduce((sum, { count }) => sum + count, 0)
}

/** Accepts the table that a dismissed alert spoke of. The alert itself is left to its dismissal. */
export async function learnExpected(trx: Transaction, { cause, actor }: { cause: string; actor: string }) {
  const known = await Table.query(trx).findById(cause)
  if (!known) return false
  const source = await lockSource(trx, known.sourceId)
  const table = await Table.query(trx).findById(cause).throwIfNotFound()
  await acceptState(trx, { source, table }, actor)
  await insertBaselines(trx, [table], { by: actor, description: DISMISSED })
  return true
}

/**
 * Accepts a source that was never accepted, unless it has open changes, which are for people to review. What
 * was never discovered has its baseline in the first discovery to come.
 */
export async function acceptOnce(
  alerts: AlertsApi,
  trx: Transaction,
  source: Source,
  acceptance: Acceptance,
) {
  const { companyId, id: sourceId, lastDiscoveryAt } = await lockSource(trx, source.id)
  if (lastDiscoveryAt === null) return
  const [hindrance] = await rows(
    trx,
    `select from schema_baselines where company_id = :companyId and source_id = :sourceId and table_id is null
     union all
     select from schema_changes where company_id = :companyId and source_id = :sourceId and not is_acknowledged
     union all
     select from tables where company_id = :companyId and source_id = :sourceId and baseline is not null
     limit 1`,
    { companyId, sourceId },
  )
  if (!hindrance) await acceptBaseline(alerts, trx, { source }, acceptance)
}

/** Acknowledges all open changes, and makes what is stored what was accepted. @returns the tables that had drifted */
async function acceptState(trx: Transaction, { source, table }: Asset, by: string): Promise<string[]> {
  const settled = await rows<{ id: string }>(
    trx,
    `with acknowledged as (
       update schema_changes set is_acknowledged = true, acknowledged_at = now(), acknowledged_by = :by
       where company_id = :companyId and source_id = :sourceId and not is_acknowledged
         and (cast(:tableId as uuid) is null or table_id = :tableId)
       returning table_id),
     accepted as (
       update tables set baseline = null
       where company_id = :companyId and source_id = :sourceId and baseline is not null
         and (cast(:tableId as uuid) is null or id = :tableId)
       returning id)
     select table_id as id from acknowledged union select id from accepted`,
    { by, companyId: source.companyId, sourceId: source.id, tableId: table?.id ?? null },
  )
  return settled.map(({ id }) => id)
}

/** Accepts those of some tables that have no open change left. @returns their ids */
async function acceptSettled(
  trx: Transaction,
  { companyId, id: sourceId }: Source,
  tableIds: readonly string[],
  by: string,
): Promise<string[]> {
  const accepted = await rows<AcceptedTable>(
    trx,
    `update tables t set baseline = null
     where company_id = :companyId and source_id = :sourceId and id = any(cast(:tableIds as uuid[]))
       and not exists (
         select from schema_changes c
         where c.company_id = :companyId and c.source_id = :sourceId and c.table_id = t.id and not c.is_acknowledged)
     returning id, source_id, is_active, column_count`,
    { companyId, sourceId, tableIds },
  )
  await insertBaselines(trx, accepted, { by, description: ALL_ACKNOWLEDGED })
  return accepted.map(({ id }) => id)
}

type AcceptedTable = Pick<Table, 'id' | 'sourceId' | 'isActive' | 'columnCount'>

/** Stores that tables were accepted one by one. */
async function insertBaselines(
  trx: Transaction,
  tables: readonly AcceptedTable[],
  { by, description }: Acceptance,
): Promise<void> {
  await insertAll(
    tables.map(table => ({
      id: v7(),
      sourceId: table.sourceId,
      tableId: table.id,
      description,
      ...countsOf(table),
      capturedBy: by,
    })),
    chunk => SchemaBaseline.query(trx).insert(chunk),
  )
}

/** A table that was accepted as gone counts as none. */
function countsOf({ isActive, columnCount }: AcceptedTable): { tableCount: number; columnCount: number } {
  return isActive ? { tableCount: 1, columnCount } : { tableCount: 0, columnCount: 0 }
}
