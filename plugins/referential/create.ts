import type { Server } from '@hapi/hapi'
import { v4 } from 'uuid'
import { ConnectorError } from '../../connectors/errors.ts'
import { comparison, incomparable } from '../../checks/referential.ts'
import type { Transaction } from '../../server/database/database.ts'
import { hasCode, hasErrorData, invalidInput, type InputError } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { Asset, CatalogApi, Table } from '../catalog/api.ts'
import { assertLimits, checksWithNames } from './checks.ts'
import { checkFields, type NewCheck } from './fields.ts'
import { ReferentialCheck, type NamedCheck } from './models.ts'

/** Two columns of one source. */
interface ColumnPair {
  source: Asset['source']
  child: Table
  parent: Table
}

/**
 * Finds the body of a check good for its tables. Both tables belong to the asset's source, the child to the asset itself where
 * that is a table. No transaction is open while the engine is asked whether it can compare the columns.
 * @throws 400 `VALIDATION_ERROR` naming the field, 404 `ASSET_NOT_FOUND`
 */
export async function configureCheck(
  server: Server,
  companyId: string,
  assetId: string,
  body: NewCheck,
): Promise<ColumnPair> {
  assertLimits(body)
  const { catalog } = server.plugins
  const pair = await server.db.company(companyId, async (trx): Promise<ColumnPair> => {
    const asset = await catalog.findAsset(trx, assetId)
    const { source } = asset
    const find = (of: Asset, path: string) => catalog.findTable(trx, of, path)
    return {
      source,
      child: await byField('child_table_path', find(asset, body.child_table_path)),
      parent: await byField('parent_table_path', find({ source }, body.parent_table_path)),
    }
  })
  const childColumn = catalog.findColumn(pair.child, body.child_column_name, 'child_column_name')
  const parentColumn = catalog.findColumn(pair.parent, body.parent_column_name, 'parent_column_name')
  const refusal = incomparable(childColumn, parentColumn) ?? (await askEngine(catalog, pair, body))
  if (refusal) throw invalidInput([{ field: 'parent_column_name', error: refusal }])
  return pair
}

/** Makes a check; it is due at once. `audit` is called in the same transaction. */
export async function createCheck(
  server: Server,
  companyId: string,
  assetId: string,
  body: NewCheck,
  audit: (trx: Transaction, check: NamedCheck) => Promise<unknown>,
): Promise<NamedCheck> {
  const { source, child, parent } = await configureCheck(server, companyId, assetId, body)
  const { child_column_name: childColumnName, parent_column_name: parentColumnName } = body
  const usualName = `${child.name}.${childColumnName} in ${parent.name}.${parentColumnName}`
  return server.db.company(companyId, async trx => {
    const { id } = await ReferentialCheck.query(trx)
      .insert({
        id: v4(),
        sourceId: source.id,
        tableId: child.id,
        childColumnName,
        parentTableId: parent.id,
        parentColumnName,
        name: usualName.slice(0, 200),
        ...columnsOf<ReferentialCheck>(checkFields, body),
      })
      .returning('id')
    const check = await checksWithNames(trx).findById(id).throwIfNotFound()
    await audit(trx, check)
    return check
  })
}

/** The catalog names the field as most bodies do. */
async function byField(field: string, finding: Promise<Table>): Promise<Table> {
  try {
    return await finding
  } catch (error) {
    const details = hasErrorData(error) ? error.data?.details : undefined
    if (details?.field !== 'table_path') throw error
    const {
      errors,
      field: _field,
      error: _error,
      ...more
    } = details as { errors: InputError[] } & Partial<InputError>
    throw invalidInput(
      errors.map(each => ({ ...each, field, error: each.error.replace('table_path', field) })),
      more,
    )
  }
}

/** Whether the engine compares the columns, such as uuid with text; without a session the first check shows it. */
async function askEngine(catalog: CatalogApi, { source, child, parent }: ColumnPair, body: NewCheck) {
  if (!source.isActive || source.queryAccessLevel === 'schema_only') return null
  const { dialect, label } = catalog.connectorOf(source)
  const question = comparison(
    dialect,
    { table: catalog.tableInfo(child), column: body.child_column_name },
    { parent: catalog.tableInfo(parent), parentColumn: body.parent_column_name },
  )
  try {
    await catalog.withConnection(source, connection => connection.query(question, { timeoutMs: 5_000 }), {
      purpose: 'dry_run',
    })
    return null
  } catch (error) {
    if (error instanceof ConnectorError) {
      return error.kind === 'invalid-query'
        ? `${label} cannot compare the two columns: ${error.message}`
        : null
    }
    if (hasCode(error, 'UNAVAILABLE')) return null
    throw error
  }
}
