import type { Connection } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { validateFilterOnEngine, validationSession } from '../../checks/engine-validation.ts'
import { findFilterProblem, readFilter } from '../../checks/plan.ts'
import { comparison, incomparable } from '../../checks/referential.ts'
import type { Transaction } from '../../server/database/database.ts'
import { hasCode, invalidField, invalidInput, type InputError } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { Asset, CatalogApi, Table } from '../catalog/api.ts'
import type { AskEngine, CheckChange, WindowColumns } from '../checks/api.ts'
import { insertChecks, namingField, refusalMessage, requestedWindow, withWindow } from '../checks/kit.ts'
import type { ReferentialDeps } from './deps.ts'
import { checkFields, type CheckPatch, type NewCheck } from './fields.ts'
import { ReferentialCheck, type NamedCheck } from './models.ts'

/** Two tables of one source, as a check is stored of them. */
interface ReferencePair {
  source: { id: string }
  child: { id: string; name: string }
  parent: { id: string; name: string }
}

/** Two tables of one source. */
interface TablePair {
  source: Asset['source']
  child: Table
  parent: Table
}

/** The tables of a check that was found good, and the window of the child's rows. */
export interface ConfiguredReference extends TablePair {
  window: WindowColumns
}

/**
 * Finds the body of a check good for its tables. Both tables belong to the asset's source, the child to the asset itself where
 * that is a table. No transaction is open while the engine is asked whether it can compare the columns.
 * @throws 400 `VALIDATION_ERROR` naming the field, 404 `ASSET_NOT_FOUND`
 */
export async function configureCheck(
  { catalog, db }: Pick<ReferentialDeps, 'catalog' | 'db'>,
  companyId: string,
  assetId: string,
  body: NewCheck,
): Promise<ConfiguredReference> {
  const pair = await db.company(companyId, async (trx): Promise<TablePair> => {
    const asset = await catalog.findAsset(trx, assetId)
    const { source } = asset
    return {
      source,
      child: await namingField('child_table_path', catalog.findTable(trx, asset, body.child_table_path)),
      parent: await findParent(catalog, trx, source, body.parent_table_path),
    }
  })
  return { ...pair, window: await assertComparable(catalog, pair, body, true) }
}

/**
 * Finds the columns and limits of a check good, wherever its tables came from.
 * @param asksEngine whether the engine is asked to compare the columns
 * @returns the window of the child's rows
 */
export async function assertComparable(
  catalog: CatalogApi,
  pair: TablePair,
  body: Omit<NewCheck, 'child_table_path'>,
  asksEngine: boolean | AskEngine,
): Promise<WindowColumns> {
  assertLimits(body)
  const childColumn = catalog.findColumn(pair.child, body.child_column_name, 'child_column_name')
  const parentColumn = catalog.findColumn(pair.parent, body.parent_column_name, 'parent_column_name')
  const { dialect } = catalog.connectorOf(pair.source)
  const error = incomparable(childColumn, parentColumn, dialect)
  if (error !== null) throw invalidInput([{ field: 'parent_column_name', error }])
  const table = catalog.tableInfo(pair.child)
  const loaded = { source: pair.source, table: pair.child }
  const window = requestedWindow(loaded, { type: { name: 'referential' }, config: {} }, body, {
    dialect,
    table,
    catalog,
  })
  const filterError = body.filter == null ? null : await findFilterProblem(body.filter, { dialect, table })
  if (filterError !== null) throw invalidInput([{ field: 'filter', error: filterError }])
  const refusal = asksEngine ? await askEngine(catalog, pair, body, asksEngine) : null
  if (refusal) throw invalidInput([refusal])
  return window
}

/** The parent table of a source by the path that a body names. */
export function findParent(catalog: CatalogApi, trx: Transaction, source: Asset['source'], path: string) {
  return namingField('parent_table_path', catalog.findTable(trx, { source }, path))
}

