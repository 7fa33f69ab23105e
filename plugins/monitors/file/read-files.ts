/**
 * Reading of the files of a request, in a thread of the pool: a hostile text takes seconds and hundreds of MiB. The thread
 * that serves people copies what is returned, so it is counted before, and comes in parts.
 */
import { packList, type PackedList } from '../../../server/text-pool/parts.ts'
import type { TextPosition } from '../../../server/yaml.ts'
import { assertFewParts, TooMuchError, type Amount } from './amount.ts'
import {
  MonitorsFileError,
  readDocument,
  readMonitors,
  type FileFault,
  type MonitorEntry,
  type MonitorsFile,
} from './monitors-file.ts'

/** A file as a request has it: its text, or the document itself. */
export interface GivenFile {
  name: string
  content: string | object
}

/** Where parts stand, by their paths as `pathKey` writes them; empty for a document. */
export type Places = Map<string, TextPosition>

/** A file beside its checks. */
export interface FileHead {
  name: string
  /** The source that it names. */
  source: string
  /** The default windows of tables that it states, not judged yet. */
  windows: { tablePath: string; window: object | null }[]
  /** Places of its source and its tables. */
  places: Places
}

/** A check of a file. */
export interface FileEntry {
  /** Which of the files has it. */
  file: number
  kind: string
  tablePath: string
  /** Its place in the list of its table and kind. */
  index: number
  entry: MonitorEntry
  /** Places of the check and its fields, by the paths below it. */
  places: Places
}

export type ReadFiles =
  | { faults: FileFault[] }
  | { tooMuch: string }
  | { heads: PackedList<FileHead>; entries: PackedList<FileEntry> }

/** The path of a part as a key of `Places`. */
export function pathKey(path: readonly string[]): string {
  return path.join('\n')
}

/** The path of a check in its file. */
export function pathOf({
  tablePath,
  kind,
  index,
}: Pick<FileEntry, 'tablePath' | 'kind' | 'index'>): string[] {
  return ['tables', tablePath, 'checks', kind, String(index)]
}

/**
 * @param given the files, and the kinds that their checks may be of
 * @returns the checks of all files, or the mistakes of all of them, or what they have too much of
 */
export function readFiles(given: { files: readonly GivenFile[]; kinds: readonly string[] }): ReadFiles {
  const { files, kinds } = given
  const amount: Amount = { checks: 0, values: 0, characters: 0 }
  const faults: FileFault[] = []
  const heads: FileHead[] = []
  const entries: FileEntry[] = []
  for (const [file, { name, content }] of files.entries()) {
    const options = { kinds, refuse: (value: unknown) => assertFewParts(value, amount) }
    try {
      const read =
        typeof content === 'string'
          ? readMonitors(content, name, options)
          : readDocument(content, name, options)
      heads.push(headOf(read))
      for (const found of entriesOf(read, kinds)) entries.push({ file, ...found })
    } catch (error) {
      if (error instanceof TooMuchError) return { tooMuch: error.message }
      if (!(error instanceof MonitorsFileError)) throw error
      faults.push(...error.faults)
    }
  }
  return faults.length > 0 ? { faults } : { heads: packList(heads), entries: packList(entries) }
}

function headOf({ name, document, positionOf }: MonitorsFile): FileHead {
  const paths = [[], ['source'], ['tables'], ...Object.keys(document.tables).map(table => ['tables', table])]
  const windows = Object.entries(document.tables).flatMap(([tablePath, { default_window: window }]) =>
    window === undefined ? [] : [{ tablePath, window }],
  )
  return { name, source: document.source, windows, places: placesOf(paths, positionOf) }
}

function* entriesOf(
  { document, positionOf }: MonitorsFile,
  kinds: readonly string[],
): Generator<Omit<FileEntry, 'file'>> {
  for (const [tablePath, { checks = {} }] of Object.entries(document.tables))
    for (const kind of kinds)
      for (const [index, entry] of (checks[kind] ?? []).entries()) {
        const at = pathOf({ tablePath, kind, index })
        const places = placesOf(pathsIn(entry), path => positionOf([...at, ...path]))
        yield { tablePath, kind, index, entry, places }
      }
}

/** The paths of a value and of all that is in it. */
function* pathsIn(value: unknown, at: readonly string[] = []): Generator<readonly string[]> {
  yield at
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) yield* pathsIn(inner, [...at, name])
}

function placesOf(paths: Iterable<readonly string[]>, positionOf: MonitorsFile['positionOf']): Places {
  const places: Places = new Map()
  for (const path of paths) {
    const position = positionOf(path)
    if (position) places.set(pathKey(path), position)
  }
  return places
}
