/** The sentences of Joi's failures in plain English: what is allowed, what was given, and what is near to it. */
import Joi from 'joi'
import { nearest, quoteName, didYouMean } from './nearest.ts'

/** What a sentence is about. */
export interface Subject {
  /** The field as a client writes it: `rule_config.pattern`; `the body` for all of it. */
  name: string
  isRoot: boolean
  isQuery: boolean
  /** Whether the value must not be repeated. */
  isSecret: boolean
  /** Joi's types of what the field may be, where known. */
  types?: readonly string[]
  /** An example from the schema. */
  example?: unknown
}

export interface Sentence {
  text: string
  candidates?: string[]
}

type Context = Joi.Context & Record<string, unknown>
type Writer = (subject: Subject, context: Context) => string | Sentence

/** Stands for a sentence that is written here; messages that a schema gives itself are kept. */
export const WORDED_CENTRALLY = 'is not valid'

/** Most names that a sentence lists. */
const MAX_NAMES = 40
/** Characters of a given value that a sentence repeats. */
const MAX_GIVEN_CHARACTERS = 40

/** A list in a sentence, cut where it is long. */
export function listNames(names: readonly string[]): string {
  return names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ', …' : '')
}

/** What was given: a short value itself, of others their kind. */
export function describeGiven(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null)
    return value instanceof Date ? value.toISOString() : 'an object'
  if (typeof value !== 'string') return String(value)
  const letters = [...value]
  return letters.length > MAX_GIVEN_CHARACTERS
    ? JSON.stringify(`${letters.slice(0, MAX_GIVEN_CHARACTERS).join('')}…`)
    : JSON.stringify(value)
}

/** `x must be …, not "what was given"`. */
const must =
  (what: string | ((context: Context) => string)): Writer =>
  ({ name, isSecret }, context) => {
    const given = isSecret || context.value === undefined ? '' : `, not ${describeGiven(context.value)}`
    return `${name} must ${typeof what === 'string' ? what : what(context)}${given}`
  }

/** The same without what was given, which is long, or said already. */
const mustOnly =
  (what: (context: Context) => string): Writer =>
  ({ name }, context) =>
    `${name} must ${what(context)}`

/** What was given is named by its kind only: a text in place of an object may be a connection string. */
const mustBe =
  (noun: string): Writer =>
  ({ name }, { value }) =>
    `${name} must be ${noun}, not ${typeof value === 'string' ? 'text' : describeGiven(value)}`

/** A limit, which may be that of another field. */
function limitOf({ limit }: Context): string {
  if (Joi.isRef(limit)) return (limit as unknown as { key: string }).key
  return limit instanceof Date ? limit.toISOString() : String(limit)
}

const counted = (count: string, noun: string) => `${count} ${noun}${count === '1' ? '' : 's'}`
const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : Object.keys(value ?? {}).length
const size =
  (limit: string, noun: string): Writer =>
  ({ name }, context) =>
    `${name} must have ${limit} ${counted(limitOf(context), noun)}, not ${sizeOf(context.value)}`
const atLeast =
  (noun: string): Writer =>
  ({ name, ...subject }, context) =>
    noun === 'character' && limitOf(context) === '1'
      ? `${name} must not be empty`
      : (size('at least', noun)({ name, ...subject }, context) as string)

const names = (labels: unknown) => (labels as string[] | undefined) ?? []

const NOUNS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  date: 'a date and time',
}

/** One of several kinds of values. @param types Joi's types, or words */
function kinds({ name, isSecret }: Subject, types: readonly string[], { value }: Context): string {
  const nouns = [...new Set(types.map(type => NOUNS[type] ?? type))]
  return `${name} must be ${listOf(nouns, 'or') || 'another value'}${isSecret ? '' : `, not ${describeGiven(value)}`}`
}

/** One of some words. @param lead `one of`, `one or more of` */
function choice(
  lead: string,
  words: readonly unknown[],
  given: unknown,
  { name, isSecret }: Subject,
): Sentence {
  const texts = words.filter(word => word !== null).map(String)
  const listed = listNames(texts) + (words.includes(null) ? ' or null' : '')
  const candidates = typeof given === 'string' && !isSecret ? nearest(given, texts) : []
  const end = isSecret || given === undefined ? '' : `, not ${describeGiven(given)}`
  const text = `${name} must be ${texts.length === 1 ? '' : `${lead} `}${listed}${end}${didYouMean(candidates)}`
  return { text, ...(candidates.length > 0 && { candidates }) }
}

