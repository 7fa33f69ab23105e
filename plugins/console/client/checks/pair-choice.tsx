import { useState } from 'preact/hooks'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { comparisonTexts } from './comparison-texts.ts'
import { leftOf, readPairs, rulesOf, shortPair, type FieldPair, type RuleChoice } from './comparison-specs.ts'
import { ColumnBox, ColumnField } from './column-choice.tsx'

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
  const { name } = spec
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
  const row = (column: NamedColumn) => {
    const pair = pairs.find(each => leftOf(each) === column.name)
    return (
      <div key={column.name} class="pair">
        <ColumnBox
          name={name}
          column={column.name}
          isInvalid={Boolean(form.problems[name])}
          isChecked={pair !== undefined}
          toggle={toggle}
        />
        {pair !== undefined && <RightName pair={pair} right={right} change={change} />}
        {pair !== undefined && hasRules && <Rule pair={pair} rules={rulesOf(column.kind)} change={change} />}
      </div>
    )
  }
  return (
    <ColumnField
      form={form}
      spec={spec}
      kind="pairs"
      columns={left}
      nameOf={(column: NamedColumn) => column.name}
      row={row}
    />
  )
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
  return (
    <select
      aria-label={comparisonTexts.nameOnRight(left)}
      value={right.includes(chosen) ? chosen : ''}
      onChange={(event: Event) =>
        change(shortPair({ ...rest, left, right: (event.target as HTMLSelectElement).value || left }))
      }
    >
      {!right.includes(chosen) && <option value="">–</option>}
      {right.map(name => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
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
  return (
    <>
      <select
        aria-label={comparisonTexts.ruleOf(left)}
        value={String(place)}
        onChange={(event: Event) => choose(rules[Number((event.target as HTMLSelectElement).value)])}
      >
        <option value="-1">{comparisonTexts.exact}</option>
        {rules.map(({ text }, n) => (
          <option key={text} value={String(n)}>
            {text}
          </option>
        ))}
      </select>
      {chosen?.number !== undefined && (
        <RuleNumber
          key={chosen.field}
          label={comparisonTexts.numberOf(left)}
          initial={rule[chosen.field]}
          change={(number: number | string) => change(shortPair({ ...names, [chosen.field]: number }))}
        />
      )}
    </>
  )
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
  return (
    <input
      class="rule-number"
      aria-label={label}
      inputmode="decimal"
      value={text}
      onInput={(event: Event) => {
        const written = (event.target as HTMLInputElement).value
        const number = Number(written)
        setText(written)
        change(written.trim() !== '' && Number.isFinite(number) ? number : written)
      }}
    />
  )
}
