import type { ConstraintInfo, TableInfo } from '../../../connectors/catalog.ts'
import { findColumn, type Bindings } from './bindings.ts'
import type { Clause, ClauseVerdict } from './clause.ts'
import { logicalTypeMismatch, physicalTypeMismatch } from './column-types.ts'

const PASSING: ClauseVerdict = { status: 'passing', reason: null }
const failing = (reason: string): ClauseVerdict => ({ status: 'failing', reason })
const pending = (reason: string): ClauseVerdict => ({ status: 'pending', reason })
/** What is promised of a column that is missing does not hold; that the column is missing has a clause of its own. */
const failingWithColumn = (column: string): ClauseVerdict => ({
  ...failing(`the column ${column} is missing`),
  needsNoAlert: true,
})

/**
 * Judges a clause by the catalog alone.
 * @returns `measured` if only the data can tell: a check has to
 */
export function judgeByCatalog(clause: Clause, bindings: Bindings): ClauseVerdict | 'measured' {
  const { demand, table: name, column } = clause
  if (demand.of === 'nothing') return { status: 'not_enforced', reason: demand.reason }
  const binding = name === null ? undefined : bindings.get(name)
  if (!binding) return { status: 'not_enforced', reason: 'it names no table' }
  if ('missing' in binding) return demand.of === 'table' ? failing(binding.missing) : pending(binding.missing)
  const { info } = binding
  if (demand.of === 'table') return PASSING
  if (demand.of === 'table_kind')
    return info.kind === demand.kind ? PASSING : failing(`it is a ${info.kind.replaceAll('_', ' ')}`)
  if (demand.of === 'extra_columns') return judgeExtraColumns(info, demand.columns)
  if (demand.of === 'primary_key') return judgeKey(info, demand.columns)
  if (column === null) return 'measured'
  const found = findColumn(info, column)
  if (!found) {
    return demand.of === 'column'
      ? failing(`there is no column ${column} in ${name}`)
      : failingWithColumn(column)
  }
  switch (demand.of) {
    case 'column':
      return PASSING
    case 'type': {
      const mismatch =
        (demand.physicalType === undefined ? null : physicalTypeMismatch(demand.physicalType, found)) ??
        (demand.logicalType === undefined
          ? null
          : logicalTypeMismatch(demand.logicalType, found, demand.isWideDate))
      return mismatch === null ? PASSING : failing(mismatch)
    }
    case 'required':
      return found.nullable ? 'measured' : PASSING
    case 'unique':
      return isUnique(info, [found.name]) ? PASSING : 'measured'
    default:
      return 'measured'
  }
}

function judgeExtraColumns(info: TableInfo, columns: readonly string[]): ClauseVerdict {
  const known = new Set(columns.flatMap(name => findColumn(info, name)?.name ?? []))
  const extra = info.columns.filter(({ name }) => !known.has(name)).map(({ name }) => name)
  if (extra.length === 0) return PASSING
  const more = extra.length > MAX_NAMED_COLUMNS ? ` and ${extra.length - MAX_NAMED_COLUMNS} more` : ''
  return failing(`the contract does not have ${extra.slice(0, MAX_NAMED_COLUMNS).join(', ')}${more}`)
}

const MAX_NAMED_COLUMNS = 10

/** Another primary key breaks the contract; where there is none, as many engines have none, the data tells. */
function judgeKey(info: TableInfo, columns: readonly string[]): ClauseVerdict | 'measured' {
  const found = columns.map(name => findColumn(info, name))
  const missing = columns.find((_, place) => !found[place])
  if (missing !== undefined) return failingWithColumn(missing)
  const names = found.map(column => column!.name)
  const key = info.constraints.find(({ type }) => type === 'primary_key')
  if (key && !isSameSet(key.columns, names)) return failing(`its primary key is ${key.columns.join(', ')}`)
  if (key) return PASSING
  const areRequired = found.every(column => !column!.nullable)
  return areRequired && isUnique(info, names) ? PASSING : 'measured'
}

function isUnique(info: TableInfo, columns: readonly string[]): boolean {
  const guarantees = ({ type, columns: of, properties }: ConstraintInfo) =>
    type !== 'foreign_key' &&
    // Values that differ may have an equal prefix.
    !properties?.prefixLengths?.some(length => length !== null) &&
    of.length > 0 &&
    of.every(name => columns.includes(name))
  return info.constraints.some(guarantees)
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(name => b.includes(name))
}
