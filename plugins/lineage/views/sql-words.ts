import type { Lexicon, QuoteForm } from '../../../connectors/lexicon.ts'

/** A token that matters: a name, a bracket, a comma or a dot. */
export interface Word {
  text: string
  /** Whether it can be no keyword and no sign: it stood in quotes, or behind a dot. */
  isName: boolean
}

type Quote = Pick<QuoteForm, 'open' | 'close'> & {
  isName: boolean
  isDoubled: boolean
  /** Whether a backslash takes the character after it along. */
  isEscaped: boolean
}

/** What of an engine's SQL decides which names a definition holds; a thread can be given it. */
export interface WordRules extends Pick<
  Lexicon,
  | 'lineComments'
  | 'dashesNeedSpace'
  | 'nestsComments'
  | 'namesHoldDashes'
  | 'quotedNamesHoldDots'
  | 'recursesWithoutKeyword'
> {
  /** The longest first. */
  quotes: readonly Quote[]
}

type Quotes = Pick<Lexicon, 'texts' | 'names' | 'lineComments' | 'nestsComments'>

const doubled = (open: string, close = open): QuoteForm => ({ open, close, allowsDoubledClose: true })

/** Where an engine says nothing about its SQL: every spelling of names that some engine has. */
const COMMON: Quotes = {
  texts: [doubled("'")],
  names: [doubled('"'), doubled('`'), doubled('[', ']')],
  lineComments: ['--'],
}

/** As `pg_get_viewdef` writes it. */
const POSTGRESQL: Quotes = {
  texts: [doubled("'"), { ...doubled("e'", "'"), escapes: {} }],
  names: [doubled('"')],
  lineComments: ['--'],
  nestsComments: true,
}

/** The rules by which the words of views are split. @param lexicon of the engine's dialect */
export function wordRulesOf(lexicon: Lexicon | 'postgresql' | undefined): WordRules {
  const given: Quotes & Partial<Lexicon> = lexicon === 'postgresql' ? POSTGRESQL : (lexicon ?? COMMON)
  const forms = [
    ...given.texts.flatMap(withBytes).map(form => ({ form, isName: false })),
    ...given.names.map(form => ({ form, isName: true })),
  ]
  const quotes = forms.map(({ form, isName }): Quote => {
    const { open, close, allowsDoubledClose, escapes } = form
    return { open, close, isName, isDoubled: allowsDoubledClose === true, isEscaped: escapes !== undefined }
  })
  const { lineComments, dashesNeedSpace, nestsComments } = given
  const { namesHoldDashes, quotedNamesHoldDots, recursesWithoutKeyword } = given
  return {
    quotes: quotes.toSorted((a, b) => b.open.length - a.open.length),
    lineComments,
    ...(dashesNeedSpace && { dashesNeedSpace }),
    ...(nestsComments && { nestsComments }),
    ...(namesHoldDashes && { namesHoldDashes }),
    ...(quotedNamesHoldDots && { quotedNamesHoldDots }),
    ...(recursesWithoutKeyword && { recursesWithoutKeyword }),
  }
}

/** Raw texts may be raw bytes: `br'…'` and `rb'…'`. */
function withBytes(form: QuoteForm): QuoteForm[] {
  const { open } = form
  if (!/^r\W/.test(open)) return [form]
  return [form, { ...form, open: `b${open}` }, { ...form, open: `rb${open.slice(1)}` }]
}

/** A sign that matters, or a name; numbers with a dot, and parameters and stages with their names, are left out. */
const PLAIN =
  /\d+\.(?:\d\w*)?(?![\p{L}_])|([(),.;]|\|>|[\p{L}\p{N}_][\p{L}\p{M}\p{N}_$]*)|@[\p{L}\p{N}_$.@/]*/uy
const DASHED =
  /\d+\.(?:\d\w*)?(?![\p{L}_])|([(),.;]|\|>|[\p{L}\p{N}_][\p{L}\p{M}\p{N}_$]*(?:-[\p{L}\p{N}_]+)*)|@[\p{L}\p{N}_$.@/]*/uy
const STARTS_NAME = /[\p{L}\p{N}_]/u

