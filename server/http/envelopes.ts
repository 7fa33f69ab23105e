import type { RouteOptionsResponse } from '@hapi/hapi'
import Joi from 'joi'

/** Fields of many replies; `nullable` makes one that may be null. */
export const held = {
  id: Joi.string().guid(),
  /** Free text, which may be empty. */
  text: Joi.string().allow(''),
  texts: Joi.array<string[]>().items(Joi.string().allow('')),
  time: Joi.date().iso(),
  count: Joi.number().integer().min(0),
  integer: Joi.number().integer(),
  number: Joi.number(),
  flag: Joi.boolean(),
} as const

/** A schema that takes null too, which its type says. */
export function nullable<Value>(schema: Joi.AnySchema<Value>): Joi.AnySchema<Value | null> {
  return schema.allow(null) as Joi.AnySchema<Value | null>
}

/** An object of a reply: these fields and no others, each always there unless it is `.optional()`. */
export function record(fields: Record<string, Joi.Schema>, example?: object): Joi.ObjectSchema {
  const always = Object.entries(fields).map(([name, field]) => [
    name,
    field.$_getFlag('presence') === 'optional' ? field : field.required(),
  ])
  const schema = Joi.object(Object.fromEntries(always) as Record<string, Joi.Schema>)
  return example ? schema.example(example) : schema
}

/** The example that a schema gives. */
export function exampleIn(schema: Joi.Schema): unknown {
  return (schema.$_terms.examples as unknown[] | null)?.[0]
}

/** Examples that `exampleRecord` made. */
const ownExamples = new WeakSet<object>()

/** Fields without their examples; an `exampleRecord` among them keeps its own. */
export function withoutExamples(fields: Record<string, Joi.Schema>): Record<string, Joi.Schema> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      if (ownExamples.has(exampleIn(field) as object)) return [name, field]
      // Joi's types lack it.
      const copy = (field as Joi.Schema & { clone(): Joi.Schema }).clone()
      copy.$_terms.examples = null
      return [name, copy]
    }),
  )
}

/** A `record` whose example is made of those of its fields. @param example values in place of theirs */
export function exampleRecord(fields: Record<string, Joi.Schema>, example: object = {}): Joi.ObjectSchema {
  const examples = Object.entries(fields).map(([name, field]) => [name, exampleIn(field)] as const)
  const given = examples.filter(([, value]) => value !== undefined)
  const own = { ...Object.fromEntries(given), ...example }
  ownExamples.add(own)
  return record(withoutExamples(fields), own)
}

/** The `response` of a route that answers with this. The tests hold replies against it; requests do not pay for that. */
export function reply(schema: Joi.Schema, status = 200): RouteOptionsResponse {
  return { status: { [status]: schema }, sample: 0 }
}

/** The `response` of a route that answers with nothing, 204. */
export const noReply: RouteOptionsResponse = { status: { 204: Joi.valid(null) }, sample: 0 }

/** The pagination fields, for replies that have them beside their own fields. */
export const pageFields = {
  total: held.count.description('All that match, on this page and others.'),
  limit: held.count.example(50),
  offset: held.count.example(0),
  has_more: held.flag
    .description('Whether there is a page after this one: ask with offset + limit.')
    .example(false),
}

const pagination = record(pageFields).label('Pagination')

/** Labels of records, by which `/openapi.json` knows them: `AlertRule`. Others are words for messages. */
export const RECORD_NAME = /^[A-Z][A-Za-z]+$/

/** Names what stands around a record after it: of `Alert`, `AlertPage`. What has no name gives none. */
function namedAfter(inner: Joi.Schema, suffix: string, outer: Joi.Schema): Joi.Schema {
  const name = inner.$_getFlag('label') as string | undefined
  return name !== undefined && RECORD_NAME.test(name) ? outer.label(name + suffix) : outer
}

/** `{data}`, around what most endpoints below `/sdk` answer. */
export function inData(schema: Joi.Schema): Joi.Schema {
  return namedAfter(schema, 'Data', record({ data: schema }))
}

