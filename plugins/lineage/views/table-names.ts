import type { TableName } from './columns.ts'

/** A token that matters: a name, a bracket, a comma or a dot. */
interface Word {
  text: string
  isQuoted: boolean
}

const AFTER_FROM = new Set(['from', 'join', 'straight_join'])
/** Words that end the list of tables in which a comma goes on. */
const ENDS_LIST = new Set([
  ...['where', 'group', 'order', 'having', 'union', 'intersect', 'except', 'minus', 'select', 'limit'],
  ...['window', 'qualify', 'connect', 'start', 'set', 'values'],
])
const BEFORE_TABLE = new Set(['only', 'lateral'])

/** Longest definition whose words are read, in characters. */
const MAX_LENGTH = 1_000_000

/**
 * The names that follow FROM and JOIN in SQL of any engine, without those of CTEs: candidates, since a name in
 * `extract(year from placed)` is among them. The caller looks them up in the catalog.
 */
export function findTableNames(text: string): TableName[] {
  const words = splitWords(text.slice(0, MAX_LENGTH))
  const ctes = findCtes(words)
  const found = new Map<string, TableName>()
  const depths = [{ isList: false, isNext: false }]
  for (let at = 0; at < words.length; at++) {
    const state = depths.at(-1)!
    const { text: word, isQuoted } = words[at]!
    const lower = isQuoted ? undefined : word.toLowerCase()
    if (lower === '(') depths.push({ isList: state.isNext, isNext: state.isNext })
    else if (lower === ')') {
      if (depths.length > 1) depths.pop()
      depths.at(-1)!.isNext = false
    } else if (lower === ',') state.isNext = state.isList
    else if (lower !== undefined && AFTER_FROM.has(lower))
      Object.assign(state, { isList: true, isNext: true })
    else if (lower !== undefined && ENDS_LIST.has(lower))
      Object.assign(state, { isList: false, isNext: false })
    else if (state.isNext && !(lower !== undefined && BEFORE_TABLE.has(lower))) {
      const { parts, end } = readName(words, at)
      state.isNext = false
      at = end
      // A name before a bracket is a function.
      if (words[end + 1]?.text === '(' || parts.length === 0) continue
      if (parts.length === 1 && ctes.has(parts[0]!.toLowerCase())) continue
      const [name, schema, catalog] = parts.toReversed()
      found.set(JSON.stringify(parts), {
        name: name!,
        ...(schema !== undefined && { schema }),
        ...(catalog !== undefined && { catalog }),
      })
    }
  }
  return [...found.values()]
}

/** Signs that matter, plain names, and numbers, which are left out with their letters. */
const PLAIN_PATTERN = /([(),.;]|[\p{L}_][\p{L}\p{N}_$]*)|\d[\w.]*/uy

/**
 * Reads each character once. A quote that is not closed is skipped: then none of its kind is closed after it, and the others
 * are not looked for.
 */
function splitWords(text: string): Word[] {
  const words: Word[] = []
  const closings = new Map(Object.entries(CLOSINGS))
  for (let at = 0; at < text.length;) {
    const opening = ['--', '/*'].find(sign => text.startsWith(sign, at)) ?? text.charAt(at)
    const end = closings.get(opening)?.(text, at + opening.length)
    if (end !== undefined) {
      if (end === -1) closings.delete(opening)
      else if (QUOTED_NAMES.has(opening)) {
        const quoted = text.slice(at + 1, end - 1)
        words.push({ text: quoted.replaceAll(opening.repeat(2), opening), isQuoted: true })
      }
      at = end === -1 ? at + opening.length : end
      continue
    }
    PLAIN_PATTERN.lastIndex = at
    const [all = ' ', word] = PLAIN_PATTERN.exec(text) ?? []
    if (word !== undefined) words.push({ text: word, isQuoted: false })
    at += all.length
  }
  return words
}

/** Where what a sign opens ends, behind its closing sign; -1 where it is not closed. By the sign. */
const CLOSINGS: Readonly<Record<string, (text: string, from: number) => number>> = {
  '--': (text, from) => {
    const line = text.indexOf('\n', from)
    return line === -1 ? text.length : line
  },
  '/*': (text, from) => after(text.indexOf('*/', from), 2),
  "'": (text, from) => endOfQuotes(text, from, "'", '\\'),
  '"': (text, from) => endOfQuotes(text, from, '"'),
  '`': (text, from) => endOfQuotes(text, from, '`'),
  '[': (text, from) => after(text.indexOf(']', from), 1),
}
const QUOTED_NAMES = new Set(['"', '`', '['])

const after = (at: number, length: number) => (at === -1 ? -1 : at + length)

/** The end of a text or name whose quotes are doubled within, or escaped. */
function endOfQuotes(text: string, from: number, quote: string, escape?: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === escape) at += 1
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1
      at += 1
    }
  }
  return -1
}

/** The parts of a name that begins at a word; one in backquotes may hold several. */
function readName(words: readonly Word[], start: number): { parts: string[]; end: number } {
  const parts: string[] = []
  let end = start
  for (let at = start; ; at += 2) {
    const word = words[at]
    if (!word || (!word.isQuoted && /^[(),.;]$/.test(word.text))) break
    parts.push(word.text)
    end = at
    if (words[at + 1]?.text !== '.' || words[at + 1]?.isQuoted) break
  }
  const [only] = parts
  return { parts: parts.length === 1 && words[start]?.isQuoted ? only!.split('.') : parts, end }
}

/** Names before `as (` that WITH or a comma begins. */
function findCtes(words: readonly Word[]): Set<string> {
  const closings = nextClosings(words)
  const names = words.flatMap((word, at) => {
    const next = (step: number) => words[at + step]?.text.toLowerCase()
    const before = words[at - 1]?.text.toLowerCase()
    const begins = before === 'with' || before === 'recursive' || before === ','
    if (!begins) return []
    if (next(1) === 'as' && next(2) === '(') return [word.text.toLowerCase()]
    if (next(1) !== '(') return []
    const close = closings[at] ?? -1
    const isNamed = words[close + 1]?.text.toLowerCase() === 'as' && words[close + 2]?.text === '('
    return close > 0 && isNamed ? [word.text.toLowerCase()] : []
  })
  return new Set(names)
}

/** By the place of each word, that of the closing bracket after it. */
function nextClosings(words: readonly Word[]): (number | undefined)[] {
  const closings: (number | undefined)[] = Array.from({ length: words.length })
  for (let at = words.length - 2; at >= 0; at -= 1)
    closings[at] = words[at + 1]?.text === ')' ? at + 1 : closings[at + 1]
  return closings
}
