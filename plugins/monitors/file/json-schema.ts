/** The JSON Schema of a monitors file, for editors: made of the schemas that the bodies of the API are validated with. */
import type Joi from 'joi'
import type { CheckType } from '../../../checks/check.ts'
import { tableWindowBody } from '../../../server/http/check-schemas.ts'
import { describeConfig } from '../../../server/openapi/choices.ts'
import type { JsonSchema } from '../../../server/openapi/json-schema.ts'
import { KEY_PATTERN } from './monitors-file.ts'

/** A kind of check whose checks may stand in a file, and the body of one. */
export interface FileKind {
  kind: string
  body: Joi.ObjectSchema
}

/** What a server lets files hold. */
export interface FileVocabulary {
  kinds: readonly FileKind[]
  types: readonly Pick<CheckType, 'family' | 'name' | 'config'>[]
}

const key: JsonSchema = {
  type: 'string',
  pattern: KEY_PATTERN,
  description:
    'The name of the check in this file, which stays the same when the check changes. Unique among the files of a source.',
}

/** The fields that name a check type, and the family of the types that each takes. */
const TYPE_FIELDS: Readonly<Record<string, CheckType['family']>> = {
  rule_type: 'rule',
  metric_type: 'metric',
}
/** The field with what the type asks for; where a body has none, the type's fields stand beside the others. */
const CONFIG_FIELD = 'rule_config'

/** @returns draft 7, which editors know. A type that it does not name is accepted: an extension may add it. */
export function monitorsSchema({ kinds, types }: FileVocabulary): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Tidemark monitors',
    description: 'The checks of the tables of a source.',
    type: 'object',
    required: ['version', 'source', 'tables'],
    additionalProperties: false,
    properties: {
      version: { const: 1, description: 'The version of this format.' },
      source: {
        type: 'string',
        minLength: 1,
        maxLength: 1_000,
        description: 'The name of the source in Tidemark.',
      },
      tables: {
        type: 'object',
        description: 'The tables by path: catalog.schema.table, or less where that is clear.',
        additionalProperties: {
          type: 'object',
          required: ['checks'],
          additionalProperties: false,
          properties: {
            default_window: {
              anyOf: [toDraft7(describeConfig(tableWindowBody)), { type: 'null' }],
              description:
                'The window of new rules and metrics of the table that name none; null removes it. Without it, the setting stays as it is.',
            },
            checks: {
              type: 'object',
              additionalProperties: false,
              properties: Object.fromEntries(kinds.map(each => [each.kind, entriesSchema(each, types)])),
            },
          },
        },
      },
    },
  }
}

function entriesSchema({ kind, body }: FileKind, types: FileVocabulary['types']): JsonSchema {
  return {
    type: 'array',
    items: entrySchema(body, types),
    ...(kind === 'freshness' && { maxItems: 1, description: 'A table has one schedule.' }),
  }
}

/** A check: the body that creates it, less the table, and its key. */
function entrySchema(body: Joi.ObjectSchema, types: FileVocabulary['types']): JsonSchema {
  const {
    examples: _ofBody,
    properties,
    required = [],
    ...schema
  } = toDraft7(describeConfig(body)) as JsonSchema & { required?: string[] }
  const fields = properties as Record<string, JsonSchema>
  const [typeField] = Object.keys(TYPE_FIELDS).filter(name => name in fields)
  const offered = types.filter(({ family }) => typeField && family === TYPE_FIELDS[typeField])
  if (typeField) {
    const { type, ...field } = fields[typeField]!
    fields[typeField] = { ...field, anyOf: [{ enum: offered.map(({ name }) => name) }, { type }] }
  }
  const conditions = offered.flatMap(type => configCondition(typeField!, type, CONFIG_FIELD in fields))
  return {
    ...schema,
    properties: { key, ...fields },
    required: ['key', ...required],
    ...(conditions.length > 0 && { allOf: conditions }),
  }
}

/** What a type asks for, in a field of its own or beside the others. Empty where it asks for nothing. */
function configCondition(
  typeField: string,
  { name, config }: FileVocabulary['types'][number],
  isNested: boolean,
): JsonSchema[] {
  const schema = toDraft7(describeConfig(config))
  const { required = [], properties = {} } = schema as { required?: string[]; properties?: JsonSchema }
  if (Object.keys(properties).length === 0) return []
  // Where nothing is required at first sight, one of several fields may be, or none.
  const isNeeded = required.length > 0 || schema.anyOf !== undefined || schema.oneOf !== undefined
  const nested = { ...(isNeeded && { required: [CONFIG_FIELD] }), properties: { [CONFIG_FIELD]: schema } }
  return [
    {
      if: { properties: { [typeField]: { const: name } }, required: [typeField] },
      then: isNested ? nested : { required, properties },
    },
  ]
}

/** Replaces keywords that are newer than draft 7, and leaves out marks for other documents of ours. */
function toDraft7(value: JsonSchema): JsonSchema {
  const entries = Object.entries(value).filter(([name]) => !name.startsWith('x-'))
  return Object.fromEntries(
    entries.map(([name, inner]) => [name === 'dependentRequired' ? 'dependencies' : name, inDraft7(inner)]),
  )
}

function inDraft7(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inDraft7)
  return typeof value === 'object' && value !== null ? toDraft7(value as JsonSchema) : value
}
