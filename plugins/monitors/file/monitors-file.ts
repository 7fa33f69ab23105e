/** The monitors file: a YAML text that lists the checks of the tables of a source. */
import { Document, isCollection, isScalar, isSeq, visit } from 'yaml'
import type { TableWindow } from '../../../server/http/check-schemas.ts'
import { didYouMean, nearest, quoteName } from '../../../server/http/nearest.ts'
import { parseYaml, YamlParseError, type TextPosition } from '../../../server/yaml.ts'

/** What a key looks like. */
export const KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'

/** A check: its key, and the fields that its POST takes, without the table. */
export type MonitorEntry = { key: string } & Record<string, unknown>

/** By kind. */
export type TableMonitors = Record<string, MonitorEntry[]>

/** What a file holds. */
export interface MonitorsDocument {
  version: 1
  /** The name of the source. */
  source: string
  /** By `catalog.schema.table`, or less where that is clear. */
  tables: Record<string, { default_window?: TableWindow | null; checks: TableMonitors }>
}

/** A mistake in a file; without a position in a document that came as JSON. */
export interface FileFault {
  file: string
  line: number | null
  column: number | null
  /** Where in the document, with dots. */
  field: string
  message: string
  candidates?: string[]
}

export interface MonitorsFile {
  name: string
  document: MonitorsDocument
  /** Where the key or item at a path starts, or its nearest existing owner. */
  positionOf(path: readonly string[]): TextPosition | null
}

export class MonitorsFileError extends Error {
  override readonly name = 'MonitorsFileError'
  readonly faults: readonly FileFault[]

  constructor(faults: readonly FileFault[]) {
    super(faults.map(formatFault).join('\n'))
    this.faults = faults
  }
}

/** `monitors/shop.yaml:12:9: …`. */
export function formatFault({ file, line, column, field, message }: FileFault): string {
  const place = line === null ? `${file}: ${field}` : `${file}:${line}:${column}`
  return `${place}: ${message}`
}

const MAX_FAULTS = 100
/** Anchors are good for what many checks have in common. */
const MAX_ALIASES = 10_000

/** How a file is read. */
export interface ReadOptions {
  /** The kinds that checks may be of; absent where those of the server are not known. */
  kinds?: readonly string[]
  /** Called with what the file holds before that is judged. */
  refuse?(value: unknown): void
}

/**
 * Reads a monitors file. Only the keys of its checks are judged: the rest takes the server and their tables.
 * @param name of the file, for messages
 * @throws MonitorsFileError with all mistakes, what `refuse` throws
 */
export function readMonitors(text: string, name: string, options: ReadOptions = {}): MonitorsFile {
  try {
    const { value, positionOf, doubts } = parseYaml(text, { what: 'monitors file', maxAliases: MAX_ALIASES })
    const faults = doubts.map(({ message, line, column }) => ({
      file: name,
      line,
      column,
      field: '',
      message: message.replace(LINE_PREFIX, ''),
    }))
    if (faults.length > 0) throw new MonitorsFileError(faults)
    return readDocument(value, name, options, positionOf)
  } catch (error) {
    if (!(error instanceof YamlParseError)) throw error
    throw new MonitorsFileError(
      error.failures.map(({ message, line, column }) => ({
        file: name,
        line,
        column,
        field: '',
        message: message.replace(LINE_PREFIX, ''),
      })),
    )
  }
}

/** The messages of the parser begin with the line. */
const LINE_PREFIX = /^line \d+: /

/** The same of a document that is no text any more. @throws MonitorsFileError with all mistakes */
export function readDocument(
  value: unknown,
  name: string,
  { kinds, refuse }: ReadOptions = {},
  positionOf: MonitorsFile['positionOf'] = () => null,
): MonitorsFile {
  refuse?.(value)
  const faults: FileFault[] = []
  const blame: Blame = (path, message, candidates) => {
    if (faults.length >= MAX_FAULTS) return
    const { line, column } = positionOf(path) ?? { line: null, column: null }
    const more = candidates && candidates.length > 0 ? { candidates } : {}
    faults.push({ file: name, line, column, field: path.join('.'), message, ...more })
  }
  judgeDocument(value, kinds, blame)
  if (faults.length > 0) throw new MonitorsFileError(faults)
  return { name, document: value as MonitorsDocument, positionOf }
}

type Blame = (path: readonly string[], message: string, candidates?: string[]) => void

