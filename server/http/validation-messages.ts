/** The failures of a validation: each once, with its field in one spelling and a sentence of `sentences.ts`. */
import type Joi from 'joi'
import { describeSchema, type Description } from '../openapi/json-schema.ts'
import type { InputError } from './errors.ts'
import {
  WORDED_CENTRALLY,
  WORDED_MESSAGES,
  writeSentence,
  writeUnknownField,
  type Sentence,
  type Subject,
} from './sentences.ts'

/** One failure: where it is, what is wrong, and Joi's type of it. */
export interface Failure {
  path: string[]
  message: string
  type: string
  /** Names that the caller may have meant. */
  candidates?: string[]
}

const OPTIONS = { abortEarly: false, errors: { wrap: { label: false } } } as const

/** Options of every validation whose failures `failuresOf` reads. */
export const VALIDATION_OPTIONS = { ...OPTIONS, messages: WORDED_MESSAGES }

/** The same for schemas of extensions, which may be of another copy of Joi: that knows no templates of ours. */
export const EXTENSION_VALIDATION_OPTIONS = {
  ...OPTIONS,
  messages: Object.fromEntries(Object.keys(WORDED_MESSAGES).map(type => [type, WORDED_CENTRALLY])),
}

/** Where the value that was validated stands. */
interface Place {
  /** What it is called as a whole: `the body`. */
  root: string
  /** The fields around it: `connection_config` for the config of a source. */
  prefix?: readonly string[]
  /** Fields beside those of its schema, which others read. */
  otherFields?: readonly string[] | undefined
}

/**
 * The failures of a validation, each once, the first unknown field of an object with the names of those that it may
 * have. Fields are named with dots, from the root of the body: `connection_config.port`, `tag_filters.3`. Values of
 * secret fields are not repeated.
 * @param schema what the value was held to
 * @param most how many failures to give
 */
export function failuresOf(
  { details }: Pick<Joi.ValidationError, 'details'>,
  schema: unknown,
  { root, prefix = [], otherFields = [] }: Place,
  most = Infinity,
): Failure[] {
  // A schema of an extension may be of another copy of Joi.
  const isDescribed = typeof (schema as Partial<Joi.Schema> | undefined)?.describe === 'function'
  const description = isDescribed ? describeSchema(schema as Joi.Schema) : undefined
  const seen = new Set<string>()
  const listed = new Set<string>()
  // Joi says of a value that is none of some texts that it is no text, too.
  const chosen = new Set<string>()
  return details.slice(0, most).flatMap(detail => {
    const inner = [...detail.path.map(String), ...blamedField(detail)]
    const path = [...prefix, ...inner]
    const found = descriptionsTo(description, inner)
    const example = found.at(-1)?.examples?.[0]
    const subject: Subject = {
      name: path.join('.') || root,
      isRoot: path.length === 0,
      isQuery: root === 'the query',
      types: levelAt(description, inner)
        .flatMap(choicesOf)
        .map(({ type }) => type),
      isSecret:
        found.some(({ metas }) => metas?.some(({ secret }) => secret)) || SECRET_NAME.test(path.join('.')),
      ...(example !== undefined && { example }),
    }
    const parent = inner.slice(0, -1)
    const isListed = listed.has(parent.join('.'))
    if (detail.type === 'object.unknown') listed.add(parent.join('.'))
    const sentence = sentenceOf(detail, subject, () => {
      const names = isListed ? null : keysOf(levelAt(description, parent))
      return names && parent.length === 0 ? [...otherFields, ...names] : names
    })
    const { text: message, ...more } = sentence
    const key = `${subject.name} ${message}`
    const isSaid = seen.has(key) || (detail.type.endsWith('.base') && chosen.has(subject.name))
    if (detail.type === 'any.only') chosen.add(subject.name)
    if (isSaid) return []
    seen.add(key)
    return [{ path, message, type: detail.type, ...more }]
  })
}

