/** The data files of a folder, and which of them are one table. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { invalidQueryError } from '../errors.ts'
import { ENGINE } from './errors.ts'
import { formatOf, withoutCompression, type FileFormat, type FolderLocation } from './locations.ts'

/** A data file as it was found. */
export interface DataFile {
  path: string
  /** Its path within the folder, with slashes. */
  name: string
  format: FileFormat
  /** Moves with every change of the file. */
  version: string
  modifiedAt: Date
  /** The keys of the folders `key=value` that it lies in, outermost first, each with its value. */
  keys: readonly (readonly [key: string, value: string])[]
}

/** Files that are one table. */
export interface FileTable {
  name: string
  files: DataFile[]
  /** Why they cannot be read, in a sentence. */
  problem?: string
}

/** More files make listing slower than reading. */
const MAX_FILES = 50_000

/** The tables of a folder by their names in lower case: DuckDB does not distinguish more. */
export async function listTables(folder: FolderLocation): Promise<Map<string, FileTable>> {
  const tables = new Map<string, FileTable>()
  const tableOf = (names: string[]) => {
    const name = tableName(names, folder.schema)
    const key = name.toLowerCase()
    const table = tables.get(key) ?? { name, files: [] }
    tables.set(key, table)
    return table
  }
  const entries = await readdir(folder.path, { recursive: true, withFileTypes: true })
  let count = 0
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const names = relative(folder.path, path).split(sep)
    // What begins so is of the program that writes the files: _SUCCESS, .part-0.parquet.crc.
    if (entry.isDirectory() || names.some(name => /^[._]/.test(name))) continue
    const name = names.join('/')
    const isLink = entry.isSymbolicLink()
    const format = formatOf(name)
    if (format === undefined && !(isLink && (await isFolder(path)))) continue
    if (!folder.takes(name)) continue
    if (++count > MAX_FILES)
      throw invalidQueryError(
        ENGINE,
        `path names more than ${MAX_FILES} files: name a folder or a pattern of fewer`,
      )
    const table = tableOf(names)
    const real = isLink ? await realpath(path).catch(() => null) : path
    if (format === undefined || real === null || !isWithin(folder.path, real)) {
      table.problem = `"${name}" is a link to ${format === undefined ? 'a folder' : 'somewhere else'}, which is not followed: put the files themselves into the folder`
      continue
    }
    const { ino, size, mtimeNs, ctimeNs } = await stat(real, { bigint: true })
    table.files.push({
      ...{ path: real, name, format },
      version: [ino, size, mtimeNs, ctimeNs].join('-'),
      modifiedAt: new Date(Number(mtimeNs / 1_000_000n)),
      keys: names.slice(0, -1).flatMap(folderKey),
    })
  }
  for (const table of tables.values()) {
    table.files.sort((a, b) => (a.name < b.name ? -1 : 1))
    table.problem ??= findMixture(table)
  }
  return tables
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false,
  )
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function folderKey(name: string): [string, string][] {
  const at = name.indexOf('=')
  return at > 0 ? [[name.slice(0, at), decodeURIComponent(name.slice(at + 1))]] : []
}

/** A number, a date or a random part at the end of a name, by which the files of one table differ. */
const RUNNING = /[-_. ]?(?:c?\d[\d-]{0,30}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|snappy|zstd|gz)$/i
/** Names that programs give to parts. */
const PART = /^(?:part|data|file|)$/i

/**
 * The table that a file belongs to: what its folders are called, without those of keys and dates; of files in the folder of
 * the source itself, what they are called without what counts them.
 */
function tableName(names: readonly string[], schema: string): string {
  const folders = names.slice(0, -1)
  const named = folders.filter(name => !name.includes('=') && !/^\d[\d-]*$/.test(name))
  if (named.length > 0) return named.join('_')
  if (folders.length > 0) return schema
  const name = withoutRunning(withoutCompression(names.at(-1) ?? '').replace(/\.\w+$/, ''))
  return PART.test(name) ? schema : name
}

/** One part after the other, since an expression of repeated parts could take forever. */
function withoutRunning(name: string): string {
  const shorter = name.replace(RUNNING, '')
  return shorter === name ? name : withoutRunning(shorter)
}

/** Why files are not one table, as far as their names say it. */
function findMixture({ name, files }: FileTable): string | undefined {
  const [first] = files
  if (!first) return undefined
  const keysOf = (file: DataFile) => file.keys.map(([key]) => key).join('/')
  for (const file of files) {
    const mixed = `The files of ${name} do not have one layout`
    const two = `"${first.name}" and "${file.name}"`
    if (file.format !== first.format) return `${mixed}: ${two} are of two formats`
    if (keysOf(file) !== keysOf(first)) return `${mixed}: ${two} lie in folders of different keys`
  }
  return undefined
}

/** When the rows of a table last changed: the time of its newest file. */
export function lastChange({ files }: FileTable): Date | undefined {
  return files.length === 0 ? undefined : new Date(Math.max(...files.map(file => Number(file.modifiedAt))))
}
