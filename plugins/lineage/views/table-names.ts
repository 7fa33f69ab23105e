import type { TableName } from './columns.ts'
import { splitWords, type Word, type WordRules } from './sql-words.ts'
import { findCtes } from './word-ctes.ts'

const BEGINS_LIST = new Set(['from', 'join', 'straight_join'])
/** Words that end the list of tables in which a comma goes on. */
const ENDS_LIST = new Set([
  ...['where', 'group', 'order', 'having', 'union', 'intersect', 'except', 'minus', 'select', 'limit'],
  ...['window', 'qualify', 'connect', 'start', 'set', 'values', '|>'],
])
const BEFORE_TABLE = new Set(['only', 'lateral'])

/** Longest definition whose words are read, in characters. */
const MAX_LENGTH = 1_000_000

/** What is known between two brackets, or around them all. */
interface Frame {
  /** Whether a comma goes on with the next table. */
  isList: boolean
  /** Whether a table is next. */
  isNext: boolean
  /** Whether its FROM names tables: that of `extract(year from placed)` does not. */
  isQuery: boolean
  /** The CTE whose body it is. */
  cte: string | undefined
  /** CTEs that are known to its end. */
  ctes: string[]
}

/** The names of tables that follow FROM and JOIN in SQL of any engine, without those of CTEs where these are known. */
export function findTableNames(text: string, rules: WordRules): TableName[] {
  const words = splitWords(text.slice(0, MAX_LENGTH), rules)
  const ctes = findCtes(words, rules.recursesWithoutKeyword === 'anywhere')
  const found = new Map<string, TableName>()
  const known = new KnownCtes()
  const frames = [newFrame({ isQuery: true })]
  for (let at = 0; at < words.length; at++) {
    const frame = frames.at(-1)!
    const word = words[at]!
    const keyword = word.isName ? undefined : word.text.toLowerCase()
    if (keyword === '(')
      frames.push(newFrame({ isList: frame.isNext, isNext: frame.isNext, cte: ctes.bodies.get(at) }))
    else if (keyword === ')') {
      if (frames.length > 1) known.forget(frames.pop()!.ctes)
      frames.at(-1)!.isNext = false
    } else if (keyword === ',') frame.isNext = frame.isList
    else if (keyword !== undefined && BEGINS_LIST.has(keyword)) {
      if (keyword === 'from' && !isFromOfTables(words, at, frame)) continue
      Object.assign(frame, { isList: true, isNext: true, isQuery: true })
    } else if (keyword !== undefined && ENDS_LIST.has(keyword)) {
      Object.assign(frame, { isList: false, isNext: false, isQuery: true })
      if (keyword === 'union' && rules.recursesWithoutKeyword === 'behind_union' && frame.cte !== undefined)
        known.add(frame, [frame.cte])
    } else if (keyword === 'with') Object.assign(frame, { isNext: false, isQuery: true })
    else if (frame.isNext && !(keyword !== undefined && BEFORE_TABLE.has(keyword))) {
      const { parts, end } = readName(words, at, rules)
      frame.isNext = false
      at = end
      // A name before a bracket is a function.
      if (words[end + 1]?.text === '(' || parts.length === 0) continue
      if (parts.length === 1 && known.has(parts[0]!)) continue
      const [name, schema, catalog] = parts.toReversed()
      found.set(JSON.stringify(parts), {
        name: name!,
        ...(schema !== undefined && { schema }),
        ...(catalog !== undefined && { catalog }),
      })
    }
    known.add(frames.at(-1)!, ctes.known.get(at) ?? [])
  }
  return [...found.values()]
}

const newFrame = (given: Partial<Frame>): Frame => ({
  isList: false,
  isNext: false,
  isQuery: false,
  cte: undefined,
  ctes: [],
  ...given,
})

/** FROM begins a list in a query, but not behind DISTINCT, where it compares. */
function isFromOfTables(words: readonly Word[], at: number, { isQuery, isNext }: Frame): boolean {
  const before = words[at - 1]
  if (before?.isName === false && before.text.toLowerCase() === 'distinct') return false
  return isQuery || isNext || before?.text === '('
}

/** The CTEs that hide tables at a place, looked up without walking the brackets around it. */
class KnownCtes {
  readonly #counts = new Map<string, number>()

  has(name: string): boolean {
    return (this.#counts.get(name.toLowerCase()) ?? 0) > 0
  }

  add(frame: Frame, names: readonly string[]): void {
    for (const name of names) {
      frame.ctes.push(name)
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    }
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) - 1)
  }
}

/** The parts of a name that begins at a word. */
function readName(
  words: readonly Word[],
  start: number,
  { quotedNamesHoldDots }: WordRules,
): { parts: string[]; end: number } {
  const parts: string[] = []
  let end = start
  for (let at = start; ; at += 2) {
    const word = words[at]
    if (!word || (!word.isName && /^(?:[(),.;]|\|>)$/.test(word.text))) break
    parts.push(...(quotedNamesHoldDots && word.isName ? word.text.split('.') : [word.text]))
    end = at
    if (words[at + 1]?.text !== '.' || words[at + 1]?.isName) break
  }
  return { parts, end }
}
