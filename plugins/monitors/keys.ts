import type { CheckFields, CheckKindName, StoredCheck } from '../checks/api.ts'

const MAX_KEY_CHARACTERS = 150

/**
 * Keys for checks that have none, made of the table, the column and the type: `orders.status.enum`. The same checks get the
 * same keys, so that a file may be changed between its export and its first apply.
 * @param others keys that other checks have
 */
export function makeKeys(checks: readonly StoredCheck[], others: Iterable<string>): Map<StoredCheck, string> {
  const used = new Set(others)
  const keys = new Map<StoredCheck, string>()
  /** The last number of each key in use: a table may have thousands of checks of a type. */
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
    keys.set(check, free)
  }
  return keys
}

/** What a check is about, beside its table. */
function describe(kind: CheckKindName, fields: CheckFields): string[] {
  const parts: Record<CheckKindName, unknown[] | undefined> = {
    validity: [fields.column_name, fields.rule_type],
    metric: [
      fields.column_name,
      fields.metric_type,
      ...(Array.isArray(fields.group_by_columns) ? (fields.group_by_columns as unknown[]) : []),
    ],
    referential: [fields.child_column_name, 'references'],
    comparison: ['equals', fields.right_source, String(fields.right_table_path).split('.').at(-1)],
  }
  return (parts[kind] ?? [fields.column_name, kind]).filter(part => typeof part === 'string')
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
