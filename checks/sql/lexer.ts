import type { Lexicon, QuoteForm } from '../../connectors/lexicon.ts'
import { ambiguousQuotesError, findAmbiguousText } from './ambiguous-quotes.ts'
import { ADJACENT_TEXTS, keywordOf, LEFT_OPEN, MAX_TOKENS, TOO_MANY_TOKENS } from './token.ts'
import type { SqlToken } from './token.ts'

type SqlError = { error: string }

const BLANKS = /[ \t\n\r\f\v]+/y
const DIGITS = /x'[0-9a-f]*'|b'[01]*'/iy
const NUMBER = /(?:0x[0-9a-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)/iy
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy
const WORD_END = /[\p{L}\p{M}\p{N}_$]/u
/** A name in double quotes, the spelling that is translated for every engine. */
const PORTABLE_NAME = /"((?:[^"]|"")+)"/y
/** After these, what stands in double quotes is a name. */
const BEFORE_NAME = new Set(['.', 'from', 'join', 'as'])
/** After these, a text stands as often as a column. */
const BEFORE_TEXT = new Set([
  ...['=', '==', '<>', '!=', '<', '>', '<=', '>=', '<=>'],
  ...['like', 'regexp', 'rlike'],
])

/**
 * Splits a text into tokens as an engine does; comments are left out. Refuses tokens that the lexicon does not list, and
 * those that engines of one kind read differently.
 * @param columns of the table, in lower case: `"amount"` is one of them where it could be a text too
 */
export function tokenize(
  text: string,
  lexicon: Lexicon,
  columns: ReadonlySet<string>,
): SqlToken[] | SqlError {
  const quotes = [
    ...lexicon.texts.map(form => ({ kind: 'text' as const, form })),
    ...lexicon.names.map(form => ({ kind: 'name' as const, form })),
  ].toSorted((a, b) => b.form.open.length - a.form.open.length)
  const tokens: SqlToken[] = []
  const doubled = new Set<SqlToken>()
  let at = 0
  let gap = false
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const add = (kind: SqlToken['kind'], content: string, length: number) => {
    const token = { kind, text: content, gap }
    tokens.push(token)
    gap = false
    at += length
    return token
  }
  while (at < text.length) {
    const skipped = take(BLANKS)?.length ?? commentLength(text, at, lexicon)
    if (typeof skipped === 'object') return skipped
    if (skipped > 0) {
      at += skipped
      gap = true
      continue
    }
    if (tokens.length >= MAX_TOKENS) return TOO_MANY_TOKENS
    const before = tokens.at(-1)
    const digits = take(DIGITS)
    if (digits !== undefined) {
      if (before?.kind === 'text') return ADJACENT_TEXTS
      add('digits', digits, digits.length)
      continue
    }
    const isTextQuote = lexicon.texts.some(({ open }) => open === '"')
    const portable = isTextQuote ? take(PORTABLE_NAME) : undefined
    const name = portable && readPortable(portable, text, at, tokens, columns)
    if (typeof name === 'object') return name
    if (portable !== undefined && name !== undefined) {
      add('name', name, portable.length)
      continue
    }
    const quote = quotes.find(({ form }) => text.slice(at, at + form.open.length).toLowerCase() === form.open)
    if (quote) {
      const read = readQuoted(text, at, quote.form, lexicon)
      if ('error' in read) return read
      const refusal =
        quote.kind === 'text' ? findTextProblem(text.slice(at, at + read.length), before, gap) : null
      if (refusal) return refusal
      const token = add(quote.kind, read.content, read.length)
      if (quote.kind === 'text' && quote.form.open === '"' && read.content !== '') doubled.add(token)
      continue
    }
    const number = before && isOperand(before) && text[at] === '.' ? undefined : take(NUMBER)
    if (number !== undefined) {
      const next = text[at + number.length] ?? ''
      if (next === '.' || WORD_END.test(next))
        return { error: `${number}${next} cannot be read: a number is followed by a blank or a sign.` }
      add('number', number, number.length)
      continue
    }
    const word = take(WORD)
    if (word !== undefined) {
      if (isDisguised(word))
        return {
          error: `The name ${word} is not allowed in sql_expression without quotes: it has letters that look like others.`,
        }
      add('word', word, word.length)
      continue
    }
    const sign = lexicon.symbols.find(candidate => text.startsWith(candidate, at))
    const refused = refuseReplaced(sign ?? text[at] ?? '', lexicon)
    if (refused) return refused
    if (sign === undefined) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
      return {
        error: `${character} is not allowed in sql_expression: as a part of a name it stands in quotes, and as an operator ${lexicon.label} has a function for it.`,
      }
    }
    add('sign', sign, sign.length)
  }
  const found = findAmbiguousText(tokens, doubled)
  return found ? ambiguousQuotesError(found.text) : tokens
}

