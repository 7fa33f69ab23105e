import type { Table } from 'tidemark/client'
import { Fields, MoreFields } from '../forms/fields.ts'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { api } from '../lib/api.ts'
import { useData, useDebounced } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { ColumnChoice } from './column-choice.ts'
import { withoutHidden, type CheckSpecs } from './specs.ts'
import { tuningTexts } from './texts.ts'

const TYPING_MS = 300

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
  const isGroups = ({ name }: FieldSpec) => name === 'group_by_columns'
  return html`
    ${columns && html`<${ColumnChoice} form=${form} spec=${columns.spec} columns=${columns.names} />`}
    <${Fields} form=${form} of=${shown(specs.measured)} />
    <${Fields} form=${form} of=${shown(specs.main)} />
    ${
      specs.window.length > 0 &&
      html`<${MoreFields}
        title=${tuningTexts.window}
        form=${form}
        of=${specs.window}
        isOpen=${specs.window.some(({ name }) => form.values[name] !== '')}
      >
        <${Fields} form=${form} of=${specs.window} />
      <//>`
    }
    ${
      more.length > 0 &&
      html`<${MoreFields} form=${form} of=${more}>
        ${more
          .filter(isGroups)
          .map(spec => html`<${ColumnChoice} key=${spec.name} form=${form} spec=${spec} columns=${names} />`)}
        <${Fields} form=${form} of=${more.filter(spec => !isGroups(spec))} />
      <//>`
    }
  `
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
  const path = String(values.parent_table_path ?? '')
  const search = useDebounced(path.split('.').at(-1)!.trim(), TYPING_MS)
  const isAsked = measured.some(({ name }) => name === 'parent_table_path')
  const tables = useData(isAsked ? `parents ${table.source} ${search}` : null, async signal => {
    const query = { source: table.source, limit: 20, ...(search && { search }) }
    const { data } = await api.get('/api/v1/assets', { query, signal })
    return data.flatMap(asset => ('table_path' in asset ? [asset as Table] : []))
  })
  const parent = tables.data?.find(
    ({ table_path: full }) => path !== '' && (full === path || full.endsWith(`.${path}`)),
  )
  const columns = useData(parent ? `columns ${parent.id}` : null, async signal => {
    const { data } = await api.get('/api/v1/sdk/assets/{asset_id}', {
      path: { asset_id: parent!.id },
      signal,
    })
    return ((data as Table).columns ?? []).map(({ name }) => name)
  })
  return {
    parent_table_path: { suggestions: (tables.data ?? []).map(({ table_path: full }) => full) },
    parent_column_name: { suggestions: columns.data ?? [] },
  }
}