/** What one of several alternatives asks for: `a number or one of a, b`. */
const alternatives: Writer = (subject, context) => {
  const details = names(context.details) as unknown as Joi.ValidationErrorItem[]
  const lead = `${subject.name} must be `
  const whats = details.flatMap(({ type, context: inner }) => {
    const { text } = writeSentence(type, { ...subject, isSecret: true }, inner as Context) ?? {}
    return text?.startsWith(lead) ? [text.slice(lead.length)] : []
  })
  if (whats.length === 0) return `${subject.name} is of none of the forms that it may have`
  const given = subject.isSecret ? '' : `, not ${describeGiven(context.value)}`
  return `${lead}${[...new Set(whats)].join(' or ')}${given}`
}

/** A choice, or a list of them in one text, of which `unknown` is none. */
function chooseFrom(subject: Subject, { valids, value, unknown }: Context): Sentence {
  const words = valids as unknown[]
  if (unknown === undefined) return choice('one of', words, value, subject)
  const { text, ...more } = choice('one or more of', words, unknown, subject)
  return { text: `${text}${text.endsWith('?') ? '' : '; separate several by commas'}`, ...more }
}

/** The sentence for a value that is none of some words. */
export function writeChoice(name: string, words: readonly string[], given: unknown): Sentence {
  return choice('one of', words, given, { name, isRoot: false, isQuery: false, isSecret: false })
}

const DATE = 'be a date and time such as 2026-03-14T09:26:53Z'

