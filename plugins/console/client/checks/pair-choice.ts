import { useState } from 'preact/hooks'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { formTexts } from '../forms/texts.ts'
import { html } from '../lib/html.ts'
import { comparisonTexts } from './comparison-texts.ts'
import { leftOf, readPairs, rulesOf, shortPair, type FieldPair, type RuleChoice } from './comparison-specs.ts'
import { tuningTexts } from './texts.ts'

/** More columns than these come with a field that finds some of them. */
const FEW_COLUMNS = 12

interface NamedColumn {
  name: string
  kind: string
}

/** Columns of the left table to be ticked, each with its column of the right table and, if wanted, a rule. */
export function PairChoice({
  form,
  spec,
  left,
  right,
  hasRules = false,
}: {
  form: FormState
  spec: FieldSpec
  left: readonly NamedColumn[]
  /** The names of the columns of the right table; empty while it is not known. */
  right: readonly string[]
  hasRules?: boolean
}) {
  const [search, setSearch] = useState('')
  const { name, label, hint } = spec
  const problem = form.problems[name]
  const pairs = readPairs(form.values[name])
  const save = (next: readonly FieldPair[]) => form.set(name, next.length > 0 ? JSON.stringify(next) : '')
  const toggle = (column: string) =>
    save(
      pairs.some(pair => leftOf(pair) === column)
        ? pairs.filter(pair => leftOf(pair) !== column)
        : [...pairs, column],
    )
  const change = (changed: FieldPair) =>
    save(pairs.map(pair => (leftOf(pair) === leftOf(changed) ? changed : pair)))
  const term = search.trim().toLowerCase()
  const shown = left.filter(column => column.name.toLowerCase().includes(term))
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  return html`<fieldset class="column-choice pairs" aria-describedby=${described || undefined}>
    <legend>
      ${label}${!spec.isRequired && html` <span class="quiet optional">${formTexts.optional}</span>`}
    </legend>
    ${hint && html`<span class="note" id=${`${name}-hint`}>${hint}</span>`}
    ${
      left.length > FEW_COLUMNS &&
      html`<input
        type="search"
        aria-label=${tuningTexts.filterColumns}
        placeholder=${tuningTexts.filterColumns}
        value=${search}
        onInput=${(event: Event) => setSearch((event.target as HTMLInputElement).value)}
      />`
    }
    <div class="column-list">
      ${shown.map(column => {
        const pair = pairs.find(each => leftOf(each) === column.name)
        return html`<div key=${column.name} class="pair">
          <label>
            <input
              type="checkbox"
              name=${name}
              value=${column.name}
              aria-invalid=${problem ? 'true' : undefined}
              checked=${pair !== undefined}
              onChange=${() => toggle(column.name)}
            />
            <code><bdi>${column.name}</bdi></code>
          </label>
          ${pair !== undefined && html`<${RightName} pair=${pair} right=${right} change=${change} />`}
          ${
            pair !== undefined &&
            hasRules &&
            html`<${Rule} pair=${pair} rules=${rulesOf(column.kind)} change=${change} />`
          }
        </div>`
      })}
    </div>
    ${problem && html`<span class="bad" id=${`${name}-problem`}>${problem}</span>`}
  </fieldset>`
}

interface PairProps {
  pair: FieldPair
  change: (pair: FieldPair) => void
}

const asObject = (pair: FieldPair) => (typeof pair === 'string' ? { left: pair } : pair)

/** The column of the right table, where it is not the one of the same name. */
function RightName({ pair, right, change }: PairProps & { right: readonly string[] }) {
  const left = leftOf(pair)
  const { right: chosen = left, ...rest } = asObject(pair)
  if (right.length === 0) return null
  return html`<select
    aria-label=${comparisonTexts.nameOnRight(left)}
    value=${right.includes(chosen) ? chosen : ''}
    onChange=${(event: Event) =>
      change(shortPair({ ...rest, left, right: (event.target as HTMLSelectElement).value || left }))}
  >
    ${!right.includes(chosen) && html`<option value="">–</option>`}
    ${right.map(name => html`<option key=${name} value=${name}>${name}</option>`)}
  </select>`
}

/** When two values count as equal. */
function Rule({ pair, rules, change }: PairProps & { rules: readonly RuleChoice[] }) {
  if (rules.length === 0) return null
  const { left, right, ...rule } = asObject(pair)
  const names = { left, ...(right !== undefined && { right }) }
  const place = rules.findIndex(({ field, value }) =>
    value === undefined ? field in rule : rule[field] === value,
  )
  const chosen = rules[place]
  const choose = (next: RuleChoice | undefined) =>
    change(shortPair({ ...names, ...(next && { [next.field]: next.value ?? Number(next.number) }) }))
  return html`<select
      aria-label=${comparisonTexts.ruleOf(left)}
      value=${String(place)}
      onChange=${(event: Event) => choose(rules[Number((event.target as HTMLSelectElement).value)])}
    >
      <option value="-1">${comparisonTexts.exact}</option>
      ${rules.map(({ text }, n) => html`<option key=${text} value=${String(n)}>${text}</option>`)}
    </select>
    ${
      chosen?.number !== undefined &&
      html`<${RuleNumber}
        key=${chosen.field}
        label=${comparisonTexts.numberOf(left)}
        initial=${rule[chosen.field]}
        change=${(number: number | string) => change(shortPair({ ...names, [chosen.field]: number }))}
      />`
    }`
}

/** Holds what is written, since `0.` on the way to `0.5` is a number too. What is no number is left to the server to refuse. */
function RuleNumber({
  label,
  initial,
  change,
}: {
  label: string
  initial: unknown
  change: (number: number | string) => void
}) {
  const [text, setText] = useState(String(initial))
  return html`<input
    class="rule-number"
    aria-label=${label}
    inputmode="decimal"
    value=${text}
    onInput=${(event: Event) => {
      const written = (event.target as HTMLInputElement).value
      const number = Number(written)
      setText(written)
      change(written.trim() !== '' && Number.isFinite(number) ? number : written)
    }}
  />`
}
