import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import type { AlertKind, FactText } from '../api.ts'
import { contractsIn } from '../named-contracts.ts'
import type { Fact } from './describe.ts'

/** The facts of an event, without those that lack a value. */
export function factsOf({ facts }: AlertKind, details: object): Fact[] {
  const all = facts?.(details as Record<string, unknown>, { fill, join, range }) ?? []
  ignoreRejection(all)
  const contracts = [...new Set(contractsIn(details).map(({ contract }) => contract))].join(', ')
  const named: typeof all = [...all, ['Contract', contracts]]
  return named.flatMap(([name, value]) => {
    const text = toText(value)
    return text === null || typeof name !== 'string' ? [] : [{ name, value: text }]
  })
}

const fill: FactText['fill'] = (words, ...values) => {
  const texts = values.map(toText)
  return texts.includes(null) ? null : String.raw({ raw: words }, ...texts)
}

const join: FactText['join'] = (parts, separator = ', ') => {
  const texts = parts.map(toText).filter(text => text !== null)
  return texts.join(separator) || null
}

const range: FactText['range'] = band => {
  const { low, high } = (band ?? {}) as Record<string, unknown>
  return fill`${low} to ${high}`
}

/** A scalar as people read it; null if there is none. */
function toText(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)))
  return typeof value === 'string' && value !== '' ? value : null
}