function judgeDocument(value: unknown, kinds: readonly string[] | undefined, blame: Blame): void {
  if (!isObject(value)) return blame([], 'a monitors file is an object with version, source and tables')
  blameUnknown(value, ['version', 'source', 'tables'], [], blame)
  if (value.version !== 1)
    blame(['version'], 'version' in value ? 'version must be 1' : 'version is missing: write version: 1')
  if (typeof value.source !== 'string' || value.source === '')
    blame(['source'], 'source must be the name of a source')
  if (!isObject(value.tables))
    return blame(['tables'], 'tables has the path of each table, with its checks under it')
  const keys = new Map<string, string>()
  for (const [path, table] of Object.entries(value.tables))
    judgeTable(table, kinds, { at: ['tables', path], keys, blame })
}

/** Where a part stands, the keys of the checks before it, and what notes mistakes. */
interface Judging {
  at: string[]
  keys: Map<string, string>
  blame: Blame
}

function judgeTable(
  table: unknown,
  kinds: readonly string[] | undefined,
  { at, keys, blame }: Judging,
): void {
  blameUnstorable(at.at(-1), at, blame)
  if (!isObject(table)) return blame(at, 'a table is an object with checks')
  blameUnknown(table, ['default_window', 'checks'], at, blame)
  blameUnstorable(table.default_window, [...at, 'default_window'], blame)
  const checks = table.checks ?? {}
  if (!isObject(checks))
    return blame(
      [...at, 'checks'],
      `checks has the kinds of checks${kinds ? ` (${kinds.join(', ')})` : ''}, each with a list`,
    )
  if (kinds) blameUnknown(checks, kinds, [...at, 'checks'], blame)
  for (const kind of kinds ?? Object.keys(checks)) {
    const entries = checks[kind] ?? []
    const place = [...at, 'checks', kind]
    if (!Array.isArray(entries)) {
      blame(place, `${kind} must be a list: begin each check with a dash`)
      continue
    }
    for (const [index, entry] of entries.entries())
      judgeEntry(entry, kind, { at: [...place, String(index)], keys, blame })
    if (kind === 'freshness' && entries.length > 1)
      blame([...place, '1'], 'a table has one freshness schedule: leave one here')
  }
}

function judgeEntry(entry: unknown, kind: string, { at, keys, blame }: Judging): void {
  if (!isObject(entry)) return blame(at, 'a check is an object with a key')
  blameUnstorable(entry, at, blame)
  const { key } = entry
  if (typeof key !== 'string' || !new RegExp(KEY_PATTERN).test(key))
    return blame(
      [...at, 'key'],
      key === undefined
        ? 'key is missing: give each check a name that stays, such as orders.status'
        : 'key must be 1 to 200 letters, digits and . _ : / -, the first a letter or digit',
    )
  const other = keys.get(key)
  if (other !== undefined) blame([...at, 'key'], `the key ${quoteName(key)} is used by ${other} already`)
  else keys.set(key, `${at[1]} (${kind})`)
}

/** YAML can write characters that the database does not hold. */
function blameUnstorable(value: unknown, at: readonly string[], blame: Blame): void {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
    blame(at, 'holds a NUL character or half of a character: remove it')
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) blameUnstorable(inner, [...at, name], blame)
}

function blameUnknown(
  value: Record<string, unknown>,
  known: readonly string[],
  at: readonly string[],
  blame: Blame,
): void {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    const candidates = nearest(name, known)
    const hint = candidates.length > 0 ? didYouMean(candidates) : `; allowed are ${known.join(', ')}`
    blame([...at, name], `unknown field ${quoteName(name)}${hint}`, candidates)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists of plain values up to this length stand on one line. */
const MAX_FLOW_CHARACTERS = 80

/**
 * Writes a monitors file.
 * @param schemaUrl the address of the JSON Schema, with which editors complete and check the file
 */
export function writeMonitors(document: MonitorsDocument, schemaUrl?: string): string {
  const yaml = new Document(document, { version: '1.2', aliasDuplicateObjects: false })
  visit(yaml, {
    Seq(_key, node) {
      const isPlain = node.items.every(item => isScalar(item) && !String(item.value).includes('\n'))
      if (isPlain && JSON.stringify(node).length <= MAX_FLOW_CHARACTERS) node.flow = true
    },
    Pair(_key, { key, value }) {
      if (isScalar(key) && isCollection(value) && value.items.length === 0) value.flow = true
    },
  })
  if (isSeq(yaml.contents)) throw new TypeError('A monitors file is an object')
  const head = schemaUrl === undefined ? '' : `# yaml-language-server: $schema=${schemaUrl}\n`
  return head + yaml.toString({ lineWidth: 0, flowCollectionPadding: false })
}
