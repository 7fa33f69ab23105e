import type { QueryBuilder } from 'objection'
import { v7 } from 'uuid'
import { formatName } from '../../../connectors/catalog.ts'
import { insertAll, type Transaction } from '../../../server/database/database.ts'
import type { AlertEvent, AlertsApi } from '../../alerts/api.ts'
import { tagsOfColumns } from '../assets/assets.ts'
import type { SchemaDifference, ChangeType, Impact } from './diff.ts'
import type { TableDrift } from './drift.ts'
import { SchemaChange, Table, type Source } from '../models.ts'
import { describeDifference } from './value-text.ts'
import { dropBaselines } from '../discovery/store.ts'

/** What a discovery found different, and where it is to be stored. */
interface RecordedDrift {
  source: Source
  runId: string
  drifts: readonly TableDrift[]
  /** The ids of tables by path. */
  ids: ReadonlyMap<string, string>
}

/** Who acknowledges a change that was taken back, and one of a table that is no longer watched. */
const REVERTED = 'reverted'
const EXCLUDED = 'excluded'

/**
 * Stores changes, and raises one alert for each table that changed, at its worst change. What takes an earlier
 * change back is stored too, acknowledges that one, and raises none; a table that is again what was accepted has its
 * alert resolved.
 * @returns how many changes were stored
 */
export async function recordDrift(
  alerts: AlertsApi,
  trx: Transaction,
  drifted: RecordedDrift,
): Promise<number> {
  const { drifts } = drifted
  if (drifts.length === 0) return 0
  const standing = await acknowledgeReverted(trx, drifted)
  const stored = await storeChanges(trx, drifted)
  const reverted = drifts.filter(({ isReverted }) => isReverted)
  const causes = reverted.map(({ path }) => idOf(drifted, path))
  await alerts.resolveAll(trx, 'schema_change', causes, 'The schema is again what was accepted')
  // What is left of the differences was acknowledged one by one before.
  const settled = drifts
    .filter(({ news, isReverted }) => news.length === 0 && !isReverted)
    .map(({ path }) => idOf(drifted, path))
    .filter(id => !standing.has(id))
  await dropBaselines(trx, drifted.source, settled)
  await alerts.resolveAll(trx, 'schema_change', settled, 'What is left of it was acknowledged')
  await alerts.raiseAll(trx, await eventsOf(trx, drifted))
  return stored
}

function idOf({ ids }: RecordedDrift, path: string): string {
  const id = ids.get(path)
  if (!id) throw new Error(`No table is stored for ${path}`)
  return id
}

async function storeChanges(trx: Transaction, drifted: RecordedDrift): Promise<number> {
  const { source, runId, drifts } = drifted
  const row = ({ path, isKeyWeakened: _, ...change }: SchemaDifference, isTakenBack: boolean) => ({
    id: v7(),
    ...change,
    sourceId: source.id,
    tableId: idOf(drifted, path),
    tablePath: path,
    discoveryId: runId,
    isAcknowledged: isTakenBack,
    acknowledgedAt: isTakenBack ? new Date() : null,
    acknowledgedBy: isTakenBack ? REVERTED : null,
  })
  const all = drifts.flatMap(({ news, takenBack }) => [
    ...news.map(change => row(change, false)),
    ...takenBack.map(change => row(change, true)),
  ])
  await insertAll(all, chunk => SchemaChange.query(trx).insert(chunk))
  return all.length
}

/**
 * Acknowledges the open changes that are no longer a difference to what was accepted.
 * @returns the tables of which any is left
 */
async function acknowledgeReverted(trx: Transaction, drifted: RecordedDrift): Promise<Set<string>> {
  const drifts = new Map(drifted.drifts.map(drift => [idOf(drifted, drift.path), drift]))
  const open = await SchemaChange.query(trx)
    .where({ isAcknowledged: false })
    .whereRaw('table_id = any(?)', [[...drifts.keys()]])
  const reverted = [...Map.groupBy(open, change => change.tableId)].flatMap(([tableId, rows]) => {
    const changes = rows.map(changeOf)
    const standing = drifts.get(tableId)?.standing(changes)
    return rows.filter((_, index) => !standing?.has(changes[index]!)).map(({ id }) => id)
  })
  const gone = new Set(reverted)
  if (gone.size > 0)
    await acknowledgedBy(REVERTED, SchemaChange.query(trx).whereRaw('id = any(?)', [reverted]))
  return new Set(open.flatMap(({ id, tableId }) => (gone.has(id) ? [] : tableId)))
}

