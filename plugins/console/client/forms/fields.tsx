import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formTexts } from './texts.ts'
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
  return specs.map(spec => <Field key={spec.name} form={form} spec={spec} isNew={isNew} />)
}

/** One field of a form. */
export function Field({ form, spec, isNew = true }: { form: FormState; spec: FieldSpec; isNew?: boolean }) {
  const { name, label, hint, isRequired, kind } = spec
  const problem = form.problems[name]
  const isOptional = !isRequired && (isNew || kind !== 'secret')
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  const own: Own = {
    name,
    id: name,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-required': isRequired ? 'true' : undefined,
    onBlur: () => form.check(spec),
  }
  const notes = <FieldNotes name={name} hint={hint} problem={problem} />
  if (kind === 'flag')
    return (
      <div class="field flag">
        <label>
          <input
            type="checkbox"
            {...own}
            checked={form.values[name] === true}
            onChange={(event: Event) => form.set(name, (event.target as HTMLInputElement).checked)}
          />
          {label}
        </label>
        {notes}
      </div>
    )
  return (
    <div class="field">
      <span>
        <label for={name}>{label}</label>
        {isOptional && (
          <>
            {' '}
            <span class="quiet">{formTexts.optional}</span>
          </>
        )}
      </span>
      {control(spec, own, form, isNew)} {notes}
    </div>
  )
}

const PLACEHOLDERS: Partial<Record<FieldSpec['kind'], string>> = {
  lines: 'One on each line.',
  pairs: 'Name: value',
}

/** What a control has, whichever it is. */
interface Own {
  name: string
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: 'true'
  'aria-required'?: 'true'
  onBlur: () => void
}

function control(spec: FieldSpec, own: Own, form: FormState, isNew: boolean) {
  const { name, kind } = spec
  const held = form.values[name]
  const value = typeof held === 'string' ? held : undefined
  const onInput = (event: Event) => form.set(name, (event.target as HTMLInputElement).value)
  if (kind === 'choice')
    return (
      <select {...own} value={value} onChange={onInput}>
        {(!spec.isRequired || value === '') && spec.initial === undefined && <option value="">–</option>}
        {spec.choices?.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    )
  if (kind === 'long' || kind === 'lines' || kind === 'pairs' || kind === 'json')
    return (
      <textarea
        {...own}
        rows={spec.rows ?? (kind === 'long' ? 4 : 3)}
        spellcheck={false}
        placeholder={PLACEHOLDERS[kind]}
        value={value}
        onInput={onInput}
      />
    )
  return (
    <>
      <input
        {...own}
        type={
          // The types of Preact want one kind of input only.
          (kind === 'secret' ? 'password' : kind === 'email' ? kind : 'text') as 'text'
        }
        inputmode={kind === 'number' || kind === 'integer' ? 'decimal' : undefined}
        autocomplete={spec.autoComplete ?? (kind === 'secret' ? 'new-password' : 'off')}
        placeholder={kind === 'secret' && !isNew ? 'Unchanged' : undefined}
        value={value}
        list={spec.suggestions && `${name}-suggestions`}
        onInput={onInput}
      />
      {spec.suggestions && (
        <datalist id={`${name}-suggestions`}>
          {spec.suggestions.map(suggestion => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  )
}

/** A field with several of a few values; it is of the kind `lines`. Values that are not among the choices are kept. */
export function Checkboxes({ form, spec }: { form: FormState; spec: FieldSpec }) {
  const { name, label, hint, choices = [] } = spec
  const problem = form.problems[name]
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  const chosen = String(form.values[name] ?? '')
    .split('\n')
    .filter(value => value !== '')
  const known = choices.map(([value]) => value)
  const toggle = (value: string, isOn: boolean) => {
    const next = new Set(chosen)
    if (isOn) next.add(value)
    else next.delete(value)
    // In the order of the choices, so that a box that is ticked and cleared again changes nothing.
    const ordered = [...known.filter(each => next.has(each)), ...chosen.filter(each => !known.includes(each))]
    form.set(name, ordered.join('\n'))
  }
  return (
    <fieldset class="field boxes" aria-describedby={described || undefined}>
      <legend>
        {label}
        {!spec.isRequired && (
          <>
            {' '}
            <span class="quiet optional">{formTexts.optional}</span>
          </>
        )}
      </legend>
      {choices.map(([value, text]) => (
        <label key={value}>
          <input
            type="checkbox"
            name={name}
            checked={chosen.includes(value)}
            aria-invalid={problem ? 'true' : undefined}
            onChange={(event: Event) => toggle(value, (event.target as HTMLInputElement).checked)}
          />
          <bdi>{text}</bdi>
        </label>
      ))}
      <FieldNotes name={name} hint={hint} problem={problem} />
    </fieldset>
  )
}

/** What a field is for, and what is wrong with it, by the ids that describe it. */
export function FieldNotes({
  name,
  hint,
  problem,
}: {
  name: string
  hint?: string | undefined
  problem?: string | undefined
}) {
  return (
    <>
      {hint && (
        <span class="note" id={`${name}-hint`}>
          {hint}
        </span>
      )}
      {problem && (
        <span class="bad" id={`${name}-problem`}>
          {problem}
        </span>
      )}
    </>
  )
}

/** A form: what is wrong with all of it above, its button below. */
export function Form({
  form,
  submit,
  label = formTexts.save,
  busyLabel = 'Saving…',
  more,
  children,
}: {
  form: FormState
  submit: () => unknown
  label?: string
  busyLabel?: string
  /** Further buttons, behind the first one. */
  more?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <form
      novalidate
      class="form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        if (!form.isBusy) void submit()
      }}
    >
      {children}{' '}
      {form.failure && (
        <p class="bad" role="alert">
          {form.failure}
        </p>
      )}
      <p class="actions">
        <button
          class="primary"
          disabled={form.isBusy}
          onMouseDown={
            // Else the field that loses the focus may show an error, and the button move away from the click.
            (event: Event) => event.preventDefault()
          }
        >
          {form.isBusy ? busyLabel : label}
        </button>
        {more}
      </p>
    </form>
  )
}

/**
 * Fields that most people leave as they are, folded until one of them is wrong.
 * @param props.of the fields, which the children show
 * @param props.isOpen whether they are unfolded at first
 */
export function MoreFields({
  title = formTexts.more,
  form,
  of: specs,
  isOpen: isOpenAtFirst = false,
  children,
}: {
  title?: string
  form: FormState
  of: readonly FieldSpec[]
  isOpen?: boolean
  children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  useEffect(() => {
    if (specs.some(({ name }) => form.problems[name] !== undefined)) setOpen(true)
  }, [form.problems])
  return (
    <details
      class="more"
      open={isOpen}
      onToggle={(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>{title}</summary>
      {children}
    </details>
  )
}