/** A failure as an entry of `details.errors`. @param whole the field of one that concerns no single field */
export function inputErrorOf({ path, message, candidates }: Failure, whole: string): InputError {
  return { field: path.join('.') || whole, error: message, ...(candidates && { candidates }) }
}

/**
 * What is wrong with a config that its own schema describes, validated with `EXTENSION_VALIDATION_OPTIONS`.
 * @param place where the config stands in the body; defaults to its root
 */
export function inputErrorsOf(
  error: Pick<Joi.ValidationError, 'details'>,
  schema: unknown,
  place: Omit<Place, 'root'> = {},
): InputError[] {
  return failuresOf(error, schema, { root: 'the body', ...place }).map(each => inputErrorOf(each, 'body'))
}

/** The names of the fields of an object, for `otherFields`. */
export function fieldNamesOf(schema: Joi.ObjectSchema): string[] {
  return keysOf([describeSchema(schema)]) ?? []
}

/** Names of fields whose values are secrets, or hold them, where the schema does not say so. */
const SECRET_NAME = /pass|secret|token|key|credential|authorization|ticket|headers|url|uri|dsn/i

/** The field to blame of an object that Joi blames as a whole. A check of our own names it as `field` of its context. */
function blamedField({ type, context = {} }: Joi.ValidationErrorItem): string[] {
  const { from, peer, main, present, field } = context as Record<string, unknown>
  const blamed: Record<string, unknown> = {
    'object.rename.override': from,
    'object.with': peer,
    'object.without': main,
    'object.nand': main,
    'object.xor': (present as string[] | undefined)?.[0],
    'object.oxor': (present as string[] | undefined)?.[0],
  }
  const name = field ?? blamed[type]
  return typeof name === 'string' ? name.split('.') : []
}

function sentenceOf(
  { type, message, context, path }: Joi.ValidationErrorItem,
  subject: Subject,
  known: () => string[] | null,
): Sentence {
  // Also a field `__proto__`, which is refused before any schema.
  const isOurs = message === WORDED_CENTRALLY
  if (type === 'object.unknown' && isOurs) return writeUnknownField(subject, String(path.at(-1)), known())
  if (type === 'any.required' && subject.isRoot)
    return { text: `a JSON object is required in ${subject.name}` }
  const label = context?.label
  if (!isOurs)
    return {
      text:
        label !== undefined && message.startsWith(`${label} `)
          ? subject.name + message.slice(label.length)
          : message,
    }
  return writeSentence(type, subject, context ?? {}) ?? { text: `${subject.name} ${WORDED_CENTRALLY}` }
}

/** What a schema says of the fields on the way to a path, as far as it says it. */
function descriptionsTo(description: Description | undefined, path: readonly string[]): Description[] {
  const steps = path.map((_, index) => path.slice(0, index + 1))
  return [[], ...steps].flatMap(step => levelAt(description, step))
}

/** What a schema says of the field at a path: several where it may be one of several. */
function levelAt(description: Description | undefined, path: readonly string[]): Description[] {
  let level = description ? [description] : []
  for (const name of path)
    level = level.flatMap(choicesOf).flatMap(each => each.keys?.[name] ?? each.items ?? [])
  return level
}

/** A schema and, where it is one of several, those. */
function choicesOf(description: Description): Description[] {
  const matches = description.matches ?? []
  return [description, ...matches.flatMap(({ schema }) => (schema ? choicesOf(schema) : []))]
}

/** The names that an object may have; null where its schema does not say. */
function keysOf(descriptions: readonly Description[]): string[] | null {
  const objects = descriptions.flatMap(choicesOf).filter(({ type }) => type === 'object')
  if (objects.length === 0) return null
  const names = objects.flatMap(({ keys = {} }) =>
    Object.entries(keys).flatMap(([name, { flags }]) => (flags?.presence === 'forbidden' ? [] : [name])),
  )
  return [...new Set(names)]
}