/** Leaves nothing open of tables that the patterns of their source no longer name. */
export async function acknowledgeExcluded(alerts: AlertsApi, trx: Transaction, tableIds: readonly string[]) {
  if (tableIds.length === 0) return
  const open = SchemaChange.query(trx).where({ isAcknowledged: false })
  await acknowledgedBy(EXCLUDED, open.whereRaw('table_id = any(?)', [[...tableIds]]))
  await alerts.resolveOrphaned(trx, { type: 'schema_change', causes: tableIds })
}

async function acknowledgedBy(by: string, changes: QueryBuilder<SchemaChange>): Promise<void> {
  await changes.patch({ isAcknowledged: true, acknowledgedAt: new Date(), acknowledgedBy: by })
}

/** A stored change as the comparison made it. */
function changeOf(change: SchemaChange): SchemaDifference {
  const { tablePath: path, changeType, objectName, objectType, oldValue, newValue, impact } = change
  return { path, changeType: changeType as ChangeType, objectName, objectType, oldValue, newValue, impact }
}

const IMPACT_RANK: Record<Impact, number> = { low: 0, medium: 1, high: 2 }
/** How bad a change is, in the words of alerts. */
export const SEVERITY = { low: 'info', medium: 'warning', high: 'critical' } as const

/** The impact that an alert of a change is raised with: a key that lets in what it refused is of the highest. */
function alertImpact({ impact, isKeyWeakened }: SchemaDifference): Impact {
  return isKeyWeakened ? 'high' : impact
}

async function eventsOf(trx: Transaction, drifted: RecordedDrift): Promise<AlertEvent[]> {
  const news = drifted.drifts.filter(drift => drift.news.length > 0)
  if (news.length === 0) return []
  const tables = await Table.query(trx)
    .select('id', 'kind', 'tags', 'columnTags')
    .whereRaw('id = any(?)', [news.map(({ path }) => idOf(drifted, path))])
  const byId = new Map(tables.map(table => [table.id, table]))
  const { source } = drifted
  return news.map(({ path, news: changes }): AlertEvent => {
    const worst = changes.reduce((a, b) =>
      IMPACT_RANK[alertImpact(b)] > IMPACT_RANK[alertImpact(a)] ? b : a,
    )
    const id = idOf(drifted, path)
    const table = byId.get(id)
    if (!table) throw new Error(`Table ${id} vanished under its source's lock`)
    const columns = changes.flatMap(({ objectType, objectName }) =>
      objectType === 'column' ? [objectName] : [],
    )
    return {
      type: 'schema_change',
      cause: id,
      severity: SEVERITY[alertImpact(worst)],
      sourceId: source.id,
      asset: {
        id,
        qualifiedName: `${formatName([source.name])}.${path}`,
        assetType: table.kind,
        tags: tagsOfColumns(source, table, columns),
      },
      ruleName: 'Schema drift',
      title: { found: describeChanges(changes, worst) },
      changeType: worst.changeType,
      details: details(worst, path, changes),
    }
  })
}

function describeChanges(changes: readonly SchemaDifference[], worst: SchemaDifference): string {
  const more = changes.length - 1
  return `${describeDifference(worst)}${more > 0 ? `, and ${more} more ${more === 1 ? 'change' : 'changes'}` : ''}`
}

/** Changes listed in an alert. */
const MAX_ALERT_CHANGES = 50

function details(worst: SchemaDifference, path: string, changes: readonly SchemaDifference[]) {
  const value = (worst.newValue ?? worst.oldValue) as { data_type?: string } | null
  const column =
    worst.objectType === 'column' ? { column_name: worst.objectName, column_type: value?.data_type } : {}
  return {
    ...column,
    table_path: path,
    change_count: changes.length,
    old_value: worst.oldValue,
    new_value: worst.newValue,
    changes: changes.slice(0, MAX_ALERT_CHANGES).map(({ changeType, objectName, objectType, impact }) => ({
      change_type: changeType,
      object_name: objectName,
      object_type: objectType,
      impact,
    })),
  }
}
