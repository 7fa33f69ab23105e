/** The impact of what was found: of a schema change, and of an alert. */
import type { Transaction } from '../../server/database/database.ts'
import { hasCode } from '../../server/http/errors.ts'
import type { CatalogApi, SchemaChange } from '../catalog/api.ts'
import type { ReachLookup } from '../alerts/api.ts'
import type { ImpactDeps } from './deps.ts'
import { assessChange, presentImpact } from './assess.ts'
import type { Level, PlannedChange } from './changes.ts'
import { findDependents, NO_DEPENDENTS, presentDependent, type Dependents } from './dependents.ts'

/** What a recorded schema change does to those who read the table. @throws 404 `CHANGE_NOT_FOUND` */
export async function readChangeImpact(deps: ImpactDeps, trx: Transaction, changeId: string) {
  const { catalog } = deps
  const change = await catalog.findChange(trx, changeId)
  const context = await catalog.loadTable(trx, change.tableId)
  const planned = plannedOf(change)
  if (!context || !planned) return presentNoImpact(change)
  const { source, table } = context
  const type = (change.oldValue as { data_type?: string } | null)?.data_type
  const column = planned.column === undefined ? undefined : { name: planned.column, ...(type && { type }) }
  return presentImpact(
    await assessChange(deps, trx, source, planned, { tables: [table], ...(column && { column }) }),
  )
}

/** A recorded change as one that is planned; undefined of one that no reader notices. */
function plannedOf(change: SchemaChange): PlannedChange | undefined {
  const { changeType, tablePath: table, objectName, oldValue, newValue } = change
  const [before, after] = [oldValue, newValue] as ({
    name?: string
    data_type?: string
    nullable?: boolean
  } | null)[]
  if (changeType === 'table_removed') return { change: 'drop_table', table }
  if (changeType === 'column_removed') return { change: 'drop_column', table, column: objectName }
  if (changeType === 'column_renamed')
    return {
      change: 'rename_column',
      table,
      column: before?.name ?? objectName,
      ...(after?.name && { new_name: after.name }),
    }
  if (changeType !== 'column_type_changed') return undefined
  if (before?.data_type === after?.data_type && before?.nullable !== after?.nullable)
    return { change: after?.nullable ? 'drop_not_null' : 'add_not_null', table, column: objectName }
  return {
    change: 'retype_column',
    table,
    column: objectName,
    ...(after?.data_type && { new_type: after.data_type }),
  }
}

function presentNoImpact({ changeType, tablePath, objectName, objectType }: SchemaChange) {
  const sentence = `${changeType.replaceAll('_', ' ')} of ${tablePath}: it takes nothing from those who read the table`
  return {
    change: changeType,
    table: null,
    schema: null,
    column: objectType === 'column' ? objectName : null,
    new_name: null,
    old_type: null,
    new_type: null,
    level: 'none' satisfies Level,
    sentence,
    tables: [],
    dashboards: [],
    owners: [],
    checks: [],
    contracts: [],
    is_complete: true,
  }
}

/** Fields of the details of alerts that name a column of their table. */
const COLUMN_FIELDS = ['column_name', 'child_column_name'] as const

/** What is made from the table of an alert, or from its column where it is about one. @throws 404 `ALERT_NOT_FOUND` */
export async function readAlertImpact(deps: ImpactDeps, trx: Transaction, alertId: string) {
  const { assetId, details } = await deps.alerts.findSubject(trx, alertId)
  const { table, column, owners, dependents } = await findReach(deps, trx, assetId, details)
  return {
    alert_id: alertId.toLowerCase(),
    asset_id: table?.id ?? assetId,
    column: column ?? null,
    level: levelOf(dependents),
    sentence: describeDependents(dependents),
    asset_owners: owners.map(({ type, id, name, email }) => ({ type, id, name, email })),
    tables: dependents.tables.map(presentDependent),
    dashboards: dependents.dashboards.map(presentDependent),
    owners: dependents.owners,
    is_complete: dependents.isComplete,
  }
}

/** The same for the page of the alert, which shows it beside much else. */
export function makeReachLookup(deps: ImpactDeps): ReachLookup {
  return {
    async readReach(trx, { assetId, details }) {
      const { owners, dependents } = await findReach(deps, trx, assetId, details)
      return { ...dependents, assetOwners: owners }
    },
  }
}

async function findReach(
  deps: ImpactDeps,
  trx: Transaction,
  assetId: string | null,
  details: Record<string, unknown>,
) {
  const context = assetId === null ? undefined : await loadAlertTable(deps.catalog, trx, assetId)
  if (!context) return { owners: [], dependents: NO_DEPENDENTS }
  const { table } = context
  const name = COLUMN_FIELDS.map(field => details[field]).find(value => typeof value === 'string')
  const column = table.columns.some(each => each.name === name) ? (name as string) : undefined
  const dependents = await findDependents(deps, trx, [table.id], column === undefined ? undefined : [column])
  const owners = (await deps.owners.ownersOf(trx, [table.id])).get(table.id) ?? []
  return { table, column, owners, dependents }
}

/** The table of an alert; undefined of a source, and of what is gone. */
async function loadAlertTable(catalog: CatalogApi, trx: Transaction, assetId: string) {
  try {
    const { source, table } = await catalog.findAsset(trx, assetId)
    return table && { source, table }
  } catch (error) {
    if (hasCode(error, 'ASSET_NOT_FOUND')) return undefined
    throw error
  }
}

/** Wrong data stops nothing, so it is one level below what a removal would be. */
function levelOf({ tables, dashboards }: Dependents): Level {
  const isCertain = (some: readonly { certainty: string }[]) =>
    some.some(({ certainty }) => certainty === 'certain')
  if (isCertain(dashboards)) return 'high'
  if (isCertain(tables) || dashboards.length > 0) return 'medium'
  return tables.length > 0 ? 'low' : 'none'
}

function describeDependents({ tables, dashboards }: Dependents): string {
  if (tables.length + dashboards.length === 0) return 'Nothing that is known is made from it'
  const counts = [
    [dashboards.length, 'dashboard'],
    [tables.length, 'table'],
  ] as const
  const parts = counts.flatMap(([count, what]) =>
    count > 0 ? [`${count} ${what}${count === 1 ? '' : 's'}`] : [],
  )
  const isSingle = tables.length + dashboards.length === 1
  return `${parts.join(' and ')} ${isSingle ? 'is' : 'are'} made from it`
}
