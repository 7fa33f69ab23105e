import type { Edition } from './editions.ts'
import {
  count,
  each,
  fields,
  flag,
  hasValue,
  list,
  number,
  object,
  oneOf,
  part,
  closed,
  text,
  when,
  whole,
} from './parts.ts'
import type { SchemaFields, Schema } from './parts.ts'

/** The options of a property, by logical type. */
function options({ isStrict }: Edition): Record<string, SchemaFields> {
  // Before 3.1, an exclusive bound was a value and a flag.
  const range = (value: Schema): SchemaFields => ({
    minimum: value,
    maximum: value,
    ...each(['exclusiveMinimum', 'exclusiveMaximum'], isStrict ? value : flag),
  })
  const numeric = { ...range(number), multipleOf: { type: 'number', exclusiveMinimum: 0 } }
  const widths = ['8', '16', '32', '64', '128']
  const integers = oneOf(...['i', 'u'].flatMap(sign => widths.map(width => sign + width)))
  const zoned = { ...range(text), format: text, timezone: flag, defaultTimezone: text }
  const names = { ...list(text), minItems: 1, uniqueItems: true }
  return {
    string: { minLength: count, maxLength: count, pattern: text, format: text },
    date: { ...range(text), format: text },
    ...(isStrict && { timestamp: zoned, time: zoned }),
    integer: { ...numeric, format: integers },
    number: { ...numeric, format: oneOf('f32', 'f64') },
    object: { minProperties: count, maxProperties: count, required: names },
    array: { minItems: count, maxItems: count, uniqueItems: flag },
    boolean: {},
  }
}

/** Fields that objects and properties share. */
function element(edition: Edition): SchemaFields {
  return {
    ...edition.id,
    ...each(['name', 'physicalType', 'description', 'businessName'], text),
    authoritativeDefinitions: part('authoritativeDefinitions'),
    tags: list(text),
    customProperties: part('customProperties'),
    quality: list(part('quality')),
  }
}

/** A table, topic or file. */
export function schemaObject(edition: Edition): Schema {
  const known = {
    ...element(edition),
    logicalType: oneOf('object'),
    ...each(['physicalName', 'dataGranularityDescription'], text),
    properties: list(part('property')),
    ...(edition.isStrict && { relationships: list(betweenObjects()) }),
  }
  return closed(known, ['name'])
}

/**
 * A column or field, or the items of one.
 * @param isItem an item needs no name, and before 3.1 could have properties whatever its type
 */
export function property(edition: Edition, isItem: boolean): Schema {
  const byType = options(edition)
  const known = {
    ...element(edition),
    ...each(['primaryKey', 'required', 'unique', 'partitioned', 'criticalDataElement'], flag),
    ...each(['primaryKeyPosition', 'partitionKeyPosition'], whole),
    ...each(['classification', 'encryptedName', 'transformLogic', 'transformDescription'], text),
    ...(edition.since('v3.0.2') && { physicalName: text }),
    transformSourceObjects: list(text),
    logicalType: oneOf(...Object.keys(byType)),
    logicalTypeOptions: object,
    examples: { type: 'array' },
    properties: list(part('property')),
    items: part('item'),
    ...(edition.isStrict && { relationships: list(fromProperty()) }),
  }
  const typed = Object.entries(byType)
    // A boolean has no options.
    .filter(([type]) => type !== 'boolean')
    .map(([type, known]) =>
      when(hasValue('logicalType', type), fields({ logicalTypeOptions: closed(known) })),
    )
  const untyped = { not: { required: ['logicalType'] } }
  const mayHave = (field: string, type: string) =>
    when({ anyOf: [untyped, hasValue('logicalType', type)] }, {}, fields({ [field]: false }))
  return {
    ...closed(known, isItem ? [] : ['name']),
    allOf: [
      ...typed,
      // Without a type, all options would apply at once, and no option is common to all types.
      when(untyped, fields({ logicalTypeOptions: { maxProperties: 0 } })),
      ...(isItem && !edition.isStrict ? [] : [mayHave('properties', 'object')]),
      mayHave('items', 'array'),
    ],
  }
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*'
const STEP = `${NAME}/[A-Za-z0-9_-]+`
const FILE = '(https?://)?[A-Za-z0-9._/-]+\\.yaml#'

/** `object.property` by names, or `schema/<id>/properties/<id>` by ids, of another contract with its file in front. */
export const REFERENCE = `^(${NAME}\\.${NAME}|(${FILE})?/?${STEP}(/${STEP})*)$`

const reference: Schema = { type: ['string', 'array'], pattern: REFERENCE, minItems: 1 }
const end: Schema = { ...reference, items: { ...reference, type: 'string' } }
const relation: SchemaFields = {
  type: oneOf('foreignKey'),
  to: end,
  customProperties: part('customProperties'),
}

function fromProperty(): Schema {
  return closed(relation, ['to'])
}

/** Both ends are one property, or both are several. */
function betweenObjects(): Schema {
  const isSeveral = fields({ from: { type: 'array' } })
  const to = (type: string) => fields({ to: { type } })
  return {
    ...closed({ ...relation, from: end }, ['from', 'to']),
    allOf: [when(isSeveral, to('array'), to('string'))],
  }
}
