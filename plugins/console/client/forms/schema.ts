import { formTexts } from './texts.ts'

/** The parts of a JSON Schema that a form is made of. */
export interface SettingsSchema {
  type?: string | string[]
  properties?: Record<string, SettingsSchema>
  required?: string[]
  /** What it is called, where its name in words does not do. */
  title?: string
  description?: string
  default?: unknown
  enum?: unknown[]
  const?: unknown
  items?: SettingsSchema
  anyOf?: SettingsSchema[]
  oneOf?: SettingsSchema[]
  minimum?: number
  maximum?: number
  maxLength?: number
  format?: string
  writeOnly?: boolean
  deprecated?: boolean
  /** The schema of the values of an object whose names a person chooses. */
  patternProperties?: Record<string, SettingsSchema>
}

/** What a person writes into a field: a text, or whether a box is ticked. */
export type FieldValue = string | boolean
/** What a person has written, by the names of the fields. */
export type Values = Record<string, FieldValue>

/** A field of a form, and the part of a request that it stands for. */
export interface FieldSpec {
  /** Where its value stands in the request, with dots: `connection_config.host`. */
  name: string
  label: string
  /**
   * `long`, `lines` and `pairs` have several lines: each of `lines` is a value of a list, each of `pairs` a name and a
   * value, which may be secret.
   */
  kind:
    | 'text'
    | 'email'
    | 'secret'
    | 'long'
    | 'number'
    | 'integer'
    | 'flag'
    | 'choice'
    | 'lines'
    | 'pairs'
    | 'json'
  isRequired?: boolean
  hint?: string
  choices?: readonly (readonly [value: string, text: string])[]
  /** What a new form starts with. */
  initial?: FieldValue
  min?: number
  max?: number
  maxLength?: number
  /** Lines of a `long` text that are seen at once; defaults to 4. */
  rows?: number
  /** The kind of each line, and of each choice. */
  isNumeric?: boolean
  /** Whether it holds a number or a text: what reads as a number is sent as one. */
  isNumberOrText?: boolean
  /** What a person may choose from, of a text that may also be another one. */
  suggestions?: readonly string[]
  autoComplete?: string
}

/** Longer texts get several lines: a certificate, an SQL expression. */
const LONG_TEXT = 5_000
const ACRONYMS = new Set(['ca', 'id', 'json', 'sql', 'ssl', 'tls', 'url', 'api', 'sla', 'oauth'])

/** A name of the API in words: `ssl_ca` is `SSL CA`. */
export function labelOf(name: string): string {
  const words = name.split('_').map(word => (ACRONYMS.has(word) ? word.toUpperCase() : word))
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * The fields of an object that a schema describes, with those of the objects in it.
 * @param prefix where the object stands in the request
 * @param words what begins the labels: `auth` makes `Auth type` of `type`
 */
export function readSchema(schema: SettingsSchema, prefix = '', words = ''): FieldSpec[] {
  const required = new Set(schema.required)
  const properties = Object.entries(schema.properties ?? {}).filter(([, { deprecated }]) => !deprecated)
  return properties.flatMap(([name, property]) => {
    const path = prefix ? `${prefix}.${name}` : name
    const text = words ? `${words}_${name}` : name
    if (property.properties) return readSchema(readNested(property, required.has(name)), path, text)
    const label = property.title ?? labelOf(text)
    return [{ name: path, label, isRequired: required.has(name), ...readProperty(property) }]
  })
}

/** An object within another one: its default is that of its fields, and nothing of one that may be absent is required. */
function readNested(schema: SettingsSchema, isRequired: boolean): SettingsSchema {
  const given = (schema.default ?? {}) as Record<string, unknown>
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    name in given ? { ...property, default: given[name] } : property,
  ])
  return {
    properties: Object.fromEntries(properties) as Record<string, SettingsSchema>,
    required: isRequired || schema.default !== undefined ? schema.required : [],
  }
}

function readProperty(property: SettingsSchema): Pick<FieldSpec, 'kind'> & Partial<FieldSpec> {
  const { description, minimum: min, maximum: max, maxLength, default: given } = property
  const kind = kindOf(property)
  const initial = kind === 'flag' ? given === true : given == null ? undefined : showValue(kind, given)
  // Descriptions have the marks of Markdown.
  const hint = description?.replaceAll('`', '')
  const more = { hint, min, max, maxLength, initial }
  if (kind === 'choice') {
    const choices = (property.enum ?? []).filter(value => value !== null)
    const isNumeric = choices.length > 0 && choices.every(value => typeof value === 'number')
    return { ...more, kind, isNumeric, choices: choices.map(value => [asText(value), asText(value)]) }
  }
  if (kind === 'lines') return { ...more, kind, isNumeric: isNumeric(property.items) }
  const types = typesOf(property)
  const isNumberOrText = kind === 'text' && types.some(type => type === 'number' || type === 'integer')
  return { ...more, kind, ...(isNumberOrText && { isNumberOrText }) }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function typesOf({ type, anyOf, oneOf }: SettingsSchema): string[] {
  const own = type === undefined ? [] : [type].flat()
  return [...own, ...[...(anyOf ?? []), ...(oneOf ?? [])].flatMap(typesOf)].filter(name => name !== 'null')
}

const isNumeric = (schema: SettingsSchema = {}) =>
  typesOf(schema).length > 0 && typesOf(schema).every(type => type === 'number' || type === 'integer')

function kindOf(property: SettingsSchema): FieldSpec['kind'] {
  const types = typesOf(property)
  const isText = types.includes('string')
  if (property.patternProperties) return 'pairs'
  if (property.writeOnly) return 'secret'
  if (property.enum) return 'choice'
  if (types.includes('boolean')) return 'flag'
  if (types.includes('array')) return typesOf(property.items ?? {}).includes('object') ? 'json' : 'lines'
  if (isText) return (property.maxLength ?? 0) > LONG_TEXT && property.format !== 'uri' ? 'long' : 'text'
  if (isNumeric(property)) return types.includes('number') ? 'number' : 'integer'
  return types.length === 0 ? 'text' : 'json'
}

/** What a form starts with: the values of a record, else what new ones have. @param record as the API returns it */
export function readValues(specs: readonly FieldSpec[], record: object = {}): Values {
  return Object.fromEntries(
    specs.map(spec => [
      spec.name,
      valueOf(spec, valueAt(record, spec.name)) ?? spec.initial ?? emptyOf(spec),
    ]),
  )
}

const emptyOf = ({ kind }: FieldSpec): FieldValue => (kind === 'flag' ? false : '')

function valueAt(record: object, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | null | undefined)?.[part], record)
}

