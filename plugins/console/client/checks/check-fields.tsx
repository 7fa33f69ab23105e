import type { Table } from 'tidemark/client'
import { Fields, MoreFields } from '../forms/fields.tsx'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { ColumnChoice } from './column-choice.tsx'
import { ComparisonFields } from './comparison-fields.tsx'
import { useOtherTable } from './other-table.ts'
import { withoutHidden, type CheckSpecs } from './specs.ts'
import { tuningTexts } from './texts.ts'

/** The fields of a check, with the choices that depend on what is chosen. */
export function CheckFields({
  form,
  specs,
  table,
  columns,
}: {
  form: FormState
  specs: CheckSpecs
  table: Table
  /** The columns that a check of this type can be made for; absent where none is asked for. */
  columns?: { spec: FieldSpec; names: readonly string[] } | undefined
}) {
  const parents = useParents(table, specs, form)
  const schedules = useSchedules(form)
  const names = (table.columns ?? []).map(column => column.name)
  const choices: Record<string, Partial<FieldSpec>> = {
    child_column_name: { choices: names.map(name => [name, name]) },
    operating_schedule_id: { choices: schedules },
    ...parents,
  }
  const shown = (all: readonly FieldSpec[]) =>
    withoutHidden(all, form.values).map(spec => ({ ...spec, ...choices[spec.name] }))
  const more = shown(specs.more)
  const isComparison = specs.measured.some(({ name }) => name === 'right_table_path')
  const isGroups = ({ name }: FieldSpec) => name === 'group_by_columns'
  return (
    <>
      {columns && <ColumnChoice form={form} spec={columns.spec} columns={columns.names} />}
      {isComparison ? (
        <ComparisonFields form={form} specs={shown(specs.measured)} table={table} />
      ) : (
        <Fields form={form} of={shown(specs.measured)} />
      )}
      <Fields form={form} of={shown(specs.main)} />
      {specs.window.length > 0 && (
        <MoreFields
          title={tuningTexts.window}
          form={form}
          of={specs.window}
          isOpen={specs.window.some(({ name }) => form.values[name] !== '')}
        >
          <Fields form={form} of={specs.window} />
        </MoreFields>
      )}
      {more.length > 0 && (
        <MoreFields form={form} of={more}>
          {more.filter(isGroups).map(spec => (
            <ColumnChoice key={spec.name} form={form} spec={spec} columns={names} />
          ))}
          <Fields form={form} of={more.filter(spec => !isGroups(spec))} />
        </MoreFields>
      )}
    </>
  )
}

/** The schedules of the company; they are asked for once a rule is to go by one. */
function useSchedules({ values }: FormState): [string, string][] {
  const isAsked = values.operating_period_mode === 'schedule' && values.detection_mode === 'auto'
  const found = useData(isAsked ? 'operating schedules' : null, async signal => {
    const { data } = await api.get('/api/v1/operating-schedules', { query: { limit: 100 }, signal })
    return data
  })
  return (found.data ?? []).map(({ id, name }) => [id, name])
}

/** The tables and columns that a referential check may point to, as a person writes. */
function useParents(table: Table, { measured }: CheckSpecs, { values }: FormState) {
  const isAsked = measured.some(({ name }) => name === 'parent_table_path')
  const { paths, columns } = useOtherTable(
    isAsked ? table.source : null,
    String(values.parent_table_path ?? ''),
  )
  return { parent_table_path: { suggestions: paths }, parent_column_name: { suggestions: columns } }
}
