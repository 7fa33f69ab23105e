import { html, type Children } from '../lib/html.ts'
import { formTexts } from '../texts/forms.ts'
import type { FormState } from './form.ts'
import type { FieldSpec } from './schema.ts'

/** The fields of a form, each with its hint and what is wrong with it. */
export function Fields({
  form,
  of: specs,
  isNew = true,
}: {
  form: FormState
  of: readonly FieldSpec[]
  /** Whether the record is not stored yet: a stored secret is kept where nothing is written. */
  isNew?: boolean
}) {
  return html`${specs.map(
    spec => html`<${Field} key=${spec.name} form=${form} spec=${spec} isNew=${isNew} />`,
  )}`
}

/** One field of a form. */
export function Field({ form, spec, isNew = true }: { form: FormState; spec: FieldSpec; isNew?: boolean }) {
  const { name, label, hint, isRequired, kind } = spec
  const problem = form.problems[name]
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  const own = {
    name,
    id: name,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-required': isRequired ? 'true' : undefined,
    onBlur: () => form.check(spec),
  }
  const notes = html`${hint && html`<span class="note" id=${`${name}-hint`}>${hint}</span>`}
  ${problem && html`<span class="bad" id=${`${name}-problem`}>${problem}</span>`}`
  if (kind === 'flag')
    return html`<div class="field flag">
      <label
        ><input
          type="checkbox"
          ...${own}
          checked=${form.values[name] === true}
          onChange=${(event: Event) => form.set(name, (event.target as HTMLInputElement).checked)}
        />
        ${label}</label
      >
      ${notes}
    </div>`
  return html`<div class="field">
    <span
      ><label for=${name}>${label}</label
      >${!isRequired && html` <span class="quiet">${formTexts.optional}</span>`}</span
    >
    ${control(spec, own, form, isNew)} ${notes}
  </div>`
}

type Own = Record<string, unknown>

function control(spec: FieldSpec, own: Own, form: FormState, isNew: boolean) {
  const { name, kind } = spec
  const value = form.values[name]
  const onInput = (event: Event) => form.set(name, (event.target as HTMLInputElement).value)
  if (kind === 'choice')
    return html`<select ...${own} value=${value} onChange=${onInput}>
      ${(!spec.isRequired || value === '') && spec.initial === undefined && html`<option value="">–</option>`}
      ${spec.choices?.map(([choice, text]) => html`<option key=${choice} value=${choice}>${text}</option>`)}
    </select>`
  if (kind === 'long' || kind === 'lines' || kind === 'json')
    return html`<textarea
      ...${own}
      rows=${kind === 'long' ? 4 : 3}
      spellcheck="false"
      placeholder=${kind === 'lines' ? formTexts.onePerLine : undefined}
      value=${value}
      onInput=${onInput}
    ></textarea>`
  return html`<input
      ...${own}
      type=${kind === 'secret' ? 'password' : 'text'}
      inputmode=${kind === 'number' || kind === 'integer' ? 'decimal' : undefined}
      autocomplete=${spec.autoComplete ?? (kind === 'secret' ? 'new-password' : 'off')}
      placeholder=${kind === 'secret' && !isNew ? formTexts.unchangedSecret : undefined}
      value=${value}
      list=${spec.suggestions && `${name}-suggestions`}
      onInput=${onInput}
    />
    ${
      spec.suggestions &&
      html`<datalist id=${`${name}-suggestions`}>
        ${spec.suggestions.map(suggestion => html`<option key=${suggestion} value=${suggestion}></option>`)}
      </datalist>`
    }`
}

/** A form: what is wrong with all of it above, its button below. */
export function Form({
  form,
  submit,
  label = formTexts.save,
  busyLabel = formTexts.saving,
  more,
  children,
}: {
  form: FormState
  submit: () => unknown
  label?: string
  busyLabel?: string
  /** Further buttons, behind the first one. */
  more?: Children
  children: Children
}) {
  return html`<form
    novalidate
    class="form"
    onSubmit=${(event: SubmitEvent) => {
      event.preventDefault()
      if (!form.isBusy) void submit()
    }}
  >
    ${children} ${form.failure && html`<p class="bad" role="alert">${form.failure}</p>`}
    <p class="actions">
      <button class="primary" disabled=${form.isBusy}>${form.isBusy ? busyLabel : label}</button>
      ${more}
    </p>
  </form>`
}

/** Fields that most people leave as they are, folded. */
export function MoreFields({ children }: { children: Children }) {
  return html`<details class="more">
    <summary>${formTexts.moreSettings}</summary>
    ${children}
  </details>`
}
