/** Which checks are the same, and in what two differ. */
import { isDeepStrictEqual } from 'node:util'
import type { CheckFields, CheckSubject } from '../declared/declared-checks.ts'
import type { FieldChange, Step, StoredCheck, WantedCheck } from './wanted-check.ts'

/** The fields of a check that no change can set. */
export type FixedFields = (check: Pick<WantedCheck, 'kind' | 'fields'>) => readonly string[]

/** What a check is about; null of a metric by groups, and of one that is about some rows only. */
export function subjectOf({
  kind,
  tableId,
  fields,
}: Pick<StoredCheck, 'kind' | 'tableId' | 'fields'>): CheckSubject | null {
  const groups = fields.group_by_columns
  const isPartial = fields.filter != null || fields.right_filter != null || fields.window != null
  if (isPartial || (Array.isArray(groups) && groups.length > 0)) return null
  const text = (...names: string[]) =>
    names.map(name => fields[name]).find(value => typeof value === 'string') ?? null
  const type = text('rule_type', 'metric_type') ?? kind
  return { tableId, type, column: text('column_name', 'child_column_name') }
}

/**
 * What makes a stored check the wanted one. A check of another kind or table, or one that measures something else, has to be
 * another check.
 */
export function compare<Wanted extends WantedCheck>(
  wanted: Wanted,
  stored: StoredCheck,
  fixedFields: FixedFields,
): Step<Wanted> {
  if (stored.kind !== wanted.kind || stored.tableId !== wanted.table.table.id) {
    const moved = { field: 'table_path', old: stored.tablePath, new: wanted.tablePath }
    return { action: 'replace', wanted, stored, changes: [moved] }
  }
  const changes = differences(stored.fields, wanted.fields)
  const fixed = new Set([...fixedFields(stored), ...fixedFields(wanted)])
  const isOther = changes.some(({ field }) => fixed.has(field))
  return { action: changes.length === 0 ? 'keep' : isOther ? 'replace' : 'change', wanted, stored, changes }
}

/** The fields that differ, in the order of their names in both. */
export function differences(old: CheckFields, wanted: CheckFields): FieldChange[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(wanted)])]
  return names.flatMap(field => {
    const change = { field, old: old[field] ?? null, new: wanted[field] ?? null }
    return isDeepStrictEqual(change.old, change.new) ? [] : [change]
  })
}

/** The same text of equal fields, whatever their order. */
export function fieldsKey(fields: CheckFields): string {
  return JSON.stringify(fields, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
}

/** Fields that say how a check is called, how often it runs and when it alerts, not which values break it. */
const UNJUDGED_FIELDS = new Set([
  'name',
  'description',
  'severity',
  'error_message',
  'check_interval',
  'capture_interval',
  'consecutive',
  'sensitivity',
  'direction',
  'operating_period_mode',
  'operating_schedule_id',
])

/** Whether two checks of one kind find the same rows or numbers wrong, whatever they are called: by their fields, or by their columns. */
export function findTheSame(one: CheckFields, other: CheckFields): boolean {
  return isDeepStrictEqual(judgedFields(one), judgedFields(other))
}

function judgedFields(fields: CheckFields): CheckFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const field = name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
      if (UNJUDGED_FIELDS.has(field)) return []
      // No percentage is 0, and what is not set is null or left out.
      const judged = field === 'alert_threshold_percent' ? (value ?? 0) : (value ?? null)
      return judged === null ? [] : [[name, judged]]
    }),
  )
}
