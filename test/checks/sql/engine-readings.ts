import type { SqlPiece } from '../../../checks/sql/portable-sql.ts'

/** How an engine takes a text apart, by its manual: what stands in quotes, and what is left out as a comment. */
interface Lexis {
  /** What begins and ends a text; with a backslash, whether one begins an escape in it. */
  texts: readonly string[]
  backslash: boolean
  /** Whether two quotes in a row are one; else they end one text and begin the next. */
  doubled: boolean
  names: readonly (readonly [string, string])[]
  /** Whether a backslash begins an escape in a name. */
  nameBackslash?: boolean
  comments: readonly RegExp[]
  /** Letters before a quote that change how the text is read. */
  prefixes?: RegExp
}

const BLOCK = /^\/\*[^]*?\*\//
const DASHES = /^--[^\n]*/
const HASH = /^#[^\n]*/

/** By the manuals of the engines, and on purpose not by the code under test. */
export const LEXES: Readonly<Record<string, Lexis>> = {
  postgresql: {
    ...{ texts: ["'"], backslash: false, doubled: true, names: [['"', '"']] },
    comments: [BLOCK, DASHES],
    prefixes: /^(e|b|x|n|u&)$/i,
  },
  redshift: {
    ...{ texts: ["'"], backslash: true, doubled: true, names: [['"', '"']] },
    comments: [BLOCK, DASHES],
    prefixes: /^(e|b|x|n)$/i,
  },
  // With ANSI_QUOTES, as the sessions are.
  mysql: {
    ...{ texts: ["'"], backslash: true, doubled: true },
    names: [
      ['`', '`'],
      ['"', '"'],
    ],
    comments: [BLOCK, /^--(?=\s|$)[^\n]*/, HASH],
    prefixes: /^(n|b|x|_\w+)$/i,
  },
  snowflake: {
    ...{ texts: ["'"], backslash: true, doubled: true, names: [['"', '"']] },
    comments: [BLOCK, DASHES, /^\/\/[^\n]*/],
    prefixes: /^x$/i,
  },
  bigquery: {
    ...{ texts: ["'''", '"""', "'", '"'], backslash: true, doubled: false, names: [['`', '`']] },
    nameBackslash: true,
    comments: [BLOCK, DASHES, HASH],
    prefixes: /^(r|b|rb|br)$/i,
  },
  databricks: {
    ...{ texts: ["'", '"'], backslash: true, doubled: false, names: [['`', '`']] },
    comments: [BLOCK, DASHES],
    prefixes: /^(r|x)$/i,
  },
  sqlite: {
    ...{ texts: ["'"], backslash: false, doubled: true },
    names: [
      ['"', '"'],
      ['`', '`'],
      ['[', ']'],
    ],
    comments: [BLOCK, DASHES],
    prefixes: /^x$/i,
  },
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' }

/**
 * Reads SQL as an engine does: the texts and names in it, and in one piece all that is neither, without blanks.
 * @throws for a comment, an open quote, or a text with a prefix: none may be left in what is sent
 */
export function readAs(engine: string, sql: string): { quoted: SqlPiece[]; code: string } {
  const lexis = LEXES[engine]
  if (!lexis) throw new Error(engine)
  const quoted: SqlPiece[] = []
  let code = ''
  let at = 0
  while (at < sql.length) {
    const rest = sql.slice(at)
    if (lexis.comments.some(comment => comment.test(rest))) throw new Error(`a comment: ${rest}`)
    const text = lexis.texts.find(quote => rest.startsWith(quote))
    const name = lexis.names.find(([open]) => rest.startsWith(open))
    const close = text ?? name?.[1]
    if (close === undefined) {
      code += rest[0]
      at += 1
      continue
    }
    const word = /[\w&$\u0080-\uffff]*$/.exec(sql.slice(0, at))?.[0] ?? ''
    if (text && lexis.prefixes?.test(word) && !/^[bx]$/i.test(word))
      throw new Error(`a prefix: ${word}${rest}`)
    const { inside, length } = readQuoted(rest, close, {
      backslash: text ? lexis.backslash : lexis.nameBackslash === true,
      doubled: text ? lexis.doubled : close !== ']' && lexis.nameBackslash !== true,
    })
    // What stands in brackets is code to the others.
    if (close === ']') code += rest.slice(0, length)
    else quoted.push({ kind: text ? 'text' : 'name', text: inside })
    at += length
  }
  return { quoted, code: code.replaceAll(/\s+/g, '') }
}

function readQuoted(
  rest: string,
  close: string,
  { backslash, doubled }: Record<'backslash' | 'doubled', boolean>,
) {
  let inside = ''
  for (let at = close.length; at < rest.length;) {
    const character = rest[at] ?? ''
    if (backslash && character === '\\') {
      const next = rest[at + 1] ?? ''
      inside += ESCAPES[next] ?? next
      at += 2
    } else if (doubled && rest.startsWith(close + close, at)) {
      inside += close
      at += 2
    } else if (rest.startsWith(close, at)) {
      return { inside, length: at + close.length }
    } else {
      inside += character
      at += 1
    }
  }
  throw new Error(`an open quote: ${rest}`)
}
