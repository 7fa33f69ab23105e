import { useState } from 'preact/hooks'
import type { FormState } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { sourceTexts } from './texts.ts'
import { PLACE, readUrl, SCHEMES } from './url-values.ts'

/** Fills in the fields of a connection from its address, which is not kept: it may have a password. */
export function UrlField({
  type,
  form,
  specs,
}: {
  type: string
  form: FormState
  specs: readonly FieldSpec[]
}) {
  const [outcome, setOutcome] = useState<{ text: string; isBad: boolean }>()
  const fill = (text: string) => {
    if (text.trim() === '') return
    const found = readUrl(type, text, specs)
    if (typeof found === 'string') return setOutcome({ text: found, isBad: true })
    for (const [name, value] of Object.entries(found)) form.set(name, value)
    const database = found[`${PLACE}database`]
    if (database && !form.values.name) form.set('name', database)
    const labels = specs.filter(({ name }) => name in found).map(({ label }) => label.toLowerCase())
    setOutcome({ text: sourceTexts.filledIn(labels.join(', ')), isBad: false })
  }
  const take = (event: Event) => {
    const field = event.currentTarget as HTMLInputElement
    fill(field.value)
    field.value = ''
  }
  return (
    <div class="field">
      <span>
        <label for="connection-url">{sourceTexts.url}</label>
      </span>
      <input
        id="connection-url"
        autocomplete="off"
        spellcheck={false}
        placeholder={`${SCHEMES[type]?.[0]}://user:password@host/database`}
        aria-describedby="connection-url-hint connection-url-outcome"
        onPaste={(event: ClipboardEvent) => {
          event.preventDefault()
          fill(event.clipboardData?.getData('text') ?? '')
        }}
        onChange={take}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          take(event)
        }}
      />
      <span class="note" id="connection-url-hint">
        {sourceTexts.urlHint}
      </span>
      <span id="connection-url-outcome" role="status" class={outcome?.isBad ? 'bad' : 'note'}>
        {outcome?.text}
      </span>
    </div>
  )
}
