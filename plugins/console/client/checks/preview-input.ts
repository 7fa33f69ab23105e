import type { Table } from 'tidemark/client'
import type { FormState } from '../forms/form.ts'
import { buildBody, type FieldSpec, type Values } from '../forms/schema.ts'
import type { Limit } from './past.ts'
import { withoutWindow } from './scope-specs.ts'
import { sideNames } from './comparison-result.tsx'
import { hasLimit } from './specs.ts'
import type { PreviewInput } from './preview.tsx'
import { dryRunCheck, type CheckKind, type DryRun } from './requests.ts'

/** Fields that change neither what is measured nor what is learned of it. */
const JUDGED_LATER = new Set([
  'name',
  'severity',
  'description',
  'error_message',
  'consecutive',
  'revisit',
  'alert_threshold_percent',
  'sensitivity',
  'backfill_days',
  'column_names',
])

/** The dry run of what a form holds. */
export function previewOf({
  kind,
  table,
  form,
  specs,
  fixed,
  columns,
  ownId,
}: {
  kind: CheckKind
  table: Table
  form: FormState
  /** The fields that apply. */
  specs: readonly FieldSpec[]
  /** What a dry run needs besides: the type, and what a form that changes a check does not show. */
  fixed: Record<string, unknown>
  columns: readonly string[]
  /** The check that the form changes. */
  ownId?: string
}): PreviewInput {
  const { values } = form
  // A check that is changed has its window among what is fixed, or is about all rows.
  const isWindowOpen = kind !== 'referential' && fixed.window === undefined
  const measured = specs.filter(({ name }) => !JUDGED_LATER.has(name)).map(({ name }) => [name, values[name]])
  return {
    key: JSON.stringify([fixed, measured]),
    limit: limitOf(kind, values),
    columns,
    ...(ownId !== undefined && { ownId }),
    ...(kind === 'comparison' && { sides: sidesOf(table, { ...fixed, ...values }) }),
    hasWindow: String(fixed.window ?? values.window ?? '').trim() !== '',
    setLimit: limit =>
      'threshold' in limit
        ? form.set('alert_threshold_percent', String(limit.threshold))
        : form.set('sensitivity', String(limit.sensitivity)),
    async measure(days, column) {
      let found: DryRun | undefined
      await form.attempt(specs, async () => {
        const { column_names: _columns, backfill_days: _days, ...body } = buildBody(specs, values)
        found = await dryRunCheck(kind, {
          ...fixed,
          ...(isWindowOpen ? withoutWindow(body, table) : body),
          asset_id: table.id,
          ...(column !== undefined && { column_name: column }),
          ...(kind === 'referential'
            ? { child_table_path: table.table_path }
            : { table_path: table.table_path }),
          ...(hasPast(kind) && { lookback_days: days }),
        })
      })
      return found
    },
  }
}

const sidesOf = (
  { source, table_path }: Table,
  { right_source, right_table_path }: Record<string, unknown>,
) =>
  sideNames({ source, table: table_path }, { source: String(right_source), table: String(right_table_path) })

const hasPast = (kind: CheckKind) => kind === 'validity' || kind === 'metric'

/** What the form judges by at the moment; null of a check that has no past. A field that is wrong counts as its default. */
function limitOf(kind: CheckKind, values: Values): Limit | null {
  if (!hasPast(kind)) return null
  const number = (name: string, fallback: number) => {
    const text = String(values[name] ?? '').trim()
    return text === '' || !Number.isFinite(Number(text)) ? fallback : Number(text)
  }
  if (kind === 'validity' && values.detection_mode !== 'auto')
    return { threshold: number('alert_threshold_percent', 0) }
  // By limits alone, the server says what the past would have been.
  if (kind === 'metric' && hasLimit(values) && values.detection !== 'both') return null
  return { sensitivity: number('sensitivity', 2) }
}
