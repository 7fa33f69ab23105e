import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  Parser,
  type Document,
  type Pair,
  type ScalarTag,
  type YAMLMap,
} from 'yaml'

/** A place in a text; both numbers start at 1. */
export interface TextPosition {
  line: number
  column: number
}

export interface ParsedYaml {
  value: unknown
  /** Where the key or item at a path starts, or its nearest existing owner; null for a value without text. */
  positionOf(path: readonly string[]): TextPosition | null
  /** Parts that may mean something else than their author thinks. */
  doubts: ParseFailure[]
}

export interface ParseFailure {
  /** Stable, for programs: `yaml.syntax`, `yaml.duplicate_key`, `yaml.documents`, `yaml.key`, `yaml.alias`, `yaml.depth`. */
  type: string
  message: string
  line: number | null
  column: number | null
}

export class YamlParseError extends Error {
  override readonly name = 'YamlParseError'
  readonly failures: readonly ParseFailure[]

  constructor(failures: readonly ParseFailure[]) {
    // A missing bracket can be reported several times.
    const distinct = [...new Map(failures.map(failure => [failure.message, failure])).values()]
    super(distinct.map(({ message }) => message).join('; '))
    this.failures = distinct
  }
}

/** The same as for all request bodies. */
export const MAX_DEPTH = 32
/** A file of the caller's own machine may be nested as deeply as the stack of calls bears. */
const MAX_LOCAL_DEPTH = 1_000
interface ParseOptions {
  /** What the text holds, as in "send one contract at a time". */
  what: string
  /** Includes aliases within the values of aliases. Defaults to 100. */
  maxAliases?: number
  /** Whether the caller's own machine holds the text: the limits are made for texts of others. Defaults to false. */
  isLocal?: boolean
  /** How the program reads YAML that the text is written for. Defaults to YAML 1.2 with its core schema. */
  dialect?: YamlDialect
}

/** What a program reads otherwise than YAML 1.2 with its core schema says. */
export interface YamlDialect {
  /** Its plain scalars that are no texts, instead of those of the core schema. */
  scalars?: readonly ScalarTag[]
  /** Whether `<<` brings the fields of another object. */
  hasMergeKeys: boolean
  /** Whether the last one of equal keys counts; otherwise they are refused. */
  takesLastKey: boolean
}

export const TOO_DEEP = {
  type: 'yaml.depth',
  message: `nested deeper than ${MAX_DEPTH} levels: flatten it`,
} as const
const MAX_FAILURES = 100

const YAML_1_2: YamlDialect = { hasMergeKeys: false, takesLastKey: false }

/**
 * Parses YAML 1.2 with its core schema: dates are texts, `<<` is an ordinary key. JSON is YAML.
 * @throws YamlParseError unless the text is a single YAML document
 */
export function parseYaml(
  text: string,
  { what, isLocal = false, maxAliases = isLocal ? Infinity : 100, dialect = YAML_1_2 }: ParseOptions,
): ParsedYaml {
  if (!isLocal) refuseDeepText(text)
  const { scalars, hasMergeKeys } = dialect
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.2',
    // Set, since a directive in the text may choose another version with another schema.
    schema: scalars ? 'failsafe' : 'core',
    merge: hasMergeKeys,
    ...(scalars && { customTags: tags => [...tags, ...scalars] }),
    resolveKnownTags: false,
    // The library's check takes quadratic time; `inspectNodes` does it in linear time.
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
    strict: true,
    // A silent parser would not report a second document.
    logLevel: 'error',
  })
  const describe = ({
    code,
    message,
    pos,
  }: {
    code: string
    message: string
    pos: [number, number]
  }): ParseFailure => {
    const { line, col: column } = lines.linePos(pos[0])
    const isSeveral = code === 'MULTIPLE_DOCS'
    return {
      type: isSeveral ? 'yaml.documents' : 'yaml.syntax',
      message: isSeveral
        ? `a second document starts here: send one ${what} at a time`
        : truncateMessage(message.split('\n', 1)[0] ?? message, MAX_MESSAGE_CHARACTERS),
      line,
      column,
    }
  }
  // The library catches a stack overflow and passes on the message of the engine.
  const overflow = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  if (overflow) throw new YamlParseError([withLine({ ...describe(overflow), ...TOO_DEEP })])
  if (document.errors.length > 0)
    throw new YamlParseError(document.errors.slice(0, MAX_FAILURES).map(error => withLine(describe(error))))
  const limits = { maxAliases, maxDepth: isLocal ? MAX_LOCAL_DEPTH : MAX_DEPTH }
  const { doubts, targets } = inspectNodes(document, lines, { ...limits, dialect })
  return {
    value: toValue(document, maxAliases),
    positionOf: makeFinder(document, lines, targets),
    doubts: [...document.warnings.map(describe), ...doubts],
  }
}

