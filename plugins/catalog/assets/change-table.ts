import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import type { CatalogDeps } from '../deps.ts'
import type { TableWindow } from '../../../server/http/check-schemas.ts'
import { Table, type Source } from '../models.ts'
import { connectorOf } from '../sources/config.ts'
import { tableInfo } from './assets.ts'
import { presentTable } from './present.ts'
import { readExtensionFields } from './table-record.ts'
import { findTableWindowProblem } from './table-window.ts'

/** What a PATCH of a table sets. */
export interface TablePatch {
  description?: string | null
  default_window?: TableWindow | null
}

const TABLE_FIELDS: readonly string[] = ['description', 'default_window'] satisfies (keyof TablePatch)[]

/** Changes what can be set of a table, and gives its record. @throws 400 for other fields, or a window that does not fit */
export async function changeTable(
  { connectors, extensions }: CatalogDeps,
  trx: Transaction,
  { source, table }: { source: Source; table: Table },
  patch: TablePatch,
) {
  const others = Object.keys(patch).filter(field => !TABLE_FIELDS.includes(field))
  if (others.length > 0)
    throw apiError(
      'VALIDATION_ERROR',
      `Of a table only ${TABLE_FIELDS.join(' and ')} can be changed, not ${others.join(', ')}`,
      { field: others[0], error: 'belongs to the source' },
    )
  const { description, default_window: window } = patch
  if (window) assertTableWindow(connectors, { source, table }, window)
  const changed = await Table.query(trx).patchAndFetchById(table.id, {
    ...(description !== undefined && { description }),
    ...(window !== undefined && { windowSetting: window }),
    updatedAt: new Date(),
  })
  const known = await readExtensionFields(trx, extensions, [table.id])
  const extensionFields = known.get(table.id) ?? {}
  return presentTable(connectors, source, changed, { extensionFields, withColumns: true })
}

/** @throws 400 `VALIDATION_ERROR` on the field of the window that does not fit the table */
export function assertTableWindow(
  connectors: CatalogDeps['connectors'],
  { source, table }: { source: Source; table: Table },
  window: TableWindow,
): void {
  const { dialect } = connectorOf(connectors, source)
  const problem = findTableWindowProblem(window, tableInfo(table), dialect)
  if (problem) throw invalidField(`default_window.${problem.field}`, problem.error)
}

/** The fields of a source's patch. @throws 400 `VALIDATION_ERROR` for those of a table */
export function withoutTableFields<Patch extends TablePatch>({
  default_window: window,
  ...rest
}: Patch): Omit<Patch, 'default_window'> {
  if (window === undefined) return rest
  throw invalidField('default_window', 'is set for a table: give its UUID or qualified name in the path')
}
