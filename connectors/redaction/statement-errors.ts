import { engineWordsOf, type EngineWords, type StatementFault } from './engine-words.ts'
import { ConnectorError, UNKNOWN_CAUSE_MESSAGE } from '../errors.ts'
import { isKnownSqlstate } from './sqlstates.ts'
import { findName, offsetOfLine, tokenAt, toOffset } from './statement-tokens.ts'

/** How a fault is described: with the part of the statement that it is about, where there is one, and without. */
interface FaultSentence {
  at?: (place: string) => string
  plain: string
  /** The engine's message names what it means, in quotes or after a colon. */
  isNamed?: true
  /** The engine's message would say more. */
  isMuted?: true
  /** What to do, where it is something else than with others of the kind. */
  advice?: string
}

const FAULTS: Readonly<Record<StatementFault, FaultSentence>> = {
  syntax: {
    at: place => `The SQL has a syntax error at ${place}`,
    plain: 'The SQL has a syntax error',
    isNamed: true,
  },
  column: {
    at: place => `The column ${place} does not exist`,
    plain: 'A column that the SQL needs does not exist',
    isNamed: true,
  },
  table: {
    at: place => `The table ${place} does not exist`,
    plain: 'A table that the SQL needs does not exist',
    isNamed: true,
  },
  object: {
    at: place => `The SQL needs ${place}, which does not exist`,
    plain: 'Something that the SQL needs does not exist',
    isNamed: true,
  },
  ambiguous: {
    at: place => `The name ${place} is ambiguous`,
    plain: 'A name in the SQL is ambiguous',
    isNamed: true,
  },
  function: {
    at: place => `There is no function or operator ${place} for values of these types`,
    plain: 'There is no such function or operator for values of these types',
    isNamed: true,
  },
  permission: {
    at: place => `The account may not read ${place}`,
    plain: 'The account may not read something that the SQL needs',
    isNamed: true,
  },
  execute: {
    at: place => `There is no function ${place}, or the account may not execute it`,
    plain: 'There is no such function, or the account may not execute it',
    isNamed: true,
    advice: 'grant the account EXECUTE on it, or leave it out',
  },
  type: {
    at: place => `The SQL has the wrong type at ${place}`,
    plain: 'The SQL has a part of the wrong type',
    advice: 'a condition must be boolean, and what is compared must be of one type',
  },
  grouping: {
    at: place => `GROUP BY or an aggregate is missing or misplaced at ${place}`,
    plain: 'GROUP BY or an aggregate is missing or misplaced',
  },
  statement: {
    at: place => `The engine refuses the SQL at ${place}`,
    plain: 'The engine could not run this SQL over the rows',
    isMuted: true,
  },
  value: {
    at: place => `A value cannot be converted to the type that the SQL asks for at ${place}`,
    plain: 'A value cannot be converted to the type that the SQL asks for',
    isMuted: true,
  },
  range: {
    at: place => `A value is out of range at ${place}`,
    plain: 'A value is out of the range of its type',
    isMuted: true,
  },
  division: { plain: 'The SQL divides by zero' },
  rows: { plain: 'A sub-query of the SQL gives more than one row' },
  pattern: { plain: 'The pattern is not a regular expression that the engine accepts' },
  raised: { plain: 'A function that the SQL calls raised an error', isMuted: true },
}

/** Faults of a statement's own text, which the engine finds before it runs it. */
const TEXT_FAULTS: readonly StatementFault[] = [
  'syntax',
  'column',
  'table',
  'object',
  'ambiguous',
  'function',
  'type',
  'grouping',
]

const MUTED = "The engine's message is not shown: it may quote rows."

/** Fixed texts of the libraries that compile patterns; all else in their messages may be the pattern or a value. */
const PATTERN_REASONS: readonly string[] = [
  'parentheses () not balanced',
  'brackets [] not balanced',
  'braces {} not balanced',
  'quantifier operand invalid',
  'invalid repetition count(s)',
  'invalid escape \\ sequence',
  'invalid character range',
  'invalid backreference number',
  'invalid character class',
  'regular expression is too complex',
  'missing closing parenthesis',
  'unmatched closing parenthesis',
  'missing )',
  'missing ]',
  'missing terminating ]',
  'nothing to repeat',
  'quantifier does not follow a repeatable item',
  'range out of order in character class',
  'no argument for repetition operator',
  'Mismatched parenthesis',
  'Unterminated group',
  'Unterminated character class',
  'Nothing to repeat',
  'Lone quantifier brackets',
  'Invalid group',
]

/**
 * The error of a statement as it may leave a session. The engine's own words may quote any row that the statement read:
 * nothing of them is kept but names and places, as they stand in the statement's own text. A message of ours stays.
 * @param text of the statement, as it was sent
 */