/**
 * Splits a text into words as an engine does, without its texts and comments. Reads each character once: a quote that is not
 * closed is skipped; then none of its kind is closed after it, and the others are not looked for.
 */
export function splitWords(text: string, rules: WordRules): Word[] {
  const words: Word[] = []
  const plain = rules.namesHoldDashes ? DASHED : PLAIN
  const unclosed = new Set<string>()
  const byStart = groupByStart(rules.quotes)
  for (let at = 0; at < text.length;) {
    const comment = commentEnd(text, at, rules, unclosed)
    if (comment !== undefined) {
      at = comment
      continue
    }
    const quote = byStart
      .get(text.charAt(at).toLowerCase())
      ?.find(({ open }) => text.slice(at, at + open.length).toLowerCase() === open)
    if (quote) {
      const { open } = quote
      const end = unclosed.has(open) ? -1 : endOfQuote(text, at + open.length, quote)
      if (end !== -1 && quote.isName) words.push({ text: contentOf(text, at, end, quote), isName: true })
      if (end === -1) unclosed.add(open)
      at = end === -1 ? at + open.length : end
      continue
    }
    plain.lastIndex = at
    const [all = ' ', word] = plain.exec(text) ?? []
    if (word !== undefined) words.push({ text: word, isName: isBehindDot(words, text, at, word) })
    at += all.length
  }
  return words
}

function groupByStart(quotes: readonly Quote[]): Map<string, Quote[]> {
  const groups = new Map<string, Quote[]>()
  for (const quote of quotes) {
    const start = quote.open.charAt(0)
    groups.set(start, [...(groups.get(start) ?? []), quote])
  }
  return groups
}

/** A field may be called as a keyword is: `a.from`, and `a:from` in documents. */
function isBehindDot(words: readonly Word[], text: string, at: number, word: string): boolean {
  if (!STARTS_NAME.test(word)) return false
  const before = words.at(-1)
  const isField = text.charAt(at - 1) === ':' && text.charAt(at - 2) !== ':'
  return isField || (before?.text === '.' && !before.isName)
}

/** Where a comment at a position ends; undefined where none begins there. */
function commentEnd(
  text: string,
  at: number,
  { lineComments, dashesNeedSpace, nestsComments }: WordRules,
  unclosed: Set<string>,
): number | undefined {
  const sign = lineComments.find(begin => text.startsWith(begin, at))
  if (sign !== undefined && !(sign === '--' && dashesNeedSpace && /\S/.test(text.charAt(at + 2)))) {
    const line = text.indexOf('\n', at)
    return line === -1 ? text.length : line
  }
  if (!text.startsWith('/*', at)) return undefined
  const end = unclosed.has('/*') ? -1 : endOfComment(text, at + 2, nestsComments === true)
  if (end === -1) unclosed.add('/*')
  return end === -1 ? at + 2 : end
}

const COMMENT_SIGN = /\/\*|\*\//g

function endOfComment(text: string, from: number, isNested: boolean): number {
  if (!isNested) {
    const end = text.indexOf('*/', from)
    return end === -1 ? -1 : end + 2
  }
  let depth = 1
  COMMENT_SIGN.lastIndex = from
  for (let found = COMMENT_SIGN.exec(text); found; found = COMMENT_SIGN.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return found.index + 2
  }
  return -1
}

/** The place behind the closing quote; -1 without one. */
function endOfQuote(text: string, from: number, { close, isDoubled, isEscaped }: Quote): number {
  if (!isDoubled && !isEscaped) {
    const end = text.indexOf(close, from)
    return end === -1 ? -1 : end + close.length
  }
  for (let at = from; at < text.length; at += 1) {
    if (isEscaped && text[at] === '\\') at += 1
    else if (text.startsWith(close, at)) {
      if (!isDoubled || !text.startsWith(close, at + close.length)) return at + close.length
      at += 2 * close.length - 1
    }
  }
  return -1
}

function contentOf(text: string, at: number, end: number, { open, close, isDoubled, isEscaped }: Quote) {
  const content = text.slice(at + open.length, end - close.length)
  if (isEscaped) return content.replaceAll(/\\([^])/g, '$1')
  return isDoubled ? content.replaceAll(close + close, () => close) : content
}
