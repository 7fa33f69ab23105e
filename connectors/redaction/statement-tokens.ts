/** A name, a text, a number or a sign of a statement. Each alternative can match in one way only. */
const TOKEN = /"(?:[^"]|"")*"|`[^`]*`|'(?:[^']|'')*'|[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_.]*|\S/gu

/** Characters of a token that are shown. */
const MAX_TOKEN = 100

/** Characters of a statement that are searched for a name. */
const MAX_SEARCHED = 1_000_000

/** What is shown of a position behind the last token. */
export const STATEMENT_END = 'its end'

/** A name as it is kept, without the quotes around its parts. */
function unquote(part: string): string {
  const body = part.slice(1, -1)
  if (part.startsWith('"')) return body.replaceAll('""', '"')
  return part.startsWith('`') ? body : part
}

const isName = (token: string) => /^["`[\p{L}_$]/u.test(token)

interface Token {
  /** Without the quotes around a name. */
  name: string
  isName: boolean
}

/** The tokens of a text, names with a point between them as one. */
function* tokensOf(text: string): Generator<Token, undefined> {
  let chain: Token | undefined
  let awaitsPart = false
  for (const [token] of text.matchAll(TOKEN)) {
    if (chain && token === '.' && !awaitsPart) {
      awaitsPart = true
      continue
    }
    if (chain && awaitsPart && isName(token)) {
      chain = { ...chain, name: `${chain.name}.${unquote(token)}` }
      awaitsPart = false
      continue
    }
    if (chain) yield chain
    chain = undefined
    awaitsPart = false
    if (isName(token)) chain = { name: unquote(token), isName: true }
    else yield { name: token, isName: false }
  }
  if (chain) yield chain
  return undefined
}

/** The token at a place of a statement, in double quotes and cut to what is shown. */
export function tokenAt(text: string, offset: number): string {
  const first = tokensOf(text.slice(offset, offset + MAX_TOKEN * 10)).next()
  return first.done ? STATEMENT_END : quoteToken(first.value.name)
}

function quoteToken(token: string): string {
  const flat = token.replaceAll(/\s+/g, ' ')
  return `"${flat.length > MAX_TOKEN ? `${flat.slice(0, MAX_TOKEN)}…` : flat}"`.toWellFormed()
}

/**
 * The name in a statement that is one of those given, as the statement has it: whole, or as the last parts of a longer one,
 * whichever of the two has more parts. Undefined where none stands in the statement.
 */
export function findName(text: string, names: readonly string[]): string | undefined {
  const searched = text.slice(0, MAX_SEARCHED)
  const wanted = names.map(name => {
    const dotted = name.replaceAll(':', '.')
    const [only, ...more] = tokensOf(dotted)
    return (only && more.length === 0 ? only.name : dotted).toLowerCase()
  })
  const found = new Map<string, string>()
  for (const { name, isName } of tokensOf(searched)) {
    if (!isName) continue
    const lower = name.toLowerCase()
    const same = wanted.find(
      each => each !== '' && (each === lower || endsWithParts(each, lower) || endsWithParts(lower, each)),
    )
    if (same !== undefined && !found.has(same)) found.set(same, name)
  }
  const first = wanted.find(each => found.has(each))
  return first === undefined ? undefined : quoteToken(found.get(first) ?? '')
}

function endsWithParts(long: string, short: string): boolean {
  return long.endsWith(`.${short}`)
}

/** The place of a character that an engine counted from 1, not in UTF-16 units as JavaScript does. */
export function toOffset(text: string, position: number): number | undefined {
  if (!(position >= 1)) return undefined
  let offset = 0
  for (let left = position - 1; left > 0; left--) {
    if (offset >= text.length) return undefined
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1
  }
  return offset
}

/** The place of a column, counted from `firstColumn`, of a line counted from 1. */
export function offsetOfLine(
  text: string,
  line: number,
  column: number,
  firstColumn: 0 | 1,
): number | undefined {
  let start = 0
  for (let left = line - 1; left > 0; left--) {
    const end = text.indexOf('\n', start)
    if (end === -1) return undefined
    start = end + 1
  }
  const offset = start + column - firstColumn
  return offset >= 0 && offset < text.length ? offset : undefined
}
