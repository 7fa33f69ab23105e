import type { Capabilities, Capability } from '../connectors/connector.ts'
import type { CheckType } from './check.ts'
import { takesColumn } from './column-values.ts'
import type { ColumnInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'

/** What of a column decides whether a check type applies to it. */
export type SuitedColumn = Pick<ColumnInfo, 'name' | 'type' | 'kind' | 'base' | 'isIncomparable'>

/** Returns a sentence that says why a check type does not apply to a column, or null. */
export function describeUnsuitedColumn(
  type: CheckType,
  column: SuitedColumn,
  dialect: Dialect,
): string | null {
  if (type.kinds && !takesColumn(type, column, dialect))
    return `${type.name} works on ${type.kinds.join(', ')} columns; ${column.name} is ${column.type}`
  if (type.comparesValues && !dialect.isComparable(column))
    return `${type.name} compares values, which the engine cannot for ${column.name} of type ${column.type}: choose another column`
  if (type.readsText && !dialect.isPrintable(column))
    return `${type.name} reads values as text, which the engine does not give for ${column.name} of type ${column.type}: choose another column`
  return null
}

/** Returns a sentence that says why a metric cannot be grouped by a column, or null. */
export function describeUngroupableColumn(
  column: SuitedColumn,
  dialect: Pick<Dialect, 'isComparable'>,
): string | null {
  return dialect.isComparable(column)
    ? null
    : `The engine cannot group by ${column.name} of type ${column.type}: choose another column`
}

/** Capabilities as phrases for error messages. */
const CAPABILITY_PHRASES: Record<Capability, string> = {
  constraints: 'keys in the catalog',
  comments: 'comments in the catalog',
  lastModified: 'the time of the last change of a table',
  estimates: 'estimates of row counts',
  regex: 'regular expressions',
  percentile: 'exact percentiles',
  groupedPercentile: 'percentiles by group',
  dateParsing: 'date parsing',
  readOnly: 'sessions that cannot write',
  cancel: 'cancelling running statements',
  costEstimates: 'estimates of what a statement reads',
  dryRuns: 'dry runs of statements',
  byteLimit: 'a limit of the bytes that a statement reads',
  renames: 'columns that can be followed through a rename',
  partitions: 'versions of the parts of a table',
}

/** Returns a sentence that names the first capability the engine lacks for this check type, or null. */
export function describeMissingCapability(
  type: CheckType,
  { name, label, capabilities }: { name: string; label?: string; capabilities: Capabilities },
): string | null {
  const missing = type.needs?.find(capability => !capabilities[capability])
  return missing
    ? `${type.name} needs ${CAPABILITY_PHRASES[missing]}, which ${label ?? name} does not offer.`
    : null
}
