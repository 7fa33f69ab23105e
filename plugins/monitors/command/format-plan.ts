/** A plan as a terminal shows it. */
import { oneLine } from '../../../server/cli/terminal-text.ts'
import type { FieldChange } from '../../checks/api.ts'
import type { PresentedChange, PresentedPlan } from '../present.ts'

const SIGNS = { create: '+', change: '~', replace: '-/+', delete: '-', adopt: '=' } as const
const NOTES: Partial<Record<PresentedChange['action'], string>> = {
  replace: ' is replaced, and its history is lost',
  delete: ' is removed, and its history is lost',
  adopt: ' is there already, and is recorded under this key',
}
const MAX_VALUE_CHARACTERS = 200

/** Whether an apply would create, change or remove a check. */
export function hasChanges({
  create,
  change,
  replace,
  delete: removed,
  default_windows: windows,
}: PresentedPlan): boolean {
  return create + change + replace + removed + windows.length > 0
}

/** One block a change, what was changed on the server, and a summary. @param isDone after an apply */
export function formatPlan(plan: PresentedPlan, isDone: boolean): string[] {
  const { source, changes, drift, left, default_windows: windows } = plan
  return [
    ...(drift.length > 0 ? [`Changed on the server since the last apply (${source}):`] : []),
    ...drift.flatMap(({ kind, key, file, is_removed: isRemoved, fields }) => [
      indent('  ! ', `${kind} ${key} (${file})${isRemoved ? ' was removed' : ''}`),
      ...fields.map(each => indent(FIELD_INDENT, formatField(each))),
    ]),
    ...(drift.length > 0 ? [''] : []),
    ...changes.flatMap(formatChange),
    ...windows.map(({ table_path: table, file, old, new: wanted }) =>
      indent(
        '  ~ ',
        `the default window of ${table} (${file}): ${formatValue(old)} → ${formatValue(wanted)}`,
      ),
    ),
    ...left.map(({ kind, key, file }) =>
      indent('  ? ', `${kind} ${key} (${file}) is in none of these files: --prune removes it`),
    ),
    ...(changes.length + left.length + windows.length > 0 ? [''] : []),
    summarizePlan(plan, isDone),
  ]
}

function formatChange({
  action,
  kind,
  key,
  table_path: table,
  file,
  line,
  fields,
}: PresentedChange): string[] {
  const place = line === null ? file : `${file}:${line}`
  return [
    indent(`${SIGNS[action].padStart(3)} `, `${kind} ${key} on ${table} (${place})${NOTES[action] ?? ''}`),
    ...fields.map(each =>
      action === 'create'
        ? indent(FIELD_INDENT, `${each.field}: ${formatValue(each.new)}`)
        : indent(FIELD_INDENT, formatField(each)),
    ),
  ]
}

const FIELD_INDENT = '      '

const indent = (lead: string, text: string) => `${lead}${oneLine(text)}`

function formatField({ field, old, new: wanted }: FieldChange): string {
  return `${field}: ${formatValue(old)} → ${formatValue(wanted)}`
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS).toWellFormed()}…` : text
}

function summarizePlan(plan: PresentedPlan, isDone: boolean): string {
  const parts = [
    [plan.create, isDone ? 'created' : 'to create'],
    [plan.change, isDone ? 'changed' : 'to change'],
    [plan.replace, isDone ? 'replaced' : 'to replace'],
    [plan.delete, isDone ? 'removed' : 'to remove'],
    [plan.adopt, isDone ? 'recorded' : 'to record'],
  ] as const
  const counts = parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  const changes = counts.length > 0 ? counts.join(', ') : isDone ? 'nothing changed' : 'no changes'
  return oneLine(`${plan.source}: ${changes}, ${plan.unchanged} unchanged`)
}
