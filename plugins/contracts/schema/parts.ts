/** A JSON Schema, as far as contracts need one. */
export type Schema = Record<string, unknown>

/** Values by name; `false` is a name that may not be there. */
export type SchemaFields = Record<string, Schema | boolean>

export const text: Schema = { type: 'string' }
export const uri: Schema = { type: 'string', format: 'uri' }
export const flag: Schema = { type: 'boolean' }
export const number: Schema = { type: 'number' }
export const whole: Schema = { type: 'integer' }
export const count: Schema = { type: 'integer', minimum: 0 }
export const object: Schema = { type: 'object' }
/** What an id is made of. */
export const ID = '^[A-Za-z0-9_-]+$'
/** What may be anything, and only has to be known. */
export const anything: Schema = {}
/** Anything but a list or an object. */
export const plain: Schema = { type: ['string', 'number', 'boolean', 'null'] }

/** One of these texts. */
export function oneOf(...values: string[]): Schema {
  return { type: 'string', enum: values }
}

/** A list of such values. */
export function list(items: Schema): Schema {
  return { type: 'array', items }
}

/** A part that is described once and used in many places. */
export function part(name: string): Schema {
  return { $ref: `#/$defs/${name}` }
}

/** An object that has no other fields. */
export function closed(fields: SchemaFields, required: readonly string[] = []): Schema {
  return { type: 'object', properties: fields, required, additionalProperties: false }
}

/** An object whose other fields are not refused, but told of: failures of what is marked `open` are warnings. */
export function open(fields: SchemaFields, required: readonly string[] = []): Schema {
  return { ...closed(fields, required), open: true }
}

/** Some rules of an object for the case that it is like `test`, and others for when it is not. */
export function when(test: Schema, then: Schema, otherwise?: Schema): Schema {
  return { if: test, then, ...(otherwise && { else: otherwise }) }
}

/** True for an object whose field has one of these values. */
export function hasValue(field: string, ...values: string[]): Schema {
  return { properties: { [field]: { enum: values } }, required: [field] }
}

/** Rules about some fields of an object, whatever else it has. */
export function fields(properties: SchemaFields, required: readonly string[] = []): Schema {
  return { properties, ...(required.length > 0 && { required }) }
}

/** The same rule for several names. */
export function each<Rule>(names: readonly string[], rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.map(name => [name, rule]))
}
