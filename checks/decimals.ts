import { trimEnd } from '../connectors/trim-end.ts'

/** A decimal number in the notation of JavaScript or of people. */
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/**
 * Multiplies a number by a power of ten exactly: the point moves, no digit changes.
 * @param value a finite number, or a decimal text of any length
 * @param places how far the point moves to the right
 * @returns a decimal text without an exponent
 * @throws TypeError if it is not a decimal number
 */
export function shiftDecimal(value: number | string, places: number): string {
  const parts = PARTS.exec(String(value))
  if (!parts) throw new TypeError(`${value} is not a decimal number.`)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const point = whole.length + Number(exponent) + places
  const digits = (whole + fraction).padEnd(point, '0')
  const padded = point < 1 ? '0'.repeat(1 - point) + digits : digits
  const before = padded.slice(0, Math.max(point, 1)).replace(/^0+(?=\d)/, '')
  const after = trimEnd(padded.slice(Math.max(point, 1)), '0')
  const text = after === '' ? before : `${before}.${after}`
  return text === '0' ? text : sign + text
}

/**
 * Compares two decimal numbers, exactly whatever their length.
 * @returns below 0, 0 or above 0, as sorting takes it
 */
export function compareDecimals(a: number | string, b: number | string): number {
  const [first, second] = [shiftDecimal(a, 0), shiftDecimal(b, 0)]
  const isNegative = first.startsWith('-')
  if (isNegative !== second.startsWith('-')) return isNegative ? -1 : 1
  return isNegative ? compareSizes(second.slice(1), first.slice(1)) : compareSizes(first, second)
}

/** The sum of two decimal numbers, exactly whatever their length. */
export function addDecimals(a: number | string, b: number | string): string {
  const terms = [shiftDecimal(a, 0), shiftDecimal(b, 0)]
  const places = Math.max(...terms.map(term => term.split('.')[1]?.length ?? 0))
  const sum = terms.reduce((total, term) => total + BigInt(shiftDecimal(term, places)), 0n)
  return shiftDecimal(String(sum), -places)
}

/** Compares numbers without a sign, leading or trailing zeros. */
function compareSizes(a: string, b: string): number {
  const [wholeOfA = '', fractionOfA = ''] = a.split('.')
  const [wholeOfB = '', fractionOfB = ''] = b.split('.')
  if (wholeOfA.length !== wholeOfB.length) return wholeOfA.length - wholeOfB.length
  const [digitsOfA, digitsOfB] = [wholeOfA + fractionOfA, wholeOfB + fractionOfB]
  return digitsOfA < digitsOfB ? -1 : Number(digitsOfA > digitsOfB)
}
