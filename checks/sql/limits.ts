/** Comparisons as SQL writes them, and the limits of a value that say the same. */

/** What a number must be: `{ sign: '<=', number: 5 }`. */
export interface NumberComparison {
  /** `<`, `<=`, `=`, `>=`, `>` or `<>`. */
  sign: string
  number: number
}

/** What values a number can have: whole ones from 0 on, those from 0 to 100, or any. */
export type NumberRange = 'whole' | 'percent' | 'any'

/** The least and the greatest value that is allowed; both belong to what is. */
export interface Limits {
  min?: number
  max?: number
}

/**
 * The limits that hold exactly where all comparisons do; null where there are none, as of `<> 3`, of `> 0.5` of a number
 * that need not be whole, and of comparisons that no value keeps.
 */
export function limitsOf(comparisons: readonly NumberComparison[], range: NumberRange): Limits | null {
  const isWhole = range === 'whole'
  let [min, max] = [-Infinity, Infinity]
  for (const { sign, number } of comparisons) {
    const isLimit = ['>=', '<=', '='].includes(sign) || (isWhole && ['>', '<'].includes(sign))
    if (!isLimit || !Number.isFinite(number)) return null
    if (sign === '>=' || sign === '=') min = Math.max(min, number)
    if (sign === '>') min = Math.max(min, Math.floor(number) + 1)
    if (sign === '<=' || sign === '=') max = Math.min(max, number)
    if (sign === '<') max = Math.min(max, Math.ceil(number) - 1)
  }
  if (min > max || (range !== 'any' && max < 0) || (range === 'percent' && min > 100)) return null
  return { ...(min > -Infinity && { min }), ...(max < Infinity && { max }) }
}
