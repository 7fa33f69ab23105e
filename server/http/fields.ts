/** One description of a resource's fields, which its bodies, rows and replies follow from. */
import { isDeepStrictEqual } from 'node:util'
import type Joi from 'joi'
import { snakeCaseMappers } from 'objection'
import { CompanyRow } from '../database/database.ts'

/** An object with its names as the API has them (`created_at`), or as the program has them (`createdAt`). */
export const { format: toApiNames, parse: fromApiNames } = snakeCaseMappers()

/** A field that replies show and bodies may set. */
export interface Field<Row> {
  /** The column, by its name in the model; defaults to the field's name in camel case. */
  column?: keyof Row & string
  /** The value in bodies; replies alone have the field when absent. */
  body?: Joi.Schema
  /** A new resource must have it. */
  required?: true
  /** The body that creates a resource does not take it. */
  create?: false
  /** What a new resource gets without it; NULL, or the column's own default, when absent. */
  default?: unknown
  /** Whether a PATCH may set it, or the value that it may set it to, where that differs. */
  patch?: true | Joi.Schema
  /** The value in replies, where it differs from `body`. */
  reply?: Joi.Schema
  /** It has no column: who presents the resource says the value. */
  computed?: true
  /** The value in the example of a reply. */
  example: unknown
}

/** Fields by their names in the API, in the order in which replies show them. */
export type Fields<Row = Record<string, unknown>> = Record<string, Field<Row>>

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

type ColumnName<Name, F> = F extends { column: infer Column } ? Column : CamelCase<Name>

/** The values that a schema takes. */
type ValueOf<S> = S extends Joi.AnySchema<infer Value> ? Value : never

type ReplyValue<F> = ValueOf<F extends { reply: infer S } ? S : F extends { body: infer S } ? S : never>

type Column<Row, Name, F> = Row[ColumnName<Name, F> & keyof Row]

type BodyValue<Row, Name, F> = F extends { computed: true; body: infer S } ? ValueOf<S> : Column<Row, Name, F>

/** The columns of fields, with the types of their schemas: what a model needs not declare. */
export type RowOf<F extends Fields> = {
  -readonly [
    K in keyof F as F[K] extends { computed: true } ? never : ColumnName<K, F[K]> & string
  ]: ReplyValue<F[K]>
}

/** The names in the program of what replies show of a resource. */
type ShownName<F extends Fields> = { [K in keyof F]: ColumnName<K, F[K]> & string }[keyof F]

/** A row with the values of computed fields, as a statement or a presenter puts them together. */
export type ReplyRow<F extends Fields> = RowOf<F> & ComputedOf<F>

/** What replies show of a resource. */
export type ReplyOf<Row, F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends { computed: true } ? ReplyValue<F[K]> : Column<Row, K, F[K]>
}

/** Values that who presents a resource adds to its row. */
type ComputedOf<F extends Fields> = {
  [K in keyof F as F[K] extends { computed: true } ? ColumnName<K, F[K]> & string : never]: ReplyValue<F[K]>
}

/** The names of the fields of a body: those that are always there, and those that may be left out. */
type AlwaysGiven<F> = {
  [K in keyof F]: F[K] extends { create: false }
    ? never
    : F[K] extends { body: Joi.Schema } & ({ default: unknown } | { required: true })
      ? K
      : never
}[keyof F]
type MayBeGiven<F> = {
  [K in keyof F]: F[K] extends { create: false } | { default: unknown } | { required: true }
    ? never
    : F[K] extends { body: Joi.Schema }
      ? K
      : never
}[keyof F]

/** The fields of a validated body that creates a resource: those with a default are always there. */
export type CreateBody<Row, F extends Fields<Row>> = {
  -readonly [K in MayBeGiven<F>]?: BodyValue<Row, K, F[K]>
} & {
  -readonly [K in AlwaysGiven<F>]: BodyValue<Row, K, F[K]>
}

export type PatchBody<Row, F extends Fields<Row>> = {
  -readonly [K in keyof F as F[K] extends { patch: unknown } ? K : never]?: BodyValue<Row, K, F[K]>
}

/** The base of a model whose columns are those of fields: `class Badge extends modelOf(badgeFields)`. */
export function modelOf<F extends Fields>(_fields: F) {
  return CompanyRow as unknown as Omit<typeof CompanyRow, 'prototype'> & (new () => CompanyRow & RowOf<F>)
}

const camelCase = new Map<string, string>()

/** Lists call it for each field of each row. */
function columnOf<Row>(name: string, { column }: Field<Row>): string {
  if (column !== undefined) return column
  const converted = camelCase.get(name)
  if (converted !== undefined) return converted
  const made = name.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
  camelCase.set(name, made)
  return made
}

function mapFields<Row, T>(fields: Fields<Row>, valueOf: (field: Field<Row>) => T | undefined) {
  const entries = Object.entries(fields).map(([name, field]) => [name, valueOf(field)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== undefined))
}

/** The keys of the body that creates a resource, with their defaults. */
export function createKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, create, required, default: fallback }) => {
    if (create === false || required) return create === false ? undefined : body?.required()
    return fallback === undefined ? body : body?.default(fallback)
  })
}

export function patchKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, patch }) => (patch === true ? body : patch))
}

/** The keys of replies, with their examples. */
export function replyKeys<Row>(fields: Fields<Row>): Record<string, Joi.Schema> {
  return mapFields(fields, ({ body, reply = body, example }) => reply?.example(example, { override: true }))
}

/** The columns that a body sets: none of what it leaves out. */
export function columnsOf<Row>(fields: Fields<Row>, body: object): Partial<Row> {
  const given = body as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      given[name] === undefined || field.computed ? [] : [[columnOf(name, field), given[name]]],
    ),
  ) as Partial<Row>
}

/** What replies show of a row. @param row with the values of computed fields beside its columns */
export function presentFields<F extends Fields, Row extends Record<ShownName<F>, unknown> & ComputedOf<F>>(
  fields: F,
  row: Row,
): ReplyOf<Row, F> {
  // Lists call it for each row, so it builds nothing in between.
  const shown: Record<string, unknown> = {}
  const values: Record<string, unknown> = row
  for (const name in fields) shown[name] = values[columnOf(name, fields[name]!)]
  return shown as ReplyOf<Row, F>
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