/**
 * A flat list: `{data: […], pagination}`.
 * @param fields beside the list
 */
export function inPage(item: Joi.Schema, name = 'data', fields: Record<string, Joi.Schema> = {}): Joi.Schema {
  const page = record({ [name]: Joi.array().items(item), pagination, ...fields })
  return namedAfter(item, name === 'data' ? 'Page' : 'List', page)
}

/**
 * A list of the quality endpoints: `{data: {items: […]}, pagination}`.
 * @param fields beside the items
 */
export function inItems(item: Joi.Schema, fields: Record<string, Joi.Schema> = {}): Joi.Schema {
  const data = record({ items: Joi.array().items(item), ...fields })
  return namedAfter(item, 'Items', record({ data, pagination }))
}

/** A list of the other endpoints below `/sdk`: `{data: {data: […], pagination}}`. */
export function inNestedPage(item: Joi.Schema, name = 'data'): Joi.Schema {
  return inData(inPage(item, name))
}

const envelopeFields = {
  success: held.flag,
  message: held.text.description('A sentence for people; mostly empty when it went well.').example(''),
  error: held.text.description('A code; empty when it went well.').example(''),
  meta: record({}),
}

/** The fields that the standard envelope has beside `data`. */
export const emptyEnvelope = record(envelopeFields).label('Envelope')

/**
 * The standard envelope, `{success, data, message, error, meta}`.
 * @param meta fields beside the data; defaults to none
 */
export function inEnvelope(schema: Joi.Schema, meta: Joi.Schema = envelopeFields.meta): Joi.Schema {
  const envelope = record({ ...envelopeFields, meta, data: schema })
  return namedAfter(schema, 'Envelope', envelope)
}

/** `{data: {success, message}}`, for removals. */
export function removal(message: string): Joi.Schema {
  return inData(record(removalFields(message)).label('Removal'))
}

/** The fields of such a reply. */
export function removalFields(message: string): Record<string, Joi.Schema> {
  return { success: Joi.valid(true), message: Joi.string().example(message) }
}

/** What is wrong with each field, in the details of every error of input. */
const inputErrors = Joi.array()
  .items(
    record({
      field: Joi.string().description('With dots, such as `rule_config.pattern` or `items.3.name`.'),
      error: Joi.string().description('A sentence that says what is allowed.'),
      candidates: held.texts.optional().description('Names that may have been meant.'),
    }).label('InputError'),
  )
  .min(1)
  .max(100)

/** Code, message and details of an error. */
const errorBody = record({
  code: Joi.string()
    .pattern(/^[A-Z][A-Z_]+$/)
    .description('Stable, for programs.'),
  message: Joi.string().description('A sentence that says what to do.'),
  details: Joi.object({
    field: Joi.string().description('The first field that is wrong.'),
    error: Joi.string().description('What is wrong with it.'),
    errors: inputErrors.description('What is wrong with each field, up to 100.'),
  })
    .unknown()
    .description('Field names, candidates; request_id when the fault is ours.'),
}).label('ErrorBody')

/** The body of an error. */
export const failure = record(
  { error: errorBody },
  { error: { code: 'CONFLICT', message: 'It conflicts with what is there: read it again', details: {} } },
).label('Error')

/** The body of 422: a list in the form of FastAPI, and beside it the error of 400. */
export const unusable = record({
  detail: Joi.array()
    .items(
      record({
        loc: held.texts.description('path, query, header or body; then the field.'),
        msg: Joi.string(),
        type: Joi.string(),
      }),
    )
    .min(1),
  error: errorBody,
})
  .example({
    detail: [{ loc: ['body', 'email'], msg: 'email is required', type: 'any.required' }],
    error: {
      code: 'VALIDATION_ERROR',
      message: 'email is required',
      details: {
        field: 'email',
        error: 'email is required',
        errors: [{ field: 'email', error: 'email is required' }],
      },
    },
  })
  .label('ValidationFailure')
