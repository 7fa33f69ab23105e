/**
 * The plain scalars of YAML as PyYAML reads them, which is how dbt reads its files: YAML 1.1, with the expressions of
 * PyYAML's resolver. https://github.com/yaml/pyyaml/blob/6.0.2/lib/yaml/resolver.py
 */
import type { ScalarTag } from 'yaml'

/**
 * A number that Python writes otherwise than JavaScript, such as `1.0`, or holds more exactly. It is no number for code that
 * does not know it, so that it is refused there and not changed.
 */
export class PythonNumber {
  /** As Python writes it. */
  readonly text: string
  /** The nearest one. */
  readonly value: number

  constructor(text: string, value: number) {
    this.text = text
    this.value = value
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** A scalar as Python writes it: `True`, `1.0`. */
export function writePython(value: string | number | boolean | PythonNumber): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)
}

/** A value that JSON holds without a loss: a number beyond 2^53 as text. */
export function toPlain(value: string | number | boolean | PythonNumber): string | number | boolean {
  if (!(value instanceof PythonNumber)) return value
  return /^-?\d+$/.test(value.text) ? value.text : value.value
}

const tag = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  resolve: (text, fail) => {
    try {
      return resolve(text)
    } catch (error) {
      fail((error as Error).message)
      return text
    }
  },
})

/** In the order of PyYAML: the first that fits counts. */
export const PYTHON_SCALARS: readonly ScalarTag[] = [
  tag('bool', /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/, text =>
    /^(?:yes|true|on)$/i.test(text),
  ),
  tag(
    'float',
    /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
    readFloat,
  ),
  tag(
    'int',
    /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
    readInteger,
  ),
  tag('null', /^(?:~|null|Null|NULL|)$/, () => null),
  tag('timestamp', /^\d{4}-\d\d-\d\d$/, text => {
    readDay(text)
    return text
  }),
  tag(
    'timestamp',
    /^\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?$/,
    readMoment,
  ),
]

/** The plain scalars of YAML 1.2 as ruamel.yaml reads them, which is how Soda reads its files. Days are kept as texts. */
export const RUAMEL_SCALARS: readonly ScalarTag[] = [
  tag('bool', /^(?:true|True|TRUE|false|False|FALSE)$/, text => /^true$/i.test(text)),
  tag(
    'float',
    /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/,
    text => Number(text.replaceAll('_', '')),
  ),
  tag('int', /^[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-fA-F_]+)$/, readInteger),
  tag('int', /^[-+]?[0-9][0-9_]*$/, text => readInteger(text.replace(/^([-+]?)[0_]+(?=[0-9])/, '$1'))),
  tag('null', /^(?:~|null|Null|NULL|)$/, () => null),
]

function signOf(text: string): { sign: 1 | -1; digits: string } {
  const digits = text.replaceAll('_', '')
  return { sign: digits.startsWith('-') ? -1 : 1, digits: digits.replace(/^[-+]/, '') }
}

function readInteger(text: string): number | PythonNumber {
  const { sign, digits } = signOf(text)
  const positive = digits.includes(':')
    ? digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n)
    : // What begins with 0 is octal, and 0b and 0x are as in JavaScript.
      BigInt(/^0[0-7]/.test(digits) ? `0o${digits}` : digits)
  const value = BigInt(sign) * positive
  const number = Number(value)
  // -0 is 0 in Python.
  return Number.isSafeInteger(number) ? number + 0 : new PythonNumber(String(value), number)
}

function readFloat(text: string): number | PythonNumber {
  const { sign, digits } = signOf(text.toLowerCase())
  const positive =
    digits === '.inf'
      ? Infinity
      : digits === '.nan'
        ? NaN
        : digits.split(':').reduce((sum, part) => sum * 60 + Number(part === '.' ? NaN : part), 0)
  const value = sign * positive
  const spelled = writeFloat(value)
  return spelled === String(value) ? value : new PythonNumber(spelled, value)
}

/** Python's `repr`: the shortest digits, as JavaScript has them, but with other rules for zeros and exponents. */
function writeFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power < -4 || power >= 16)
    return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  const fixed = power < -6 ? value.toFixed(20) : String(value)
  return fixed.includes('.') ? fixed : `${fixed}.0`
}

function readDay(text: string): string {
  const day = text
    .split('-')
    .map(part => part.padStart(2, '0'))
    .join('-')
  const date = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day)
    throw new RangeError(`${text} is no day of the calendar: write it in quotes, or as YYYY-MM-DD`)
  return day
}

/** As Python writes a moment: `2024-01-31 08:00:00+00:00`. */
function readMoment(text: string): string {
  const match = /^([\d-]+)(?:t|\s+)(\d+):(\d+):(\d+)(?:\.(\d*))?\s*(?:(z)|([-+])(\d+)(?::(\d+))?)?$/i.exec(
    text,
  )
  if (!match) throw new RangeError(`${text} is no moment: write it in quotes`)
  const [
    ,
    day = '',
    hour = '',
    minute = '',
    second = '',
    fraction = '',
    utc,
    sign,
    hours = '',
    minutes = '0',
  ] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    throw new RangeError(`${text} is no moment of a day: write it in quotes`)
  const micros = fraction.slice(0, 6).padEnd(6, '0')
  const zone =
    utc !== undefined
      ? '+00:00'
      : sign === undefined
        ? ''
        : `${Number(hours) + Number(minutes) === 0 ? '+' : sign}${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}`
  return `${readDay(day)} ${hour.padStart(2, '0')}:${minute}:${second}${Number(micros) === 0 ? '' : `.${micros}`}${zone}`
}
