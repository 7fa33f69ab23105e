/** One description of a resource's fields, which its bodies, rows and replies follow from. */
import { isDeepStrictEqual } from 'node:util'
import type Joi from 'joi'
import { snakeCaseMappers } from 'objection'

/** An object with its names as the API has them (`created_at`), or as the program has them (`createdAt`). */
export const { format: toApiNames, parse: fromApiNames } = snakeCaseMappers()

/** A field that bodies set and replies show. */
export interface Field<Row> {
  /** The column, by its name in the model. */
  column: keyof Row & string
  /** The value in bodies. A field that cannot be set at creation has `create: false`. */
  body: Joi.Schema
  create?: false
  /** What a new resource gets without it; NULL, or the column's own default, when absent. */
  default?: unknown
  /** Whether a PATCH may set it, or the value that it may set it to, where that differs. */
  patch?: true | Joi.Schema
  /** The value in replies, where it differs from `body`. */
  reply?: Joi.Schema
  /** The value in the example of a reply. */
  example: unknown
}

/** Fields by their names in the API, in the order in which replies show them. */
export type Fields<Row> = Record<string, Field<Row>>

/** The fields of a validated body that creates a resource: those with a default are always there. */
export type CreateBody<Row, F extends Fields<Row>> = {
  [K in keyof F as F[K] extends { create: false } | { default: unknown } ? never : K]?: Row[F[K]['column']]
} & {
  [
    K in keyof F as F[K] extends { create: false } ? never : F[K] extends { default: unknown } ? K : never
  ]: Row[F[K]['column']]
}

export type PatchBody<Row, F extends Fields<Row>> = {
  [K in keyof F as F[K] extends { patch: unknown } ? K : never]?: Row[F[K]['column']]
}

function mapFields<Row, T>(fields: Fields<Row>, valueOf: (field: Field<Row>) => T | undefined) {
  const entries = Object.entries(fields).map(([name, field]) => [name, valueOf(field)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== undefined))
}

/** The keys of the body that creates a resource, with their defaults. */
export function createKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, create, default: fallback }) =>
    create === false ? undefined : fallback === undefined ? body : body.default(fallback),
  )
}

export function patchKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, patch }) => (patch === true ? body : patch))
}

/** The keys of replies, with their examples. */
export function replyKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, reply = body, example }) => reply.example(example))
}

export function columnsOf<Row>(fields: Fields<Row>, body: object): Partial<Row> {
  const given = body as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { column }]) =>
      given[name] === undefined ? [] : [[column, given[name]]],
    ),
  ) as Partial<Row>
}

export function presentFields<Row>(fields: Fields<Row>, row: Partial<Row>): Record<string, unknown> {
  // Lists call it for each row, so it builds nothing in between.
  const shown: Record<string, unknown> = {}
  for (const name in fields) shown[name] = row[fields[name]!.column]
  return shown
}

/** What is stored of the fields that a body leaves out: their defaults, else null. */
export function defaultsOf<Row>(fields: Fields<Row>): Record<string, unknown> {
  return mapFields(fields, ({ default: fallback = null }) => fallback)
}

/** Leaves out the values that a body need not have: those that equal the defaults, and null where there is none. */
export function withoutDefaults(
  values: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, unknown> {
  const differs = ([name, value]: [string, unknown]) => !isDeepStrictEqual(value, defaults[name] ?? null)
  return Object.fromEntries(Object.entries(values).filter(differs))
}
