import type { JsonSchema } from './schema.ts'

/** Fewest characters that are saved by describing a record by another. */
const MIN_SAVED = 200

interface RecordSchema extends JsonSchema {
  properties: JsonSchema
  required: string[]
}

/**
 * Describes a record that has all the fields of another as that other record with more fields (`allOf`): of the created
 * rule, the rule and its secret. Clients get one class for what both have. A schema that takes no further fields, as
 * those of bodies do, is neither base nor extended.
 * @param paths the operations, which refer to the schemas
 * @returns the schemas, without those that nothing refers to
 */
export function composeSchemas(
  schemas: Record<string, JsonSchema>,
  paths: object,
): Record<string, JsonSchema> {
  const records = Object.entries(schemas).filter(isRecord)
  const composed = Object.entries(schemas).map(([name, schema]) => {
    const own = records.find(([each]) => each === name)?.[1]
    return [name, own ? extend(own, records) : schema] as const
  })
  const text = JSON.stringify([composed, paths])
  return Object.fromEntries(composed.filter(([name]) => text.includes(`"#/components/schemas/${name}"`)))
}

function isRecord(entry: [string, JsonSchema]): entry is [string, RecordSchema] {
  const [, { type, properties, required, additionalProperties, anyOf, oneOf }] = entry
  const isOpen = additionalProperties === undefined && anyOf === undefined && oneOf === undefined
  return type === 'object' && isOpen && properties !== undefined && required !== undefined
}

function extend(schema: RecordSchema, records: [string, RecordSchema][]): JsonSchema {
  const { type, properties, required, ...others } = schema
  const [base] = records
    .filter(([, other]) => isPartOf(other, schema))
    .map(([name, other]) => ({ name, other, saved: JSON.stringify(other.properties).length }))
    .filter(({ saved }) => saved >= MIN_SAVED)
    .sort((a, b) => b.saved - a.saved)
  if (!base) return schema
  const more = Object.entries(properties).filter(([name]) => !(name in base.other.properties))
  const moreRequired = required.filter(name => !base.other.required.includes(name))
  const extension = {
    type,
    properties: Object.fromEntries(more),
    ...(moreRequired.length > 0 && { required: moreRequired }),
  }
  return { allOf: [{ $ref: `#/components/schemas/${base.name}` }, extension], ...others }
}

/** Whether a record has each field of another, described alike, and fields of its own. */
function isPartOf(part: RecordSchema, whole: RecordSchema): boolean {
  const fields = Object.entries(part.properties)
  return (
    fields.length < Object.keys(whole.properties).length &&
    part.required.every(name => whole.required.includes(name)) &&
    fields.every(([name, field]) => JSON.stringify(field) === JSON.stringify(whole.properties[name]))
  )
}
