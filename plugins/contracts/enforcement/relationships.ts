import { listElements, type ContractNode } from '../elements.ts'
import { physicalName, textOf } from './document.ts'
import type { NoRule } from './rule.ts'

/** A column and what it refers to, in the names of the database. */
interface Reference {
  column: string
  parent: { parentTable: string; parentColumn: string }
}

/** A column of a contract, in the names of the database. */
interface End {
  table: string
  column: string
}

/** The columns of a contract by what relationships call them: `customers.id`, or `schema/…/properties/…` by ids. */
export type NamedColumns = ReadonlyMap<string, End>

export function indexColumns(contract: ContractNode): NamedColumns {
  const columns = new Map<string, End>()
  for (const { name, reference, column } of listElements(contract)) {
    if (!column) continue
    const end = { table: physicalName(column.object), column: physicalName(column.property) }
    for (const key of [name, ...(reference === undefined ? [] : [reference, `/${reference}`])])
      if (!columns.has(key)) columns.set(key, end)
  }
  return columns
}

/**
 * Reads a relationship of a property, or of an object, as a reference of one column to another.
 * @param owner the table that has the relationship, and the column if it stands at one
 * @returns why it cannot be checked, if it cannot
 */
export function readReference(
  columns: NamedColumns,
  relationship: ContractNode,
  { table, column }: { table: string; column: string | null },
): Reference | NoRule {
  const from = column === null ? findEnd(columns, relationship.from) : { table, column }
  if ('reason' in from) return from
  if (from.table !== table) return { reason: `it begins at ${from.table}: put it there` }
  const to = findEnd(columns, relationship.to)
  if ('reason' in to) return to
  return { column: from.column, parent: { parentTable: to.table, parentColumn: to.column } }
}

function findEnd(columns: NamedColumns, given: unknown): End | NoRule {
  const ends = [given].flat()
  if (ends.length > 1) return { reason: 'keys of several columns are not checked: use a rule of type sql' }
  const end = textOf(ends[0]) ?? ''
  if (end.includes('#'))
    return { reason: 'it refers to another contract: create a referential check, or add its table' }
  return (
    columns.get(end) ?? {
      reason: `the contract has no column ${end}: create a referential check, or add its table`,
    }
  )
}
