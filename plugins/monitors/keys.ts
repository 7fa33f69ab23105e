import type { CheckFields, CheckKind, CheckSubject, DeclaredCheck } from '../scans/api.ts'

/** A stored check of one kind. */
export interface StoredCheck extends DeclaredCheck {
  kind: CheckKind
}

export const refOf = (kind: CheckKind, checkId: string): string => `${kind} ${checkId}`

/** What a check is about; null of a metric by groups. */
export function subjectOf({ kind, tableId, fields }: StoredCheck): CheckSubject | null {
  const groups = fields.group_by_columns
  if (Array.isArray(groups) && groups.length > 0) return null
  const text = (...names: string[]) =>
    names.map(name => fields[name]).find(value => typeof value === 'string') ?? null
  const type = kind === 'validity' || kind === 'metric' ? text('rule_type', 'metric_type') : kind
  return type === null ? null : { tableId, type, column: text('column_name', 'child_column_name') }
}

const MAX_KEY_CHARACTERS = 150

/**
 * Keys for checks that have none, made of the table, the column and the type: `orders.status.enum`. The same checks get the
 * same keys, so that a file may be changed between its export and its first apply.
 * @param taken keys that other checks have
 * @returns by `refOf`
 */
export function makeKeys(checks: readonly StoredCheck[], taken: Iterable<string>): Map<string, string> {
  const used = new Set(taken)
  const keys = new Map<string, string>()
  /** The last number of each key that is taken: a table may have thousands of checks of a type. */
  const numbers = new Map<string, number>()
  const numbered = (key: string): string => {
    let number = numbers.get(key) ?? 1
    do number += 1
    while (used.has(`${key}-${number}`))
    numbers.set(key, number)
    return `${key}-${number}`
  }
  for (const check of checks) {
    const [table = '', schema = ''] = check.tablePath.split('.').toReversed()
    const parts = [table, ...describe(check.kind, check.fields)]
    const candidates = [parts, [schema, ...parts]].map(toKey)
    const free = candidates.find(key => !used.has(key)) ?? numbered(candidates[0]!)
    used.add(free)
    keys.set(refOf(check.kind, check.id), free)
  }
  return keys
}

/** What a check is about, beside its table. */
function describe(kind: CheckKind, fields: CheckFields): string[] {
  const said: Record<CheckKind, unknown[]> = {
    validity: [fields.column_name, fields.rule_type],
    metric: [
      fields.column_name,
      fields.metric_type,
      ...(Array.isArray(fields.group_by_columns) ? (fields.group_by_columns as unknown[]) : []),
    ],
    referential: [fields.child_column_name, 'references'],
    freshness: ['freshness'],
  }
  return said[kind].filter(part => typeof part === 'string')
}

function toKey(parts: readonly string[]): string {
  const key = parts
    .join('.')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '_')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, MAX_KEY_CHARACTERS)
  return key === '' ? 'check' : key
}