/** By Joi's types of failures. Those that no schema of ours can give have the sentence of `OTHER`. */
const SENTENCES: Record<string, Writer> = {
  'any.required': ({ name }) => `${name} is required`,
  'any.unknown': ({ name }) => `${name} cannot be given here`,
  'any.only': chooseFrom,
  'any.invalid': must('be another value'),
  'alternatives.types': (subject, context) => kinds(subject, names(context.types), context),
  'alternatives.match': alternatives,
  'alternatives.any': alternatives,
  'array.base': mustBe('a list'),
  'array.min': atLeast('item'),
  'array.max': size('at most', 'item'),
  'array.length': size('exactly', 'item'),
  'array.unique': ({ name }, { dupePos }) => `${name} repeats item ${String(dupePos)}: give each once`,
  'array.includes': ({ types = [], ...subject }, context) => kinds(subject, types, context),
  'boolean.base': must('be true or false'),
  'date.base': must(DATE),
  'date.format': must(DATE),
  'date.min': must(context => `be ${limitOf(context)} or later`),
  'date.max': must(context => `be ${limitOf(context)} or earlier`),
  'date.greater': must(context => `be after ${limitOf(context)}`),
  'date.less': must(context => `be before ${limitOf(context)}`),
  'number.base': must('be a number'),
  'number.integer': must('be a whole number'),
  'number.min': must(context => `be at least ${limitOf(context)}`),
  'number.max': must(context => `be at most ${limitOf(context)}`),
  'number.greater': must(context => `be above ${limitOf(context)}`),
  'number.less': must(context => `be below ${limitOf(context)}`),
  'number.positive': must('be above 0'),
  'number.negative': must('be below 0'),
  'number.multiple': must(({ multiple }) => `be a multiple of ${String(multiple)}`),
  'number.precision': must(context => `have at most ${counted(limitOf(context), 'decimal place')}`),
  'number.port': must('be a port, 1 to 65535'),
  'number.infinity': must('be a finite number'),
  'number.unsafe': must(`lie between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`),
  'object.base': (subject, context) =>
    subject.isRoot
      ? `a JSON object is required in ${subject.name}`
      : mustBe('a JSON object')(subject, context),
  'object.min': atLeast('field'),
  'object.max': size('at most', 'field'),
  'object.length': size('exactly', 'field'),
  'object.missing': ({ name, isRoot }, { peers }) =>
    `give ${listOf(names(peers), 'or')}${isRoot ? '' : ` in ${name}`}`,
  'object.xor': (_subject, { present, peers }) => onlyOne(present ?? peers),
  'object.oxor': (_subject, { present, peers }) => onlyOne(present ?? peers),
  'object.nand': (_subject, { main, peers }) => onlyOne([main, ...names(peers)]),
  'object.and': ({ name, isRoot }, { missing, present }) =>
    `${listOf(names(missing), 'and')} must be given with ${listOf(names(present), 'and')}${isRoot ? '' : ` in ${name}`}`,
  'object.with': ({ name }, { main }) => `${name} is required with ${String(main)}`,
  'object.without': ({ name }, { peer }) => `${name} cannot be given together with ${String(peer)}`,
  'object.rename.override': (_subject, { from, to }) =>
    `${String(from)} and ${String(to)} are two names of one field: give one of them`,
  'string.base': (subject, context) =>
    subject.isQuery && Array.isArray(context.value)
      ? `${subject.name} is given ${context.value.length} times: give it once`
      : must('be text')(subject, context),
  'string.empty': mustOnly(() => 'not be empty'),
  'string.min': atLeast('character'),
  'string.max': size('at most', 'character'),
  'string.length': size('exactly', 'character'),
  'string.pattern.base': ({ name, example }) =>
    `${name} is not of the form that is needed here${typeof example === 'string' ? `, such as ${example}` : ''}`,
  'string.pattern.name': mustOnly(
    ({ name }) => `be ${/^an? /.test(String(name)) ? '' : 'a '}${String(name)}`,
  ),
  'string.email': must('be an email address'),
  'string.uri': mustOnly(() => 'be a URL such as https://example.com/path'),
  'string.uriCustomScheme': mustOnly(
    ({ scheme }) =>
      `be a URL that starts with ${String(scheme)
        .split('|')
        .map(each => `${each}://`)
        .join(' or ')}`,
  ),
  'string.guid': must('be a UUID'),
  'string.isoDate': must(DATE),
  'string.ip': must('be an IP address'),
  'string.hostname': must('be a host name'),
  'string.domain': must('be a domain name'),
  'string.hex': mustOnly(() => 'be hexadecimal digits'),
  'string.base64': mustOnly(() => 'be base64'),
  'string.alphanum': mustOnly(() => 'be letters and digits only'),
  'string.trim': mustOnly(() => 'not begin or end with blanks'),
  'string.lowercase': must('be in lower case'),
  'string.uppercase': must('be in upper case'),
}

function listOf(items: readonly string[], word: 'and' | 'or'): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} ${word} ${last}`
}

function onlyOne(fields: unknown): string {
  const given = names(fields)
  return given.length === 2
    ? `${given.join(' and ')} cannot be given together`
    : `only one of ${given.join(', ')} can be given`
}

/**
 * Messages for Joi that mark what is worded here, compiled once. Not the wildcard `*`, which would win over
 * `helpers.message` and over messages of a type of its own.
 */
export const WORDED_MESSAGES = Object.fromEntries(
  [...Object.keys(SENTENCES), 'object.unknown'].map(type => [type, Joi.expression(WORDED_CENTRALLY)]),
) as Joi.LanguageMessages

/** The sentence for a failure; null for a type that has none. */
export function writeSentence(type: string, subject: Subject, context: Context): Sentence | null {
  const sentence = SENTENCES[type]?.(subject, context)
  return sentence === undefined ? null : typeof sentence === 'string' ? { text: sentence } : sentence
}

/** The sentence for a field that nothing knows. @param known the fields that there may be, null if open */
export function writeUnknownField(
  { name, isQuery }: Subject,
  last: string,
  known: readonly string[] | null,
): Sentence {
  const lead = `unknown ${isQuery ? 'query parameter' : 'field'} ${quoteName(name)}`
  if (known === null) return { text: lead }
  if (known.length === 0) return { text: `${lead}: nothing is taken here` }
  const candidates = nearest(last, known)
  const allowed = `llowed are ${listNames(known)}`
  if (candidates.length === 0) return { text: `${lead}; a${allowed}` }
  return { text: `${lead}${didYouMean(candidates)} A${allowed}`, candidates }
}
