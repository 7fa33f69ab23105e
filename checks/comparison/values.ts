/** Whether two values, written as the dialects write them for comparison, are equal by a rule. */
import type { ValueFamily } from '../../connectors/dialect.ts'
import { trimEnd } from '../../connectors/trim-end.ts'
import { compareDecimals, shiftDecimal } from '../decimals.ts'
import type { ColumnPair, ValueRule } from './pairs.ts'

/** Whether two texts of values differ; null stands for NULL. */
export function differs(
  pair: Pick<ColumnPair, 'family' | 'rule' | 'floatTolerance'>,
  left: string | null,
  right: string | null,
): boolean {
  if (left === right) return false
  const [one, other] = [left, right].map(text => prepare(text, pair)) as [string | null, string | null]
  if (one === other) return false
  if (one === null || other === null) return true
  if (pair.family === 'number') return numbersDiffer(one, other, pair)
  return true
}

/** A value of a key in one form of writing, equal for equal values. */
export function plainKey(pair: Pick<ColumnPair, 'family'>, text: string): string {
  // Most keys are integers, which are written alike.
  if (PLAIN_INTEGER.test(text)) return text
  return prepare(text, { family: pair.family, rule: {} }) ?? text
}

/** A value in one form of writing, as far as the engines differ, after what the rule does to it. */
function prepare(
  text: string | null,
  { family, rule, floatTolerance }: { family: ValueFamily; rule: ValueRule; floatTolerance?: number },
): string | null {
  if (text === null) return rule.nullIsEmpty ? '' : null
  switch (family) {
    case 'number':
      return rounded(plainNumber(text), rule.round, floatTolerance !== undefined)
    case 'boolean':
      return BOOLEANS[text.toLowerCase()] ?? plainNumber(text)
    case 'timestamp':
      return plainMoment(text, rule.precision)
    case 'time':
      return text.includes('.') ? trimEnd(trimEnd(text, '0'), '.') : text
    case 'uuid':
    case 'binary':
      return text.toLowerCase()
    case 'text': {
      const trimmed = rule.trim ? trimEnd(text, ' ').replace(/^ +/, '') : text
      return rule.ignoreCase ? foldCase(trimmed) : trimmed
    }
    case 'date':
    case 'json':
      return text
  }
}

/**
 * A text without case, equal wherever an engine or a locale gives two texts the same lower case: they give a capital I with a
 * dot one character or two, and a sigma at the end of a word one letter or another.
 */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ')
}

const BOOLEANS: Readonly<Record<string, string>> = { true: '1', t: '1', false: '0', f: '0' }

const PLAIN_INTEGER = /^[1-9]\d*$/
const INFINITY = /^([+-]?)inf(inity)?$/i
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i

/** A number without exponent, and without zeros and a sign that say nothing; other texts in lower case. */
function plainNumber(text: string): string {
  const [, sign] = INFINITY.exec(text) ?? []
  if (sign !== undefined) return `${sign === '-' ? '-' : ''}infinity`
  return NUMBER.test(text) ? shiftDecimal(text, 0) : text.toLowerCase()
}

function numbersDiffer(
  one: string,
  other: string,
  { rule, floatTolerance }: Pick<ColumnPair, 'rule' | 'floatTolerance'>,
): boolean {
  if (!PLAIN_NUMBER.test(one) || !PLAIN_NUMBER.test(other)) return true
  const { tolerance, relativeTolerance } = rule
  if (floatTolerance === undefined) {
    if (tolerance !== undefined && compareDecimals(distanceOf(one, other), tolerance) <= 0) return false
    return relativeTolerance === undefined || !isWithinExactShare(one, other, relativeTolerance)
  }
  const [a, b] = [Number(one), Number(other)]
  const [distance, larger] = [Math.abs(a - b), Math.max(Math.abs(a), Math.abs(b))]
  if (tolerance !== undefined && (distance - tolerance) / larger <= floatTolerance) return false
  return !(distance / larger <= Math.max(floatTolerance, relativeTolerance ?? 0))
}

/** Whether two plain numbers are at most a share of the larger one apart, exactly. */
function isWithinExactShare(one: string, other: string, share: number): boolean {
  const [a, b] = [one, other].map(text => text.replace('-', '')) as [string, string]
  const larger = compareDecimals(a, b) >= 0 ? a : b
  const part = shiftDecimal(share, 0)
  const [scale, partScale] = [fractionDigits(larger), fractionDigits(part)]
  const product = shiftDecimal(String(scaled(larger, scale) * scaled(part, partScale)), -scale - partScale)
  return compareDecimals(distanceOf(one, other), product) <= 0
}

/** A plain number rounded to digits behind the point, halves away from zero; a float by its first 15 digits, as engines print it. */
function rounded(text: string, digits: number | undefined, isFloat: boolean): string {
  if (digits === undefined || !PLAIN_NUMBER.test(text)) return text
  const plain = isFloat ? shiftDecimal(Number(text).toPrecision(FLOAT_DIGITS), 0) : text
  if (fractionDigits(plain) <= digits) return plain
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.')
  const cut = BigInt(whole + fraction.slice(0, digits)) + (fraction[digits]! >= '5' ? 1n : 0n)
  const sign = plain.startsWith('-') ? '-' : ''
  return shiftDecimal(`${sign}${cut}`, -digits)
}

/** Digits of a double that every engine prints. */
const FLOAT_DIGITS = 15

/** How far two plain numbers are apart, exactly: 0.3 and 0.1 as doubles are more than 0.2 apart. */
function distanceOf(one: string, other: string): string {
  const scale = Math.max(fractionDigits(one), fractionDigits(other))
  const distance = scaled(one, scale) - scaled(other, scale)
  return shiftDecimal(String(distance < 0n ? -distance : distance), -scale)
}

const fractionDigits = (text: string) => text.split('.')[1]?.length ?? 0

function scaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

const MOMENT = /^(.*?\d\d:\d\d:\d\d)(?:\.(\d+))?\s*(?:z|\+00(?::?00)?)?( bc)?$/i
const PRECISION_DIGITS = { second: 0, millisecond: 3, microsecond: 6 } as const

/** A moment in UTC without zeros at its end, cut to a precision; a day alone is its first moment. */
function plainMoment(text: string, precision: ValueRule['precision'] = 'microsecond'): string {
  const spaced = /^\d{4}-\d\d-\d\d$/.test(text)
    ? `${text} 00:00:00`
    : text.replace(/^(\d{4,}-\d\d-\d\d)T/, '$1 ')
  const [, seconds, fraction = '', era = ''] = MOMENT.exec(spaced) ?? []
  if (seconds === undefined) return text.toLowerCase()
  const digits = trimEnd(fraction.slice(0, PRECISION_DIGITS[precision]), '0')
  return `${seconds}${digits === '' ? '' : `.${digits}`}${era}`
}
