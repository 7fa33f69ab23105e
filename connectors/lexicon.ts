/** How a text or a name is written in quotes. */
export interface QuoteForm {
  /** What begins it, in any case: `'`, `r'`, `"""`, `[`. */
  open: string
  close: string
  /** Whether two of `close` in a row are one and do not end it. */
  allowsDoubledClose?: true
  /**
   * What a backslash and the character after it stand for, by that character. Any other backslash is refused: an engine
   * drops it or reads a code. Without it a backslash is a character like others.
   */
  escapes?: Readonly<Record<string, string>>
}

/**
 * A clause that only some engines have, which is put into PostgreSQL's grammar for the analysis. What is sent keeps it.
 *
 * - `interval`: `interval 1 day`
 * - `limit`: `limit 5, 10`
 * - `is`: `a is b` compares any two values
 * - `separator`: `group_concat(a separator ',')`
 * - `match`: `match (a) against ('x' in boolean mode)`
 * - `casts`: `cast(a as unsigned integer)`, `convert(a using utf8mb4)`, `binary a`
 * - `rollup`: `group by a with rollup`
 * - `indexes`: `use index (a)`, `indexed by a`
 * - `lists`: `[1, 2]`; lambdas need `->` among the symbols alone
 * - `exclude`: `select * exclude (a)`
 * - `qualify`: `qualify row_number() over (…) = 1`
 */
export type EngineClause =
  | 'interval'
  | 'limit'
  | 'is'
  | 'separator'
  | 'match'
  | 'casts'
  | 'rollup'
  | 'indexes'
  | 'lists'
  | 'exclude'
  | 'qualify'

/** A word or sign of a text in an engine's SQL. */
export interface SqlToken {
  /** `digits` are bits and bytes: `x'41'`. */
  kind: 'word' | 'name' | 'text' | 'number' | 'digits' | 'sign'
  /** As it is written; a name or text without its quotes and escapes. */
  text: string
  /** Whether a blank or a comment stands before it. */
  gap: boolean
}

/**
 * Puts a clause that is not listed into PostgreSQL's grammar. It may leave out keywords and literals; calls and the names of
 * tables must stay, since whatever is left out is not looked at before the statement is sent.
 */
export type ClauseRewrite = (tokens: readonly SqlToken[]) => SqlToken[]

/**
 * The words and symbols of an engine's SQL, as its manual has them: how CUSTOM_SQL reads what a user wrote for it. What is
 * not listed is refused.
 */
export interface Lexicon {
  /** The engine, in the words of a refusal. */
  label: string
  texts: readonly QuoteForm[]
  names: readonly QuoteForm[]
  /**
   * What begins a comment that ends with the line. Comments between slash and star are known to every engine; one
   * within another is refused, because engines differ about where it ends.
   */
  lineComments: readonly string[]
  /** Whether two dashes begin a comment only before a blank or at the end. */
  dashesNeedSpace?: true
  /** Whether a comment between slash and star ends only with those that it holds. */
  nestsComments?: true
  /** Whether a name without quotes may hold dashes, and begin with a digit after a dot: `my-project.sales.2024_orders`. */
  namesHoldDashes?: true
  /** Whether dots in a quoted name part it: `a.b` in quotes is b of a. */
  quotedNamesHoldDots?: true
  /**
   * Where a CTE names itself without RECURSIVE: anywhere, with those after it, or behind the first UNION of its body. Absent:
   * its name there is that of a table.
   */
  recursesWithoutKeyword?: 'anywhere' | 'behind_union'
  /** What the engine replaces before it reads a statement, in texts too. */
  substitution?: string
  /** Comments that the engine runs. */
  executableComment?: RegExp
  /** Operators and punctuation, longest first. */
  symbols: readonly string[]
  /** Operators that are words or that PostgreSQL writes otherwise, and a PostgreSQL operator of the same operands. */
  operators: Readonly<Record<string, string>>
  /** Words after SELECT that change how it runs and not what it gives. */
  modifiers?: readonly string[]
  clauses: readonly (EngineClause | ClauseRewrite)[]
  /**
   * What to write in place of a sign, which is refused, or of a word in lower case, which is named where the whole cannot
   * be parsed: the end of "write …".
   */
  replacements: Readonly<Record<string, string>>
}

/** What a backslash begins in most engines that have escapes, codes of characters apart. */
export const BACKSLASH_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** Punctuation and operators of every engine, longest first. */
export const SYMBOLS: readonly string[] = [
  ...['<=', '>=', '<>', '!='],
  ...['=', '<', '>', '+', '-', '*', '/', '%', '(', ')', ',', '.', ';'],
]

/** What no engine here has or may run, and what to write in its place. */
export const REPLACEMENTS: Readonly<Record<string, string>> = {
  '@': 'the value; variables and parameters are not allowed',
  '?': 'the value; variables and parameters are not allowed',
  ':': 'the value; variables and parameters are not allowed',
  ':=': 'the value; variables are not allowed',
  $: 'the value; variables and parameters are not allowed',
  '{': "a literal such as date '2024-01-31'",
  into: 'a SELECT without INTO, which may only read',
  lock: 'a SELECT without LOCK, which may only read',
  qualify: 'a sub-query with the window function, and WHERE around it',
  convert: 'cast(a as a type)',
}

/** The cast of PostgreSQL, in the place of which all engines have another. */
export const CAST_REPLACEMENT: Readonly<Record<string, string>> = { '::': 'cast(a as a type)' }
