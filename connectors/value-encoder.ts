/** How an engine writes values, by what they are. */
interface ValueForms<Encoded> {
  /** The form of null and undefined. */
  absent: Encoded
  /** Also of objects, as JSON. */
  text(value: string): Encoded
  number(value: number): Encoded
  bigint(value: bigint): Encoded
  boolean(value: boolean): Encoded
  date(value: Date): Encoded
  bytes(value: Uint8Array): Encoded
}

/** Makes what puts values into the form of an engine's wire, and throws a TypeError for what cannot be bound. */
export function makeEncoder<Encoded>(forms: ValueForms<Encoded>): (value: unknown) => Encoded {
  return value => {
    if (value === null || value === undefined) return forms.absent
    if (typeof value === 'string') return forms.text(value)
    if (typeof value === 'number') return forms.number(value)
    if (typeof value === 'bigint') return forms.bigint(value)
    if (typeof value === 'boolean') return forms.boolean(value)
    if (value instanceof Date) return forms.date(value)
    if (value instanceof Uint8Array) return forms.bytes(value)
    if (typeof value === 'object') return forms.text(JSON.stringify(value))
    throw new TypeError(`A ${typeof value} cannot be bound to a statement`)
  }
}

/** The bytes as a Buffer, without a copy. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
