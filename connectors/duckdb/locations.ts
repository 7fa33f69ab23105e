/** Where a source's rows are: a database file, or a folder of data files. */
import { stat } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import type { Egress } from '../connector.ts'
import { matchesPattern } from './wildcards.ts'

/** The catalog of the tables of data files: DuckDB would call a database in memory by its own name. */
export const FILES_CATALOG = 'files'

export type FileFormat = 'parquet' | 'csv' | 'json'

/** A folder of data files with the name of its schema. */
export interface FolderLocation {
  path: string
  schema: string
  /** Whether a file is of the source, by its path within the folder. */
  takes(name: string): boolean
}

export type Location = { file: string } | { folder: FolderLocation }

const FORMATS: Readonly<Record<string, FileFormat>> = {
  '.parquet': 'parquet',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
  '.jsonl': 'json',
  '.ndjson': 'json',
}

/** The format of a data file by its name; undefined of any other file. */
export function formatOf(name: string): FileFormat | undefined {
  return FORMATS[extname(withoutCompression(name)).toLowerCase()]
}

/** A file's name without the suffix of compression. */
export function withoutCompression(name: string): string {
  return name.replace(/\.(gz|zst)$/i, '')
}

/** Characters of a pattern. */
const WILDCARD = /[*?]/

/**
 * The real place of what a path names, as far as the server lets it be opened.
 * @throws ConnectorError of kind `egress-refused` or `missing-object`
 */
export async function locate(path: string, egress: Egress): Promise<Location> {
  if (WILDCARD.test(path)) return locatePattern(path, egress)
  const folder = await egress.folder(path)
  if ((await stat(folder)).isDirectory())
    return { folder: { path: folder, schema: nameOf(folder), takes: () => true } }
  const file = await egress.file(path)
  if (formatOf(file) === undefined) return { file }
  const parent = dirname(file)
  return { folder: { path: parent, schema: nameOf(parent), takes: name => name === basename(file) } }
}

function nameOf(folder: string): string {
  return basename(folder) || 'root'
}

/** The folder that a pattern begins with; what follows is matched with names within it. */
async function locatePattern(path: string, egress: Egress): Promise<Location> {
  const segments = path.split('/')
  const first = segments.findIndex(segment => WILDCARD.test(segment))
  const folder = await egress.folder(segments.slice(0, first).join('/') || '/')
  const pattern = segments.slice(first)
  return { folder: { path: folder, schema: nameOf(folder), takes: name => matchesPattern(name, pattern) } }
}