/** Shorter texts take no memory worth mentioning, however deep they are. */
const MIN_DEEP_CHARACTERS = 4_000
/** Open parts of a text whose nodes are certainly nested too deeply: a level has at most four. */
const MAX_OPEN_PARTS = 4 * MAX_DEPTH

/**
 * Refuses a text that is nested far too deeply while it is read: the library would first keep all of it, a hundred MB of a
 * text of 200 kB. `inspectNodes` counts levels exactly.
 */
function refuseDeepText(text: string): void {
  if (text.length < MIN_DEEP_CHARACTERS) return
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    for (const _document of parser.next(lexeme));
    if (parser.stack.length <= MAX_OPEN_PARTS) continue
    const { line, column } = toPosition(lines, parser.offset)
    throw new YamlParseError([withLine({ ...TOO_DEEP, line, column })])
  }
}

/** The library's messages quote the text, however long it is. */
const MAX_MESSAGE_CHARACTERS = 160

/** Puts the line into the message, for replies without a field for it. */
function withLine({ message, line, ...failure }: ParseFailure): ParseFailure {
  return { ...failure, message: line === null ? message : `line ${line}: ${message}`, line }
}

/** For the library. */
const NO_LIMIT = -1

function toValue(document: Document, maxAliases: number): unknown {
  try {
    return document.toJS({ maxAliasCount: Number.isFinite(maxAliases) ? maxAliases : NO_LIMIT })
  } catch (error) {
    throw new YamlParseError([
      {
        type: 'yaml.alias',
        message: describeAliasError(error as Error, maxAliases),
        line: null,
        column: null,
      },
    ])
  }
}

function describeAliasError({ message }: Error, maxAliases: number): string {
  return /excessive alias/i.test(message)
    ? `aliases stand for more than ${maxAliases} parts: write them out`
    : 'an alias cannot be followed, or << stands before what has no fields: write out what it stands for'
}

/**
 * Visits each node once for faults that the library does not report, or not in linear time.
 * @returns warnings, and the nodes that aliases stand for, which the library searches anew for each
 */