export function redactStatementError(error: ConnectorError, text: string): ConnectorError {
  const { kind, engine } = error
  const words = engineWordsOf(error)
  const code = showableCode(error.code)
  const message = words ? describeFault(error.kind, words, code, text) : error.message
  // Where this program itself failed, the log needs the place of it, and must not have what it was about.
  const cause = error.message === UNKNOWN_CAUSE_MESSAGE ? framesOf(error.cause) : undefined
  return new ConnectorError({ kind, engine, code, message, ...(cause && { cause }) })
}

/** A function can raise any five characters as an SQLSTATE, those of a value too. */
function showableCode(code: string): string {
  return /^[0-9A-Z]{5}$/.test(code) && !isKnownSqlstate(code) ? '' : code
}

function describeFault(kind: ConnectorError['kind'], words: EngineWords, code: string, text: string): string {
  const claimed = words.fault ?? KIND_FAULTS[kind] ?? 'statement'
  const isForeign = words.isRunTime === true && TEXT_FAULTS.includes(claimed)
  const fault = isForeign ? 'statement' : claimed
  const { at, plain, isMuted, advice = isForeign ? undefined : words.advice } = FAULTS[fault]
  const place = at && findPlace(fault, words, text)
  const what = at && place !== undefined ? at(place) : plain
  const reason = fault === 'pattern' ? PATTERN_REASONS.find(each => words.message.includes(each)) : undefined
  const todo = reason ?? advice
  const said = `${what}${code === '' ? '' : ` (${code})`}${todo === undefined ? '' : `: ${todo}`}.`
  return isMuted && place === undefined ? `${said} ${MUTED}` : said
}

const KIND_FAULTS: Partial<Record<ConnectorError['kind'], StatementFault>> = {
  permission: 'permission',
  'missing-object': 'object',
}

/** Where engines that give no position write it: BigQuery; Snowflake and Databricks, whose columns start at 0. */
const PLACES: readonly { pattern: RegExp; firstColumn: 0 | 1 }[] = [
  { pattern: /\bat \[(\d{1,7}):(\d{1,7})\]/, firstColumn: 1 },
  { pattern: /\bline (\d{1,7}) at position (\d{1,7})/, firstColumn: 0 },
  { pattern: /\bline (\d{1,7}),? pos(?:ition)? (\d{1,7})/, firstColumn: 0 },
]
/** Between these two, MySQL quotes the rest of the statement from where it failed. */
const [BEFORE_REST, AFTER_REST] = ["near '", "' at line "] as const

const QUOTED_NAME = /'([^']{1,300})'|"([^"]{1,300})"|`([^`]{1,300})`/g
/** A name without quotes: PostgreSQL, SQLite and BigQuery. */
const BARE_NAME =
  /(?:: (?:Table )?|\b(?:for|to) (?:table|relation|view|schema|function|sequence|column) )([^\s:;,'"`][^\s;,]{0,300})/gi

/** The part of a statement that the engine means, in double quotes. */
function findPlace(fault: StatementFault, words: EngineWords, text: string): string | undefined {
  const { message, position, isRunTime } = words
  const { isNamed } = FAULTS[fault]
  // What runs counts positions in whatever it reads: in a value, too.
  if (isRunTime && !isNamed) return undefined
  const isExact = position !== undefined && !isRunTime
  const placed = isExact ? toOffset(text, position) : findOffset(message, text)
  const token = placed === undefined || isRunTime ? undefined : tokenAt(text, placed)
  // The place that PostgreSQL gives of a collation or a type is that of the keyword before its name.
  if (!isNamed || (token !== undefined && isExact && fault !== 'object')) return token
  const quoted = [...message.matchAll(QUOTED_NAME)].map(match => match[1] ?? match[2] ?? match[3] ?? '')
  const bare = [...message.matchAll(BARE_NAME)].map(match => match[1] ?? '')
  return findName(text, [...bare, ...quoted]) ?? token
}

function findOffset(message: string, text: string): number | undefined {
  for (const { pattern, firstColumn } of PLACES) {
    const [, line, column] = pattern.exec(message) ?? []
    if (line === undefined || column === undefined) continue
    return offsetOfLine(text, Number(line), Number(column), firstColumn)
  }
  const start = message.indexOf(BEFORE_REST) + BEFORE_REST.length
  const end = message.lastIndexOf(AFTER_REST)
  if (start < BEFORE_REST.length || end < start) return undefined
  const rest = message.slice(start, end)
  if (rest === '') return text.length
  const found = text.lastIndexOf(rest)
  return found === -1 ? undefined : found
}

/** An error with the name and the place of another, and without its message. */
function framesOf(thrown: unknown): Error | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { name, message, stack = '' } = thrown
  const head = `${name}: ${message}\n`
  const frames = new Error('Its message is not shown: it may quote rows.')
  frames.name = name
  frames.stack = stack.startsWith(head) ? `${name}\n${stack.slice(head.length)}` : name
  return frames
}
