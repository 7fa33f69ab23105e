import { useState } from 'preact/hooks'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { html } from '../lib/html.ts'
import { formTexts } from '../forms/texts.ts'
import { tuningTexts } from './texts.ts'

/** More columns than these come with a field that finds some of them. */
const FEW_COLUMNS = 12

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
  const [search, setSearch] = useState('')
  const { name, label, hint } = spec
  const problem = form.problems[name]
  const chosen = readColumns(form.values[name])
  const toggle = (column: string) => {
    const next = chosen.includes(column) ? chosen.filter(other => other !== column) : [...chosen, column]
    form.set(name, next.length > 0 ? JSON.stringify(next) : '')
  }
  const term = search.trim().toLowerCase()
  const shown = columns.filter(column => column.toLowerCase().includes(term))
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  return html`<fieldset class="column-choice" aria-describedby=${described || undefined}>
    <legend>
      ${label}${!spec.isRequired && html` <span class="quiet optional">${formTexts.optional}</span>`}
    </legend>
    ${hint && html`<span class="note" id=${`${name}-hint`}>${hint}</span>`}
    ${
      columns.length > FEW_COLUMNS &&
      html`<input
        type="search"
        aria-label=${tuningTexts.filterColumns}
        placeholder=${tuningTexts.filterColumns}
        value=${search}
        onInput=${(event: Event) => setSearch((event.target as HTMLInputElement).value)}
      />`
    }
    <div class="column-list">
      ${shown.map(
        column =>
          html`<label key=${column}>
            <input
              type="checkbox"
              name=${name}
              value=${column}
              aria-invalid=${problem ? 'true' : undefined}
              checked=${chosen.includes(column)}
              onChange=${() => toggle(column)}
            />
            <code><bdi>${column}</bdi></code>
          </label>`,
      )}
    </div>
    ${columns.length === 0 && html`<p class="quiet">No column of this table fits.</p>`}
    ${problem && html`<span class="bad" id=${`${name}-problem`}>${problem}</span>`}
  </fieldset>`
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