function inspectNodes(
  document: Document,
  lines: LineCounter,
  { maxAliases, maxDepth, dialect }: { maxAliases: number; maxDepth: number; dialect: YamlDialect },
): { doubts: ParseFailure[]; targets: ReadonlyMap<unknown, unknown> } {
  const targets = new Map<unknown, unknown>()
  const failures: ParseFailure[] = []
  const doubts: ParseFailure[] = []
  // An anchor may be defined again: the last definition counts.
  const anchors = new Map<string, unknown>()
  let aliases = 0
  const at = (node: unknown) => toPosition(lines, startOffset(node) ?? 0)
  const fail = (type: string, node: unknown, message: string) => {
    if (failures.length < MAX_FAILURES) failures.push(withLine({ type, message, ...at(node) }))
  }
  const doubt = (type: string, node: unknown, message: string) => {
    if (doubts.length < MAX_FAILURES) doubts.push({ type, message, ...at(node) })
  }
  const visit = (node: unknown, depth: number, around: ReadonlySet<unknown>): void => {
    if (isAlias(node)) {
      if (++aliases === maxAliases + 1)
        fail('yaml.alias', node, `more than ${maxAliases} aliases: write them out`)
      if (!anchors.has(node.source))
        fail('yaml.alias', node, `*${node.source} stands for nothing: no &${node.source} comes before it`)
      if (around.has(anchors.get(node.source)))
        fail('yaml.alias', node, `*${node.source} stands inside of what it stands for`)
      targets.set(node, anchors.get(node.source))
      return
    }
    const { anchor } = (node ?? {}) as { anchor?: string }
    if (anchor !== undefined) anchors.set(anchor, node)
    if (!isMap(node) && !isSeq(node)) return
    if (depth > maxDepth)
      return fail(TOO_DEEP.type, node, `nested deeper than ${maxDepth} levels: flatten it`)
    const inside = anchor === undefined ? around : new Set([...around, node])
    const seen = new Map<string, unknown>()
    for (const item of node.items) {
      if (!isPair(item)) {
        visit(item, depth + 1, inside)
        continue
      }
      const key = plainKey(item.key)
      const isMerge = key === MERGE_KEY
      if (key === null)
        fail('yaml.key', item.key, 'keys are plain texts; a value that begins with a bracket needs quotes')
      else if (seen.has(key) && !(isMerge && dialect.hasMergeKeys)) {
        const message = `the key ${JSON.stringify(key)} stands here a second time`
        if (!dialect.takesLastKey) fail('yaml.duplicate_key', item.key, message)
        else
          doubt('yaml.duplicate_key', item.key, `${message}, and what stands above at the first is not read`)
      } else seen.set(key, item)
      if (isMerge && !dialect.hasMergeKeys) doubt('yaml.merge', item.key, MERGE_WARNING)
      if (key === null) visit(item.key, depth + 1, inside)
      visit(item.value, depth + 1, inside)
    }
  }
  visit(document.contents, 1, new Set())
  if (failures.length > 0) throw new YamlParseError(failures)
  return { doubts, targets }
}

const MERGE_KEY = '<<'
const MERGE_WARNING = '<< is a field as any other in YAML 1.2: write out the fields that it was to bring here'

/** A key as JSON has it; null for lists, objects and aliases. */
function plainKey(node: unknown): string | null {
  if (!isScalar(node)) return null
  // The library makes a symbol of a key that merges.
  if (typeof node.value === 'symbol') return MERGE_KEY
  return node.value === null ? '' : String(node.value)
}

function startOffset(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null)?.range?.[0]
}

function toPosition(lines: LineCounter, offset: number): TextPosition {
  const { line, col: column } = lines.linePos(offset)
  return { line, column }
}

/** Finds places in a time that depends on the length of a path alone: thousands are asked for in one document. */
function makeFinder(
  document: Document,
  lines: LineCounter,
  targets: ReadonlyMap<unknown, unknown>,
): ParsedYaml['positionOf'] {
  const indexes = new WeakMap<YAMLMap, Map<string | null, Pair>>()
  const find = (map: YAMLMap, key: string): Pair | undefined => {
    const index = indexes.get(map) ?? new Map(map.items.map(pair => [plainKey(pair.key), pair]))
    indexes.set(map, index)
    return index.get(key)
  }
  return path => {
    let node: unknown = document.contents
    let start = startOffset(node) ?? 0
    for (const step of path) {
      node = targets.get(node) ?? node
      if (isMap(node)) {
        const pair = find(node, step)
        if (!pair) break
        start = startOffset(pair.key) ?? start
        node = pair.value
      } else if (isSeq(node)) {
        node = node.items[Number(step)]
        start = startOffset(node) ?? start
      } else break
    }
    return toPosition(lines, start)
  }
}

/** Cuts a message that quotes a text of others. */
export function truncateMessage(message: string, maxCharacters: number): string {
  return message.length > maxCharacters ? `${message.slice(0, maxCharacters).toWellFormed()}…` : message
}
