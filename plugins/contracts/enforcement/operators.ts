import type { NumberComparison } from '../../../checks/sql/limits.ts'
import type { ContractNode } from '../elements.ts'

/** A comparison of a number with what a quality rule says. */
export interface Comparison {
  /** The condition that must hold, with `n` for the number. */
  write(n: string): string
  /** In words: `at most 5`. */
  words: string
  /** The most that is allowed, if it is an upper bound and nothing else: 0 of `mustBe: 0`. */
  atMost: number | null
  /** What all must hold; null where that is no comparison with a number. */
  holds: readonly NumberComparison[] | null
  numbers: readonly number[]
}

type Operator = (numbers: readonly [number, number]) => Omit<Comparison, 'numbers'>

const isAtMost = (most: number): Omit<Comparison, 'numbers'> => ({
  write: n => `${n} <= ${most}`,
  words: `at most ${most}`,
  atMost: most,
  holds: [{ sign: '<=', number: most }],
})

const OPERATORS: Record<string, Operator> = {
  mustBe: ([value]) => ({
    write: n => `${n} = ${value}`,
    words: String(value),
    atMost: value === 0 ? 0 : null,
    holds: [{ sign: '=', number: value }],
  }),
  mustNotBe: ([value]) => ({
    write: n => `${n} <> ${value}`,
    words: `not ${value}`,
    atMost: null,
    holds: null,
  }),
  mustBeGreaterThan: ([value]) => ({
    write: n => `${n} > ${value}`,
    words: `more than ${value}`,
    atMost: null,
    holds: [{ sign: '>', number: value }],
  }),
  mustBeGreaterOrEqualTo: ([value]) => ({
    write: n => `${n} >= ${value}`,
    words: `at least ${value}`,
    atMost: null,
    holds: [{ sign: '>=', number: value }],
  }),
  mustBeLessThan: ([value]) => ({
    write: n => `${n} < ${value}`,
    words: `less than ${value}`,
    atMost: null,
    holds: [{ sign: '<', number: value }],
  }),
  mustBeLessOrEqualTo: ([value]) => isAtMost(value),
  mustBeBetween: ([low, high]) => ({
    write: n => `${n} between ${low} and ${high}`,
    words: `${low} to ${high}`,
    atMost: low === 0 ? high : null,
    holds: [
      { sign: '>=', number: low },
      { sign: '<=', number: high },
    ],
  }),
  mustNotBeBetween: ([low, high]) => ({
    write: n => `${n} not between ${low} and ${high}`,
    words: `not ${low} to ${high}`,
    atMost: null,
    holds: null,
  }),
}

/**
 * The comparisons of a quality rule; before 3.1 it may have several, and all must hold.
 * @returns null without one, or why one cannot be used
 */
export function comparisonOf(rule: ContractNode): Comparison | { reason: string } | null {
  const comparisons: Comparison[] = []
  for (const [name, operator] of Object.entries(OPERATORS)) {
    const given = rule[name]
    if (given === undefined) continue
    const numbers = (Array.isArray(given) ? given : [given]).map(Number)
    const isPair = name.endsWith('Between')
    const isUsable =
      [given]
        .flat()
        .every(value => typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) &&
      numbers.every(Number.isFinite) &&
      numbers.length === (isPair ? 2 : 1)
    if (!isUsable) return { reason: `${name} must be ${isPair ? 'two numbers' : 'a number'}` }
    const [low = 0, high = 0] = isPair ? numbers.toSorted((a, b) => a - b) : numbers
    comparisons.push({ ...operator([low, high]), numbers })
  }
  const [first] = comparisons
  if (!first) return null
  if (comparisons.length === 1) return first
  return {
    write: n => comparisons.map(({ write }) => `(${write(n)})`).join(' and '),
    words: comparisons.map(({ words }) => words).join(' and '),
    atMost: null,
    holds: comparisons.every(({ holds }) => holds !== null)
      ? comparisons.flatMap(({ holds }) => holds ?? [])
      : null,
    numbers: comparisons.flatMap(({ numbers }) => numbers),
  }
}

/** Numbers as SQL that all engines read: no exponent. */
export function areWritable({ numbers }: Comparison): boolean {
  return numbers.every(number => /^-?\d+(\.\d+)?$/.test(String(number)))
}

/** A comparison with zero, for rules of old contracts that leave it out. */
export const NONE_AT_ALL: Comparison = { ...isAtMost(0), numbers: [0] }