/** The refusal of a word or sign that has a portable form. */
function refuseReplaced(written: string, { replacements: instead, label }: Lexicon): SqlError | undefined {
  const form = Object.hasOwn(instead, written) ? instead[written] : undefined
  return form === undefined
    ? undefined
    : { error: `${written} is not allowed in sql_expression on ${label}: write ${form}.` }
}

/** Whether an operand ends with a token, so that an operator may follow. */
export function isOperand({ kind, text }: SqlToken): boolean {
  if (kind === 'sign') return text === ')' || text === ']'
  return kind !== 'word' || !NON_OPERAND_WORDS.has(text.toLowerCase())
}

/** Words that no operand ends with. */
const NON_OPERAND_WORDS = new Set(
  `select distinct distinctrow all where and or xor not on using when then else case in like ilike regexp rlike glob
  between escape by having from join is as with union except intersect limit offset interval div over`.split(
    /\s+/,
  ),
)

/** How long a comment at a position is; 0 for none. */
function commentLength(text: string, at: number, lexicon: Lexicon): number | SqlError {
  const rest = text.slice(at)
  const line = lexicon.lineComments.find(begin => rest.startsWith(begin))
  if (line !== undefined && !(line === '--' && lexicon.dashesNeedSpace && !/^--(\s|$)/.test(rest)))
    return /^[^\n]*/.exec(rest)?.[0].length ?? 0
  if (!rest.startsWith('/*')) return 0
  if (lexicon.executableComment?.test(rest)) return refuseReplaced('/*!', lexicon) ?? 0
  const end = text.indexOf('*/', at + 2)
  if (end < 0) return LEFT_OPEN
  return text.slice(at + 2, end).includes('/*')
    ? { error: 'sql_expression has a comment within a comment; leave one of them out.' }
    : end + 2 - at
}

/** Reads what stands in quotes at a position. */
function readQuoted(
  text: string,
  start: number,
  { open, close, allowsDoubledClose: doubled, escapes }: QuoteForm,
  { label }: Lexicon,
): { content: string; length: number } | SqlError {
  let content = ''
  for (let at = start + open.length; at < text.length;) {
    const character = text[at] ?? ''
    if (escapes && character === '\\') {
      const escaped = text[at + 1] ?? ''
      const meant = Object.hasOwn(escapes, escaped) ? escapes[escaped] : undefined
      if (meant === undefined)
        return {
          error: `A backslash begins an escape in ${label}, and \\${escaped} is not allowed in sql_expression: write \\\\${escaped} for a backslash, or the character itself.`,
        }
      content += meant
      at += 2
    } else if (doubled && text.startsWith(close + close, at)) {
      content += close
      at += 2 * close.length
    } else if (text.startsWith(close, at)) {
      return { content, length: at + close.length - start }
    } else {
      content += character
      at += 1
    }
  }
  return LEFT_OPEN
}

/** Why a text may not stand after a token: some engine would take both for one. */
function findTextProblem(source: string, before: SqlToken | undefined, gap: boolean): SqlError | null {
  if (before?.kind === 'text' || before?.kind === 'digits') return ADJACENT_TEXTS
  if (before?.kind !== 'word') return null
  // Longer ones are types and keywords, as in date '2024-01-31'.
  if (/^[a-z][a-z0-9_]{2,}$/i.test(before.text) || (gap && !before.text.startsWith('_'))) return null
  return {
    error: `${before.text}${source} is not allowed in sql_expression: texts have no prefix; write '…' or cast('…' as a type).`,
  }
}

/** Whether an engine that folds compatible characters would read another word. */
function isDisguised(word: string): boolean {
  return (
    /[^\x20-\x7e]/.test(word) && /^[\x20-\x7e]+$/.test(word.normalize('NFKC').toUpperCase().toLowerCase())
  )
}

/**
 * What double quotes hold where they hold texts, read as a name, which every other engine writes so: after a dot, FROM,
 * JOIN or AS, before a dot or a parenthesis, or one of the table's columns. Undefined for a text.
 */
function readPortable(
  source: string,
  text: string,
  at: number,
  tokens: readonly SqlToken[],
  columns: ReadonlySet<string>,
): string | SqlError | undefined {
  const name = source.slice(1, -1).replaceAll('""', '"')
  const word = keywordOf(tokens.at(-1))
  if (BEFORE_NAME.has(word) || /^\s*[.(]/.test(text.slice(at + source.length))) return name
  if (!columns.has(name.toLowerCase())) return undefined
  if (!BEFORE_TEXT.has(word) && !isListed(tokens)) return name
  return ambiguousQuotesError(name)
}

/** Whether what follows stands in the list of an IN. */
function isListed(tokens: readonly SqlToken[]): boolean {
  let depth = 0
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    const { kind, text } = tokens[index] as SqlToken
    if (kind !== 'sign') continue
    if (text === ')') depth += 1
    if (text === '(' && --depth < 0) return /^in$/i.test(tokens[index - 1]?.text ?? '')
  }
  return false
}
