import { scanSync } from 'libpg-query'
import { keywordOf, type SqlToken } from './token.ts'

/** Words after which a list begins. */
const BEFORE_LIST = new Set(['select', 'by'])
/** Words that end it. */
const AFTER_LIST = new Set(['from', 'where', 'having', 'limit', 'union', 'except', 'intersect', 'separator'])
const BEFORE_ITEM = new Set([...BEFORE_LIST, 'distinct', 'distinctrow', 'all'])
/** Words after which a condition begins, as it does after AND, which belongs to BETWEEN too. */
const BEFORE_CONDITION = new Set(['where', 'on', 'having', 'or', 'xor', 'not'])
/** Operators that are words; IN is one before a parenthesis alone. */
const OPERATORS = new Set('like ilike regexp rlike is between not div mod sounds'.split(' '))
/** Types whose literals are a word and a text. */
const TYPES = new Set(['date', 'time', 'timestamp', 'datetime', 'numeric', 'bignumeric', 'json', 'interval'])
const NO_OPERATORS = new Set([',', ')', ']', ';', '(', '.'])

/** The refusal of what stands in double quotes and may be a text as well as a name. */
export function ambiguousQuotesError(name: string): { error: string } {
  return {
    error: `"${name.replaceAll('"', '""')}" may be a text or a column: write \`${name}\` for the column or '${name.replaceAll("'", "''")}' for the text.`,
  }
}

/**
 * A text of a SELECT that its author may have meant as a name: a SELECT has columns of other tables and of its own, which
 * are not known. It is written as a name elsewhere, is the left operand of an operator, or begins a condition or an item
 * of the lists after SELECT and BY. Undefined for an expression, where a name is known by the table.
 * @param doubled the texts that stand in double quotes
 */
export function findAmbiguousText(
  tokens: readonly SqlToken[],
  doubled: ReadonlySet<SqlToken>,
): SqlToken | undefined {
  if (doubled.size === 0) return undefined
  const first = keywordOf(tokens.find(token => keywordOf(token) !== '('))
  if (first !== 'select' && first !== 'with') return undefined
  const names = namesOf(tokens)
  const lists = [false]
  for (const [at, token] of tokens.entries()) {
    const key = keywordOf(token)
    if (key === '(' || key === '[') lists.push(false)
    if (key === ')' || key === ']') lists.pop()
    if (BEFORE_LIST.has(key)) lists.splice(-1, 1, true)
    if (AFTER_LIST.has(key)) lists.splice(-1, 1, false)
    if (!doubled.has(token)) continue
    const before = keywordOf(tokens[at - 1])
    // The path into a document.
    if (before === '->' || before === '->>') continue
    const isItem = BEFORE_ITEM.has(before) || (before === ',' && lists.at(-1) === true)
    const isLeft = !TYPES.has(before) && isOperator(tokens, at + 1)
    const isNamed = names.has(token.text.toLowerCase())
    if (isItem || isLeft || isNamed || BEFORE_CONDITION.has(before)) return token
  }
  return undefined
}

function isOperator(tokens: readonly SqlToken[], at: number): boolean {
  const key = keywordOf(tokens[at])
  if (key === 'in') return keywordOf(tokens[at + 1]) === '('
  return tokens[at]?.kind === 'sign' ? !NO_OPERATORS.has(key) : OPERATORS.has(key)
}

/** All that may be names, in lower case: keywords that no name is are left out. */
function namesOf(tokens: readonly SqlToken[]): Set<string> {
  const isReserved = (word: string) => scanSync(word).tokens[0]?.keywordName === 'RESERVED_KEYWORD'
  return new Set(
    tokens
      .filter(({ kind, text }) => kind === 'name' || (kind === 'word' && !isReserved(text)))
      .map(({ text }) => text.toLowerCase()),
  )
}
