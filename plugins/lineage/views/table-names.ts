import type { TableName } from './columns.ts'

/** A token that matters: a name, a bracket, a comma or a dot. */
interface Word {
  text: string
  isQuoted: boolean
}

/** Comments, texts, quoted names, plain names, numbers, and single signs. */
const TOKEN_PATTERN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|''|\\.)*'|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]'"]*)\]|([\p{L}_][\p{L}\p{N}_$]*)|[\d][\w.]*|[(),.;]/gu

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

function splitWords(text: string): Word[] {
  return [...text.matchAll(TOKEN_PATTERN)].flatMap((match): Word[] => {
    const [all, double, back, square, plain] = match
    const quoted = double?.replaceAll('""', '"') ?? back?.replaceAll('``', '`') ?? square
    if (quoted !== undefined) return [{ text: quoted, isQuoted: true }]
    return plain !== undefined || /^[(),.;]$/.test(all) ? [{ text: all, isQuoted: false }] : []
  })
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
  const names = words.flatMap((word, at) => {
    const next = (step: number) => words[at + step]?.text.toLowerCase()
    const before = words[at - 1]?.text.toLowerCase()
    const begins = before === 'with' || before === 'recursive' || before === ','
    if (!begins) return []
    if (next(1) === 'as' && next(2) === '(') return [word.text.toLowerCase()]
    if (next(1) !== '(') return []
    const close = words.findIndex(({ text }, index) => index > at && text === ')')
    const isNamed = words[close + 1]?.text.toLowerCase() === 'as' && words[close + 2]?.text === '('
    return close > 0 && isNamed ? [word.text.toLowerCase()] : []
  })
  return new Set(names)
}
