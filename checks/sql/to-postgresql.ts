import type { EngineClause, Lexicon } from '../../connectors/lexicon.ts'
import { isOperand } from './lexer.ts'
import { withLists, withoutExclusions, withQualify } from './list-clauses.ts'
import { keywordOf, type SqlToken } from './token.ts'

/**
 * Translates the syntax of one engine into PostgreSQL's grammar, so that the parser sees the same calls, columns, tables and
 * sub-queries. A substitute for an operator may have another precedence: nothing is computed with it. Nothing but keywords,
 * names of indexes and literals is left out.
 */
export function toPostgresql(tokens: readonly SqlToken[], lexicon: Lexicon): SqlToken[] {
  const rewrites = lexicon.clauses.map(clause => (typeof clause === 'function' ? clause : CLAUSES[clause]))
  const rewritten = rewrites.reduce<readonly SqlToken[]>(
    (result, rewrite) => rewrite(result),
    withCasts(withoutModifiers(tokens, lexicon.modifiers ?? [])),
  )
  return withQuotedFunctions(withSubscripts(withOperators(rewritten, lexicon.operators)))
}

const CLAUSES: Readonly<Record<EngineClause, (tokens: readonly SqlToken[]) => SqlToken[]>> = {
  interval: withoutIntervals,
  limit: withLimits,
  is: withComparisons,
  separator: tokens =>
    replaceAll(tokens, ['separator'], (found, at) => (tokens[at + 1]?.kind === 'text' ? [sign(',')] : found)),
  match: withMatches,
  casts: withConversions,
  rollup: tokens => replaceAll(tokens, ['with', 'rollup'], () => []),
  indexes: withoutIndexHints,
  lists: withLists,
  exclude: withoutExclusions,
  qualify: withQualify,
}

const sign = (text: string): SqlToken => ({ kind: 'sign', text, gap: true })
const word = (text: string): SqlToken => ({ kind: 'word', text, gap: true })

function startsWith(tokens: readonly SqlToken[], at: number, keys: readonly string[]): boolean {
  return keys.every((wanted, index) => keywordOf(tokens[at + index]) === wanted)
}

/** Replaces every run of these words and signs. */
function replaceAll(
  tokens: readonly SqlToken[],
  keys: readonly string[],
  replace: (found: SqlToken[], at: number) => SqlToken[],
): SqlToken[] {
  const result: SqlToken[] = []
  for (let at = 0; at < tokens.length;) {
    if (startsWith(tokens, at, keys)) {
      result.push(...replace(tokens.slice(at, at + keys.length), at))
      at += keys.length
    } else {
      result.push(tokens[at] as SqlToken)
      at += 1
    }
  }
  return result
}

/** Leaves out what stands after SELECT, and makes a join of STRAIGHT_JOIN elsewhere. */
function withoutModifiers(tokens: readonly SqlToken[], modifiers: readonly string[]): SqlToken[] {
  if (modifiers.length === 0) return [...tokens]
  const isModifier = (token: SqlToken | undefined) => modifiers.includes(keywordOf(token))
  let afterSelect = false
  return tokens.flatMap(token => {
    const isDropped = afterSelect && isModifier(token)
    afterSelect =
      isDropped || keywordOf(token) === 'select' || (afterSelect && /^(distinct|all)/.test(keywordOf(token)))
    if (isDropped) return []
    return keywordOf(token) === 'straight_join'
      ? [word('join')]
      : [keywordOf(token) === 'distinctrow' ? word('distinct') : token]
  })
}

/** The cast of an engine that gives NULL where it cannot. One that is qualified or quoted is a function of the user. */
function withCasts(tokens: readonly SqlToken[]): SqlToken[] {
  return tokens.map((token, at) => {
    const isCast = /^(try_cast|safe_cast)$/.test(keywordOf(token)) && keywordOf(tokens[at + 1]) === '('
    return isCast && keywordOf(tokens[at - 1]) !== '.' ? { ...token, text: 'cast' } : token
  })
}

