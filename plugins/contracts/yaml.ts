import {
  Alias,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
} from 'yaml'

/** A contract as it was read. */
export interface ParsedContract {
  value: unknown
  /** The line of what stands at a path, from 1; null for values that came without text. */
  lineOf(path: readonly string[]): number | null
  /** What was read in another way than whoever wrote it may think. */
  doubts: ParseFailure[]
}

/** Why a text is no contract at all. */
export interface ParseFailure {
  /** Stable, for programs: `yaml.syntax`, `yaml.duplicate_key`, `yaml.documents`, `yaml.key`, `yaml.alias`, `yaml.depth`. */
  type: string
  message: string
  line: number | null
}

/** Thrown with all that is wrong, as far as it could be told. */
export class ContractParseError extends Error {
  override readonly name = 'UnreadableError'
  readonly failures: readonly ParseFailure[]

  constructor(failures: readonly ParseFailure[]) {
    // One bracket that is missing can be found missing again and again.
    const distinct = [...new Map(failures.map(failure => [failure.message, failure])).values()]
    super(distinct.map(({ message }) => message).join('; '))
    this.failures = distinct
  }
}

/** Aliases that a contract may hold, counted with those inside of what they stand for. */
const MAX_ALIASES = 100
/** Deepest nesting, as of all bodies. */
export const MAX_DEPTH = 32
/** What is said of a text that is nested deeper, whatever notices it. */
export const TOO_DEEP = {
  type: 'yaml.depth',
  message: `nested deeper than ${MAX_DEPTH} levels: flatten it`,
} as const
/** Failures that are told of. */
const MAX_FAILURES = 100

/**
 * Reads YAML 1.2 by its core schema: dates are texts, `<<` is a key as any other. JSON is YAML.
 * @throws UnreadableError for what is no single document of it
 */
export function parseContract(text: string): ParsedContract {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.2',
    // A directive in the text may name another version, and with it another schema.
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // The library compares each key with all others; ours takes each once.
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
    strict: true,
    // A silent one would not tell of a second document.
    logLevel: 'error',
  })
  const told = ({
    code,
    message,
    pos,
  }: {
    code: string
    message: string
    pos: [number, number]
  }): ParseFailure => {
    const { line } = lines.linePos(pos[0])
    const isSeveral = code === 'MULTIPLE_DOCS'
    return {
      type: isSeveral ? 'yaml.documents' : 'yaml.syntax',
      message: isSeveral
        ? 'a second document starts here: send one contract at a time'
        : truncateMessage(message.split('\n', 1)[0] ?? message),
      line,
    }
  }
  // The library catches the overflow of the stack, and passes the engine's own words on.
  const overflow = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  if (overflow) throw new ContractParseError([withLine({ ...told(overflow), ...TOO_DEEP })])
  if (document.errors.length > 0)
    throw new ContractParseError(document.errors.slice(0, MAX_FAILURES).map(error => withLine(told(error))))
  const merges = inspectNodes(document, lines)
  return {
    value: toValue(document),
    lineOf: path => findLine(document, lines, path),
    doubts: [...document.warnings.map(told), ...merges],
  }
}

/** Characters of one message: the library's quote the text that they are about, however long it is. */
const MAX_MESSAGE_CHARACTERS = 160

function truncateMessage(message: string): string {
  return message.length <= MAX_MESSAGE_CHARACTERS
    ? message
    : `${message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}…`
}

/** A failure whose message names the line, for replies that have no other place for it. */
function withLine({ message, line, ...failure }: ParseFailure): ParseFailure {
  return { ...failure, message: line === null ? message : `line ${line}: ${message}`, line }
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw new ContractParseError([
      { type: 'yaml.alias', message: describeAliasError(error as Error), line: null },
    ])
  }
}

function describeAliasError({ message }: Error): string {
  return /excessive alias/i.test(message)
    ? `aliases stand for more than ${MAX_ALIASES} parts: write them out`
    : 'an alias cannot be followed: write out what it stands for'
}

/** Looks at each node once for what the library does not refuse, or would take too long to; gives what to doubt. */
function inspectNodes(document: Document, lines: LineCounter): ParseFailure[] {
  const failures: ParseFailure[] = []
  const merges: ParseFailure[] = []
  // A name may be given anew: it then stands for what was last called so.
  const anchors = new Map<string, unknown>()
  let aliases = 0
  const at = (node: unknown) => lines.linePos(startOffset(node) ?? 0).line
  const fail = (type: string, node: unknown, message: string) => {
    if (failures.length < MAX_FAILURES) failures.push(withLine({ type, message, line: at(node) }))
  }
  const look = (node: unknown, depth: number, around: ReadonlySet<unknown>): void => {
    if (isAlias(node)) {
      if (++aliases === MAX_ALIASES + 1)
        fail('yaml.alias', node, `more than ${MAX_ALIASES} aliases: write them out`)
      if (!anchors.has(node.source))
        fail('yaml.alias', node, `*${node.source} stands for nothing: no &${node.source} comes before it`)
      if (around.has(anchors.get(node.source)))
        fail('yaml.alias', node, `*${node.source} stands inside of what it stands for`)
      return
    }
    const { anchor } = (node ?? {}) as { anchor?: string }
    if (anchor !== undefined) anchors.set(anchor, node)
    if (!isMap(node) && !isSeq(node)) return
    if (depth > MAX_DEPTH) return fail(TOO_DEEP.type, node, TOO_DEEP.message)
    const inside = anchor === undefined ? around : new Set([...around, node])
    const seen = new Map<string, unknown>()
    for (const item of node.items) {
      if (!isPair(item)) {
        look(item, depth + 1, inside)
        continue
      }
      const key = plainKey(item.key)
      if (key === null)
        fail('yaml.key', item.key, 'keys are plain texts; a value that begins with a bracket needs quotes')
      else if (seen.has(key))
        fail('yaml.duplicate_key', item.key, `the key ${JSON.stringify(key)} stands here a second time`)
      else seen.set(key, item)
      if (key === '<<' && merges.length < MAX_FAILURES)
        merges.push({ type: 'yaml.merge', message: MERGE_WARNING, line: at(item.key) })
      if (key === null) look(item.key, depth + 1, inside)
      look(item.value, depth + 1, inside)
    }
  }
  look(document.contents, 1, new Set())
  if (failures.length > 0) throw new ContractParseError(failures)
  return merges
}

const MERGE_WARNING = '<< is a field as any other in YAML 1.2: write out the fields that it was to bring here'

/** A key as JSON has it; null for lists, objects and aliases. */
function plainKey(node: unknown): string | null {
  if (!isScalar(node)) return null
  return node.value === null ? '' : String(node.value)
}

function startOffset(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null)?.range?.[0]
}

/** The line of the key, or of the item, at a path; of the nearest thing around it where there is none. */
function findLine(document: Document, lines: LineCounter, path: readonly string[]): number {
  let node: unknown = document.contents
  let start = startOffset(node) ?? 0
  for (const step of path) {
    if (node instanceof Alias) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => plainKey(key) === step)
      if (!pair) break
      start = startOffset(pair.key) ?? start
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      start = startOffset(node) ?? start
    } else break
  }
  return lines.linePos(start).line
}
