import type { RouteOptionsResponse } from '@hapi/hapi'
import Joi from 'joi'

/** Fields of many replies; add `.allow(null)` to nullable ones. */
export const held = {
  id: Joi.string().guid(),
  /** Free text, which may be empty. */
  text: Joi.string().allow(''),
  texts: Joi.array().items(Joi.string().allow('')),
  time: Joi.date().iso(),
  count: Joi.number().integer().min(0),
  integer: Joi.number().integer(),
  number: Joi.number(),
  flag: Joi.boolean(),
} as const

/** An object of a reply: these fields and no others, each always there unless it is `.optional()`. */
export function record(fields: Record<string, Joi.Schema>, example?: object): Joi.ObjectSchema {
  const always = Object.entries(fields).map(([name, field]) => [
    name,
    field.$_getFlag('presence') === 'optional' ? field : field.required(),
  ])
  const schema = Joi.object(Object.fromEntries(always) as Record<string, Joi.Schema>)
  return example ? schema.example(example) : schema
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

const pagination = record(pageFields)

/** `{data}`, around what most endpoints below `/sdk` answer. */
export function inData(schema: Joi.Schema): Joi.Schema {
  return record({ data: schema })
}

/** A flat list: `{data: […], pagination}`. */
export function inPage(item: Joi.Schema): Joi.Schema {
  return record({ data: Joi.array().items(item), pagination })
}

/** A list of the quality endpoints: `{data: {items: […]}, pagination}`. */
export function inItems(item: Joi.Schema): Joi.Schema {
  return record({ data: record({ items: Joi.array().items(item) }), pagination })
}

/** A list of the other endpoints below `/sdk`: `{data: {data: […], pagination}}`. */
export function inNestedPage(item: Joi.Schema, name = 'data'): Joi.Schema {
  return inData(record({ [name]: Joi.array().items(item), pagination }))
}

/**
 * The standard envelope, `{success, data, message, error, meta}`.
 * @param meta fields beside the data; defaults to none
 */
export function inEnvelope(schema: Joi.Schema, meta: Joi.Schema = record({})): Joi.Schema {
  return record({
    success: held.flag,
    data: schema,
    message: held.text.description('A sentence for people; mostly empty when it went well.').example(''),
    error: held.text.description('A code; empty when it went well.').example(''),
    meta,
  })
}

/** `{data: {success, message}}`, for removals. */
export function removal(message: string): Joi.Schema {
  return inData(record({ success: Joi.valid(true), message: Joi.string().example(message) }))
}

/** The body of 422, for replies that a route itself describes. */
export const unusable = record({
  detail: Joi.array()
    .items(
      record({
        loc: Joi.array().items(Joi.string()).description('path, query, header or body; then the field.'),
        msg: Joi.string(),
        type: Joi.string(),
      }),
    )
    .min(1),
})

/** The body of an error, for replies that a route itself describes. */
export const failure = record(
  {
    error: record({
      code: Joi.string().description('Stable, for programs.'),
      message: Joi.string().description('A sentence that says what to do.'),
      details: Joi.object().unknown().description('Field names, suggestions.'),
    }),
  },
  { error: { code: 'CONFLICT', message: 'It conflicts with what is there: read it again', details: {} } },
)