/** Operators between two operands, with the NOT before them. */
function withOperators(tokens: readonly SqlToken[], operators: Lexicon['operators']): SqlToken[] {
  const result: SqlToken[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as SqlToken
    const found = Object.keys(operators).find(operator => startsWith(tokens, at, operator.split(' ')))
    const isNegated = keywordOf(result.at(-1)) === 'not' && isOperand(result.at(-2) ?? token)
    const left = isNegated ? result.at(-2) : result.at(-1)
    const stands = found === undefined ? undefined : operators[found]
    if (found === undefined || stands === undefined || !left || !isOperand(left)) {
      result.push(token)
      continue
    }
    if (isNegated) result.pop()
    result.push(/^\w/.test(stands) ? word(stands) : sign(stands))
    at += found.split(' ').length - 1
  }
  return result
}

const UNITS = new Set(
  `microsecond second minute hour day week month quarter year millisecond dayofweek isoweek isoyear second_microsecond
  minute_microsecond minute_second hour_microsecond hour_second hour_minute day_microsecond day_second day_minute day_hour
  year_month seconds minutes hours days weeks months years milliseconds microseconds`.split(/\s+/),
)

/** `interval 1 day` as the number alone. Without a unit it stays: a function, or what PostgreSQL has too. */
function withoutIntervals(tokens: readonly SqlToken[]): SqlToken[] {
  const dropped = new Set<number>()
  tokens.forEach((token, begin) => {
    if (keywordOf(token) !== 'interval') return
    let depth = 0
    for (let at = begin + 1; at < tokens.length; at += 1) {
      const text = keywordOf(tokens[at])
      if (text === '(') depth += 1
      if (text === ')') depth -= 1
      if (depth < 0 || (depth === 0 && text === ',')) return
      const isUnit = UNITS.has(text) && keywordOf(tokens[at + 1]) !== '('
      if (depth === 0 && isUnit && at > begin + 1 && isOperand(tokens[at - 1] as SqlToken)) {
        dropped.add(begin).add(at)
        return
      }
    }
  })
  return tokens.filter((_, index) => !dropped.has(index))
}

/** `limit 5, 10` as `limit 10 offset 5`. */
function withLimits(tokens: readonly SqlToken[]): SqlToken[] {
  const result = [...tokens]
  for (let at = 0; at + 3 < result.length; at += 1) {
    const [first, comma, second] = result.slice(at + 1, at + 4)
    if (keywordOf(result[at]) !== 'limit' || first?.kind !== 'number' || second?.kind !== 'number') continue
    if (keywordOf(comma) === ',') result.splice(at + 1, 3, second, word('offset'), first)
  }
  return result
}

const AFTER_IS = /^(null|true|false|unknown|distinct|json|document|of|normalized)$/

/** `a is b` and `a is not b` as comparisons. */
function withComparisons(tokens: readonly SqlToken[]): SqlToken[] {
  const compared = (keys: readonly string[]) => (all: readonly SqlToken[]) =>
    replaceAll(all, keys, (found, at) =>
      AFTER_IS.test(keywordOf(all[at + keys.length])) || keywordOf(all[at + keys.length]) === 'not'
        ? found
        : [sign('=')],
    )
  return compared(['is'])(compared(['is', 'not'])(tokens))
}

const SEARCHES = ['in natural language mode', 'in boolean mode', 'with query expansion']

function withMatches(tokens: readonly SqlToken[]): SqlToken[] {
  if (!tokens.some(token => keywordOf(token) === 'against')) return [...tokens]
  const plain = SEARCHES.reduce<readonly SqlToken[]>(
    (result, search) => replaceAll(result, search.split(' '), () => []),
    tokens,
  )
  return replaceAll(plain, [')', 'against', '('], ([close, against, open]) => [
    ...[close as SqlToken, sign('~'), against as SqlToken, open as SqlToken],
  ])
}

function withConversions(tokens: readonly SqlToken[]): SqlToken[] {
  const steps: ((tokens: readonly SqlToken[]) => SqlToken[])[] = [
    ...['signed', 'unsigned'].flatMap(kind =>
      ['integer', 'int'].map(
        type => (all: readonly SqlToken[]) => replaceAll(all, [kind, type], ([first]) => [first as SqlToken]),
      ),
    ),
    all => all.filter((_, at) => !isCharset(all, at) && !isCharset(all, at - 1) && !isCharset(all, at - 2)),
    all =>
      replaceAll(all, ['using'], (found, at) =>
        all[at + 1]?.kind === 'word' && keywordOf(all[at + 2]) === ')' ? [sign(',')] : found,
      ),
    all =>
      replaceAll(all, ['binary'], (found, at) => {
        const next = all[at + 1]
        const isPrefix = next && next.kind !== 'sign' && keywordOf(all[at - 1]) !== 'as' && isOperand(next)
        return isPrefix ? [] : found
      }),
  ]
  return steps.reduce<SqlToken[]>((result, step) => step(result), [...tokens])
}

