import type { ContractNode } from '../elements.ts'
import { nodes, physicalName, textOf } from './document.ts'
import type { NoRule } from './rule.ts'

/** A column and what it refers to, in the names of the database. */
interface Reference {
  column: string
  parentTable: string
  parentColumn: string
}

/** A column of a contract, in the names of the database. */
interface End {
  table: string
  column: string
}

/**
 * Reads a relationship of a property, or of an object, as a reference of one column to another.
 * @param owner the table that has the relationship, and the column if it stands at one
 * @returns why it cannot be checked, if it cannot
 */
export function readReference(
  contract: ContractNode,
  relationship: ContractNode,
  owner: { table: string; column: string | null },
): Reference | NoRule {
  const from =
    owner.column === null
      ? findEnd(contract, relationship.from)
      : { table: owner.table, column: owner.column }
  if ('reason' in from) return from
  if (from.table !== owner.table) return { reason: `it begins at ${from.table}: put it there` }
  const to = findEnd(contract, relationship.to)
  if ('reason' in to) return to
  return { column: from.column, parentTable: to.table, parentColumn: to.column }
}

/** The column that an end of a relationship names: `customers.id`, or `schema/…/properties/…` by ids. */
function findEnd(contract: ContractNode, given: unknown): End | NoRule {
  const ends = [given].flat()
  if (ends.length > 1) return { reason: 'keys of several columns are not checked: use a rule of type sql' }
  const end = textOf(ends[0])?.replace(/^\//, '') ?? ''
  if (end.includes('#'))
    return { reason: 'it refers to another contract: create a referential check, or add its table' }
  for (const object of nodes(contract.schema))
    for (const property of nodes(object.properties)) {
      const byName = `${textOf(object.name)}.${textOf(property.name)}`
      const byIds = `schema/${textOf(object.id)}/properties/${textOf(property.id)}`
      if (end === byName || end === byIds)
        return { table: physicalName(object), column: physicalName(property) }
    }
  return { reason: `the contract has no column ${end}: create a referential check, or add its table` }
}
