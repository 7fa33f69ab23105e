/** Rounds stored numbers to the digits that matter, since a detector's state is stored after every capture. */

/** Default number of significant digits: far more than an estimate from a few hundred values supports. */
const DIGITS = 7
/** The powers of ten that a double represents exactly. */
const TENS = Array.from({ length: 23 }, (_, i) => 10 ** i)
/** Decimal digits in a binary one: log10(2). */
const DECIMALS = 0.30103

/** The number with so many significant digits, or one more, so that its decimal form is short. */
export function roundDigits(value: number, digits = DIGITS): number {
  if (value === 0) return 0
  const places = digits - Math.ceil(binaryExponent(value) * DECIMALS)
  if (places >= 0)
    return places <= 22
      ? Math.round(value * TENS[places]!) / TENS[places]!
      : Number(value.toPrecision(digits))
  return places < -22 ? value : Math.round(value / TENS[-places]!) * TENS[-places]!
}

/** Shortens every number of an array, in place. */
export function roundAll(values: number[]): void {
  for (let i = 0; i < values.length; i++) values[i] = roundDigits(values[i]!)
}

/** The power of two below a number, from its bits (IEEE 754): many times faster than a logarithm. */
function binaryExponent(value: number): number {
  DOUBLE.setFloat64(0, value)
  return ((DOUBLE.getInt16(0) >> 4) & 0x7ff) - 1023
}
const DOUBLE = new DataView(new ArrayBuffer(8))