/** Whether `character set utf8mb4` begins there. */
function isCharset(tokens: readonly SqlToken[], at: number): boolean {
  return startsWith(tokens, at, ['character', 'set']) && tokens[at + 2]?.kind === 'word'
}

/** Leaves out index hints. */
function withoutIndexHints(tokens: readonly SqlToken[]): SqlToken[] {
  const result: SqlToken[] = []
  for (let at = 0; at < tokens.length;) {
    const length = indexLength(tokens, at)
    if (length === 0) result.push(tokens[at] as SqlToken)
    at += Math.max(length, 1)
  }
  return result
}

/** How many tokens an index hint at a position has; 0 for none. */
function indexLength(tokens: readonly SqlToken[], at: number): number {
  if (startsWith(tokens, at, ['not', 'indexed'])) return 2
  if (startsWith(tokens, at, ['indexed', 'by']))
    return /^(word|name)$/.test(tokens[at + 2]?.kind ?? '') ? 3 : 0
  if (!/^(use|force|ignore)$/.test(keywordOf(tokens[at])) || !/^(index|key)$/.test(keywordOf(tokens[at + 1])))
    return 0
  const purpose = ['join', 'order by', 'group by'].find(use =>
    startsWith(tokens, at + 2, ['for', ...use.split(' ')]),
  )
  const open = at + 2 + (purpose ? 1 + purpose.split(' ').length : 0)
  if (keywordOf(tokens[open]) !== '(') return 0
  for (let end = open + 1; end < tokens.length; end += 1) {
    if (keywordOf(tokens[end]) === ')') return end + 1 - at
    if (
      tokens[end]?.kind === 'sign'
        ? keywordOf(tokens[end]) !== ','
        : !/^(word|name)$/.test(tokens[end]?.kind ?? '')
    )
      return 0
  }
  return 0
}

/** `f(a)[0]` as an operator with the subscript: PostgreSQL has none after a parenthesis or an array. */
function withSubscripts(tokens: readonly SqlToken[]): SqlToken[] {
  const result: SqlToken[] = []
  /** For each open bracket, whether it became a parenthesis. */
  const open: boolean[] = []
  for (const token of tokens) {
    const text = token.kind === 'sign' ? token.text : ''
    if (text === '[') {
      open.push(/^[)\]]$/.test(keywordOf(result.at(-1))))
      result.push(...(open.at(-1) ? [sign('->'), sign('(')] : [token]))
    } else if (text === ']') {
      result.push(open.pop() ? sign(')') : token)
    } else {
      result.push(token)
    }
  }
  return result
}

/** Names of functions that PostgreSQL's grammar keeps for itself. */
const RESERVED_FUNCTIONS = new Set(
  `char time timestamp date datetime current_timestamp current_date current_time localtime localtimestamp user
  current_user session_user system_user binary interval offset`.split(/\s+/),
)

/** Functions that only a sub-query follows in PostgreSQL. */
const SUBQUERY_FUNCTIONS = new Set(['array', 'exists'])

function withQuotedFunctions(tokens: readonly SqlToken[]): SqlToken[] {
  const isFunction = (at: number) =>
    RESERVED_FUNCTIONS.has(keywordOf(tokens[at])) ||
    (SUBQUERY_FUNCTIONS.has(keywordOf(tokens[at])) &&
      !/^(select|with|values|table|from|\()$/.test(keywordOf(tokens[at + 2])))
  return tokens.map((token, at) =>
    isFunction(at) && keywordOf(tokens[at + 1]) === '(' && !tokens[at + 1]?.gap
      ? { ...token, kind: 'name', text: token.text.toLowerCase() }
      : token,
  )
}