function valueOf({ kind }: FieldSpec, value: unknown): FieldValue | undefined {
  if (value == null || kind === 'secret') return undefined
  return kind === 'flag' ? value === true : showValue(kind, value)
}

function showValue(kind: FieldSpec['kind'], value: unknown): string {
  if (kind === 'lines' && Array.isArray(value)) return value.map(asText).join('\n')
  if (kind === 'pairs')
    return Object.entries(value as Record<string, unknown>)
      .map(([name, text]) => `${name}: ${asText(text)}`)
      .join('\n')
  return kind === 'json' ? JSON.stringify(value, null, 2) : asText(value)
}

/** Why a value cannot be sent; undefined for a good one. */
export function findProblem(spec: FieldSpec, value: FieldValue): string | undefined {
  const { label, kind, min, max, maxLength } = spec
  if (typeof value === 'boolean') return undefined
  const text = value.trim()
  if (text === '') return spec.isRequired ? `${label} is needed.` : undefined
  if (kind === 'number' || kind === 'integer') {
    const number = Number(text)
    if (!Number.isFinite(number)) return formTexts.notNumber(label)
    if (kind === 'integer' && !Number.isInteger(number)) return `${label} must be a whole number.`
    if (min !== undefined && number < min) return `${label} must be at least ${min}.`
    if (max !== undefined && number > max) return `${label} must be at most ${max}.`
  }
  if (kind === 'lines' && spec.isNumeric && linesOf(text).some(line => !Number.isFinite(Number(line))))
    return formTexts.notNumber(label)
  if (kind === 'pairs' && linesOf(text).some(line => !PAIR.test(line)))
    return `${label}: write a name, a colon and a value on each line.`
  if (kind === 'json' && parseJson(text) === undefined) return `${label} must be JSON.`
  if (maxLength !== undefined && text.length > maxLength)
    return `${label} must have at most ${maxLength} characters.`
  return undefined
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')

/** A name and a value of a line: `X-Team: data`. */
const PAIR = /^([^:]*[^:\s])\s*:\s*(.+)$/

function readPairs(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).flatMap(line => {
      const [, name, value] = PAIR.exec(line) ?? []
      return name && value ? [[name, value]] : []
    }),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** What a request holds for a field; undefined for one that was left empty. */
function sentValue(spec: FieldSpec, value: FieldValue): unknown {
  if (typeof value === 'boolean') return value
  // Spaces belong to a secret.
  if (spec.kind === 'secret') return value === '' ? undefined : value
  const text = value.trim()
  if (text === '') return undefined
  if (spec.kind === 'number' || spec.kind === 'integer') return Number(text)
  if (spec.kind === 'pairs') return readPairs(text)
  if (spec.kind === 'choice' && spec.isNumeric) return Number(text)
  // Larger integers keep all their digits as text only.
  if (
    spec.isNumberOrText &&
    /^-?\d+(\.\d+)?$/.test(text) &&
    Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER
  )
    return Number(text)
  if (spec.kind === 'lines') return linesOf(text).map(line => (spec.isNumeric ? Number(line) : line))
  return spec.kind === 'json' ? parseJson(text) : text
}

/**
 * The body of a request that a form sends.
 * @param former what the form began with, for a change: only what differs is sent, and null for what was emptied
 */
export function buildBody(
  specs: readonly FieldSpec[],
  values: Values,
  former?: Values,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const spec of specs) {
    const value = values[spec.name] ?? emptyOf(spec)
    const before = former?.[spec.name]
    if (former && value === before) continue
    const sent =
      former && spec.kind === 'pairs'
        ? changePairs(String(before), String(value))
        : (sentValue(spec, value) ?? (former && spec.kind !== 'secret' ? null : undefined))
    if (sent !== undefined) place(body, spec.name.split('.'), sent)
  }
  return body
}

/** Names that are gone are removed by null, since the server merges objects. */
function changePairs(before: string, after: string): Record<string, string | null> {
  const gone = Object.keys(readPairs(before)).map(name => [name, null])
  return { ...(Object.fromEntries(gone) as Record<string, null>), ...readPairs(after) }
}

function place(
  body: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) body[first] = value
  else place((body[first] ??= {}) as Record<string, unknown>, rest, value)
}