/** Makes a check; it is due at once. `audit` is called in the same transaction. */
export async function createCheck(
  deps: Pick<ReferentialDeps, 'catalog' | 'db'>,
  companyId: string,
  assetId: string,
  body: NewCheck,
  audit: (trx: Transaction, check: NamedCheck) => Promise<unknown>,
): Promise<NamedCheck> {
  const pair = await configureCheck(deps, companyId, assetId, body)
  return deps.db.company(companyId, async trx => {
    const [check] = await insertChecks(trx, ReferentialCheck, [rowOf(pair, withWindow(body, pair.window))])
    await audit(trx, check!)
    return check!
  })
}

/** The columns of a new check. @param body its columns and other fields, validated */
export function rowOf(
  { source, child, parent }: ReferencePair,
  body: Pick<NewCheck, 'child_column_name' | 'parent_column_name'>,
) {
  return {
    sourceId: source.id,
    tableId: child.id,
    otherTableId: parent.id,
    type: 'referential',
    columnName: body.child_column_name,
    parentColumnName: body.parent_column_name,
    name: usualName(child, parent, body),
    ...NO_LIMITS,
    ...columnsOf<ReferentialCheck>(checkFields, body),
  }
}

export const NO_LIMITS = {
  maxOrphanCount: null,
  maxOrphanPercent: null,
  minChildCount: null,
  maxChildCount: null,
}

/** The name of a check that is given none. */
export function usualName(
  child: { name: string },
  parent: { name: string },
  body: Pick<NewCheck, 'child_column_name' | 'parent_column_name'>,
): string {
  return `${child.name}.${body.child_column_name} in ${parent.name}.${body.parent_column_name}`.slice(0, 200)
}

const ENGINE_LIMITS = { timeoutMs: 5_000 }

/**
 * What the engine has against the filter, or against comparing the columns, such as uuid with text; without a session the
 * first check shows it.
 */
async function askEngine(
  catalog: CatalogApi,
  { source, child, parent }: TablePair,
  body: Pick<NewCheck, 'child_column_name' | 'parent_column_name' | 'filter'>,
  asked: true | AskEngine,
): Promise<InputError | null> {
  if (!source.isActive || source.queryAccessLevel === 'schema_only') return null
  const { dialect, label } = catalog.connectorOf(source)
  const table = catalog.tableInfo(child)
  const filter = body.filter == null ? undefined : readFilter(body.filter, { dialect, table })
  const question = comparison(
    dialect,
    { table, column: body.child_column_name },
    { parent: catalog.tableInfo(parent), parentColumn: body.parent_column_name },
  )
  // Views of the customer would be planned, which may run their functions, where it can be helped.
  const ask = async (connection: Connection): Promise<InputError | null> => {
    const session = validationSession(connection, ENGINE_LIMITS.timeoutMs)
    const error = await validateFilterOnEngine({ filter, table, dialect }, session).catch(refusalMessage)
    if (typeof error === 'string') return { field: 'filter', error }
    if (connection.validate) await connection.validate(question, ENGINE_LIMITS)
    else await connection.query(question, ENGINE_LIMITS)
    return null
  }
  try {
    return asked === true
      ? await catalog.withConnection(source, ask, { purpose: 'dry_run' })
      : await asked(ask)
  } catch (error) {
    if (error instanceof ConnectorError) {
      if (error.kind !== 'invalid-query') return null
      return {
        field: 'parent_column_name',
        error: `${label} cannot compare the two columns: ${error.message}`,
      }
    }
    if (hasCode(error, 'UNAVAILABLE')) return null
    throw error
  }
}

/** @throws 400 `VALIDATION_ERROR` when the limits of children per parent exclude every number */
function assertLimits({
  min_child_count: minimum = null,
  max_child_count: maximum = null,
}: Pick<CheckPatch, 'min_child_count' | 'max_child_count'>): void {
  if (minimum === null || maximum === null || Number(minimum) <= Number(maximum)) return
  throw invalidField('min_child_count', `must not be above max_child_count, which is ${maximum}`)
}

/** What a patch changes. @throws 400 `VALIDATION_ERROR` when the limits do not fit together any more */
export function changeOf(check: ReferentialCheck, patch: CheckPatch): CheckChange<ReferentialCheck> {
  assertLimits({ min_child_count: check.minChildCount, max_child_count: check.maxChildCount, ...patch })
  return { columns: columnsOf<ReferentialCheck>(checkFields, patch) }
}
