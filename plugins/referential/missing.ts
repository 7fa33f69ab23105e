import Joi from 'joi'
import { v4 } from 'uuid'
import { insertAll, type Transaction } from '../../server/database/database.ts'
import type { MissingReference, MissingReferencesRequest } from './api.ts'
import { rowOf } from './create.ts'
import type { NewCheck } from './fields.ts'
import { ReferentialCheck } from './models.ts'
import { newCheck } from './schemas.ts'

/** Creates the checks that columns lack, with the defaults of a new one. A column with any check lacks none. */
export async function createMissingReferences(
  trx: Transaction,
  { source, interval, references, isDryRun }: MissingReferencesRequest,
): Promise<MissingReference[]> {
  if (references.length === 0) return []
  const keyOf = (tableId: string, column: string | null) => JSON.stringify([tableId, column])
  const existing = await ReferentialCheck.query(trx)
    .where('sourceId', source.id)
    .whereRaw('table_id = any(cast(? as uuid[]))', [[...new Set(references.map(({ child }) => child.id))]])
    .select('tableId', 'columnName')
  const known = new Set(existing.map(({ tableId, columnName }) => keyOf(tableId, columnName)))
  const missing = references.filter(({ child }) => !known.has(keyOf(child.id, child.column)))
  if (isDryRun) return missing
  const paths = { child_table_path: 'any', parent_table_path: 'any' }
  const columns = { child_column_name: 'any', parent_column_name: 'any' }
  const body = Joi.attempt({ ...paths, ...columns, capture_interval: interval }, newCheck) as NewCheck
  const created = missing.map(({ child, parent }) => {
    const columns = { child_column_name: child.column, parent_column_name: parent.column }
    return { uuid: v4(), ...rowOf({ source, child, parent }, { ...body, ...columns }) }
  })
  await insertAll(created, chunk => ReferentialCheck.query(trx).insert(chunk))
  return missing
}
