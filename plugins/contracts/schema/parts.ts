export type Schema = Record<string, unknown>

/** Schemas by field name; `false` forbids a field. */
export type SchemaFields = Record<string, Schema | boolean>

export const text: Schema = { type: 'string' }
export const uri: Schema = { type: 'string', format: 'uri' }
export const flag: Schema = { type: 'boolean' }
export const number: Schema = { type: 'number' }
export const whole: Schema = { type: 'integer' }
export const count: Schema = { type: 'integer', minimum: 0 }
export const object: Schema = { type: 'object' }
export const ID = '^[A-Za-z0-9_-]+$'
/** Any value. */
export const anything: Schema = {}
export const plain: Schema = { type: ['string', 'number', 'boolean', 'null'] }

export function oneOf(...values: string[]): Schema {
  return { type: 'string', enum: values }
}

export function list(items: Schema): Schema {
  return { type: 'array', items }
}

/** A reference to a shared definition. */
export function part(name: string): Schema {
  return { $ref: `#/$defs/${name}` }
}

/** An object without other fields. */
export function closed(fields: SchemaFields, required: readonly string[] = []): Schema {
  return { type: 'object', properties: fields, required, additionalProperties: false }
}

/** An object whose other fields are only warned about: failures of a schema marked `open` are warnings. */
export function open(fields: SchemaFields, required: readonly string[] = []): Schema {
  return { ...closed(fields, required), open: true }
}

export function when(test: Schema, then: Schema, otherwise?: Schema): Schema {
  return { if: test, then, ...(otherwise && { else: otherwise }) }
}

/** Matches an object whose field has one of these values. */
export function hasValue(field: string, ...values: string[]): Schema {
  return { properties: { [field]: { enum: values } }, required: [field] }
}

/** Schemas of some fields of an object, which may have others. */
export function fields(properties: SchemaFields, required: readonly string[] = []): Schema {
  return { properties, ...(required.length > 0 && { required }) }
}

export function each<Rule>(names: readonly string[], rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.map(name => [name, rule]))
}
