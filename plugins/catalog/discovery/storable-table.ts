import type { TableInfo } from '../../../connectors/catalog.ts'
import { isStorable, storable } from '../../../server/database/storable.ts'

/** A table as it can be stored: some engines have any character in comments, defaults and types. */
export function storableTable(table: TableInfo): TableInfo {
  if (!isRefused(table)) return table
  const { columnsError: unread, constraintsError: unreadConstraints, ...rest } = table
  const clean = JSON.parse(JSON.stringify(rest), (_, value: unknown) =>
    typeof value === 'string' ? storable(value) : value,
  ) as TableInfo
  return {
    ...clean,
    ...(unread && { columnsError: unread }),
    ...(unreadConstraints && { constraintsError: unreadConstraints }),
  }
}

function isRefused({ catalog, schema, name, comment, columns, constraints }: TableInfo): boolean {
  const is = (text: string | null) => text !== null && !isStorable(text)
  return (
    [catalog, schema, name, comment].some(is) ||
    columns.some(
      column => is(column.name) || is(column.rawType) || is(column.default) || is(column.comment),
    ) ||
    constraints.some(constraint => is(constraint.name))
  )
}
