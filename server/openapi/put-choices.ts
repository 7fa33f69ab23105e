import type { JsonSchema } from './schema.ts'

/** Puts the schemas that can be chosen from in the place of an object that only names them. */
export function putChoices(schema: JsonSchema, choices: readonly JsonSchema[]): JsonSchema {
  const { type, properties: _own, required: _names, additionalProperties: _open, ...others } = schema
  const isNullable = [type].flat().includes('null')
  return { ...others, anyOf: [...choices, ...(isNullable ? [{ type: 'null' }] : [])] }
}

/** As `putChoices`, of records that one of their fields tells apart. @param by the field, with one word in each record */
export function putVariants(schema: JsonSchema, by: string, records: readonly JsonSchema[]): JsonSchema {
  const { type: _type, properties: _own, required: _names, ...others } = schema
  const words = records.map(record => {
    const [, component] = record['x-component'] as [string, string]
    const field = (record.properties as Record<string, { enum: string[] }>)[by]
    return [field?.enum[0], `#/components/schemas/${component}`]
  })
  const discriminator = { propertyName: by, mapping: Object.fromEntries(words) as object }
  return { ...others, oneOf: records, discriminator }
}
