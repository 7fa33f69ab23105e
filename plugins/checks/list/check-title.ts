import type { CheckType } from '../../../checks/check.ts'
import type { CheckDeps } from '../deps.ts'
import type { CheckKind } from '../kind.ts'

/** What people call the types of checks. */
export interface TypeLabels {
  /** `Not null` of `NOT_NULL`; a kind whose checks have no type is one itself. */
  labelOf(type: string): string
  /** Types whose label has a text in it, which is not in their names: `NOT_NULL` of `not null`. */
  typesNamed(text: string): string[]
}

/** @param kinds those that are there once the server is built */
export function typeLabelsOf(
  types: CheckDeps['types'],
  kinds: ReadonlyMap<string, Pick<CheckKind, 'label'>>,
): TypeLabels {
  return {
    labelOf: type =>
      types.has(type) ? labelOfType(types.get(type)) : (kinds.get(type)?.label ?? inWords(type)),
    typesNamed(text) {
      const term = text.toLowerCase()
      const named = types.all().filter(type => labelOfType(type).toLowerCase().includes(term))
      return named.map(({ name }) => name).filter(name => !name.toLowerCase().includes(term))
    },
  }
}

/** What people call a type: `Not null`. */
export const labelOfType = ({ name, label }: Pick<CheckType, 'name' | 'label'>): string =>
  label ?? inWords(name)

function inWords(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

interface NamedCheck {
  name: string
  type: string
  columnName: string | null
  /** The name of its table. */
  ofTable: string
  /** Which one a metric of that type measures. */
  percentile?: string | null
}

/**
 * What people call a check: `Not null on orders.email`, `Row count of orders per day`. A name that a person gave stays as it
 * is; one that follows from the type has the label of the type instead of its code.
 */
export function titleOf(
  { name, type, columnName, ofTable, percentile }: NamedCheck,
  { labelOf }: TypeLabels,
): string {
  const subject = columnName === null ? ofTable : `${ofTable}.${columnName}`
  if (name === `${type} ${subject}`) return `${labelOf(type)} on ${subject}`
  const ofMetric = `${columnName === null ? type : `${type} of ${columnName}`} on ${ofTable}`
  if (name === ofMetric || name.startsWith(`${ofMetric} per `) || name.startsWith(`${ofMetric} where `))
    return `${[labelOf(type), percentile].filter(Boolean).join(' ')} of ${subject}${name.slice(ofMetric.length)}`
  return name.startsWith(`${type} (`) ? labelOf(type) + name.slice(type.length) : name
}
