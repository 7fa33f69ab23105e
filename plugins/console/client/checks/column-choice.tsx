import { useState } from 'preact/hooks'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { formTexts } from '../forms/texts.ts'
import { tuningTexts } from './texts.ts'

/** More columns than these come with a field that finds some of them. */
const FEW_COLUMNS = 12

/** A field of columns to be ticked, with a search where there are many. @param row what stands for one of them */
export function ColumnField<Column>({
  form,
  spec,
  columns,
  nameOf,
  row,
  kind = '',
  none,
}: {
  form: FormState
  spec: FieldSpec
  columns: readonly Column[]
  nameOf: (column: Column) => string
  row: (column: Column) => unknown
  /** A further class of the field. */
  kind?: string
  /** What is said where there are no columns. */
  none?: string
}) {
  const [search, setSearch] = useState('')
  const { name, label, hint } = spec
  const problem = form.problems[name]
  const term = search.trim().toLowerCase()
  const shown = columns.filter(column => nameOf(column).toLowerCase().includes(term))
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  return (
    <fieldset class={`column-choice ${kind}`.trim()} aria-describedby={described || undefined}>
      <legend>
        {label}
        {!spec.isRequired && (
          <>
            {' '}
            <span class="quiet optional">{formTexts.optional}</span>
          </>
        )}
      </legend>
      {hint && (
        <span class="note" id={`${name}-hint`}>
          {hint}
        </span>
      )}
      {columns.length > FEW_COLUMNS && (
        <input
          type="search"
          aria-label={tuningTexts.filterColumns}
          placeholder={tuningTexts.filterColumns}
          value={search}
          onInput={(event: Event) => setSearch((event.target as HTMLInputElement).value)}
        />
      )}
      <div class="column-list">{shown.map(row)}</div>
      {none !== undefined && columns.length === 0 && <p class="quiet">{none}</p>}
      {problem && (
        <span class="bad" id={`${name}-problem`}>
          {problem}
        </span>
      )}
    </fieldset>
  )
}

/** The box of a column in such a field. */
export function ColumnBox({
  name,
  column,
  isInvalid,
  isChecked,
  toggle,
}: {
  name: string
  column: string
  isInvalid: boolean
  isChecked: boolean
  toggle: (column: string) => void
}) {
  return (
    <label>
      <input
        type="checkbox"
        name={name}
        value={column}
        aria-invalid={isInvalid ? 'true' : undefined}
        checked={isChecked}
        onChange={() => toggle(column)}
      />
      <code>
        <bdi>{column}</bdi>
      </code>
    </label>
  )
}

/** Columns of a table to be ticked; the value of the field is the list of their names. */
export function ColumnChoice({
  form,
  spec,
  columns,
}: {
  form: FormState
  spec: FieldSpec
  columns: readonly string[]
}) {
  const { name } = spec
  const chosen = readColumns(form.values[name])
  const toggle = (column: string) => {
    const next = chosen.includes(column) ? chosen.filter(other => other !== column) : [...chosen, column]
    form.set(name, next.length > 0 ? JSON.stringify(next) : '')
  }
  const row = (column: string) => (
    <ColumnBox
      key={column}
      name={name}
      column={column}
      isInvalid={Boolean(form.problems[name])}
      isChecked={chosen.includes(column)}
      toggle={toggle}
    />
  )
  return (
    <ColumnField
      form={form}
      spec={spec}
      columns={columns}
      nameOf={(column: string) => column}
      row={row}
      none="No column of this table fits."
    />
  )
}

/** The chosen columns. */
export function readColumns(value: unknown): string[] {
  try {
    const found: unknown = JSON.parse(String(value))
    return Array.isArray(found) ? found.map(String) : []
  } catch {
    return []
  }
}
