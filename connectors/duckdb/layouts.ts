/** What the files of a table hold, as far as their footers or first lines say it; kept from one session to the next. */
import type { ColumnInfo, TableInfo, TableRef } from '../catalog.ts'
import { partitioningOf } from '../catalog.ts'
import { ConnectorError } from '../errors.ts'
import { ENGINE, HALF_WRITTEN } from './errors.ts'
import type { DataFile, FileTable } from './files.ts'
import { typedColumn } from './introspect.ts'
import type { QueryAnswer, Description } from './messages.ts'

/** How a session has its reader look at files. */
export interface FileReader {
  describe(relations: string[]): Promise<Description[]>
  query(text: string): Promise<QueryAnswer>
}

/** A file's columns and rows at one version of it. */
interface Layout {
  version: string
  columns: [name: string, type: string][]
  rows?: number
  /** Why it cannot be read. */
  failure?: string
}

/** By path. A file that was read once is read again when it changes. */
const known = new Map<string, Layout>()
const KNOWN_FILES = 200_000
/** Files that are described by one request. */
const BATCH = 500

const HALF = /No magic bytes found|too small to be a Parquet file|footer/i

/** Reads the layouts of files that are not known. */
async function learnLayouts(files: readonly DataFile[], reader: FileReader): Promise<void> {
  const unknown = files.filter(file => known.get(file.path)?.version !== file.version)
  for (let from = 0; from < unknown.length; from += BATCH) {
    const batch = unknown.slice(from, from + BATCH)
    const found = await reader.describe(batch.map(file => relationOf([file])))
    const layouts = batch.map((file, index) => layoutOf(file, found[index]))
    const whole = batch.filter((file, index) => file.format === 'parquet' && !layouts[index]?.failure)
    const rows = await countRows(whole, reader)
    if (known.size > KNOWN_FILES) known.clear()
    batch.forEach((file, index) => {
      const layout = layouts[index]
      if (layout)
        known.set(file.path, { ...layout, ...(rows.has(file.path) && { rows: rows.get(file.path) }) })
    })
  }
}

function layoutOf({ version, name, format }: DataFile, found: Description | undefined): Layout {
  if (found && 'columns' in found) return { version, columns: found.columns }
  const message = found?.message ?? ''
  const isHalf = HALF.test(message)
  const failure = isHalf ? `"${name}" ${HALF_WRITTEN}` : `"${name}" cannot be read as ${format}`
  return { version, columns: [], failure }
}

/** The rows that the footers of Parquet files say they have. */
async function countRows(files: readonly DataFile[], reader: FileReader): Promise<Map<string, number>> {
  if (files.length === 0) return new Map()
  const { rows } = await reader.query(
    `select file_name, num_rows from parquet_file_metadata(${pathList(files)})`,
  )
  return new Map(rows.map(([path, count]) => [String(path), Number(count)]))
}

/** Why a table cannot be read: what names show, a file that is not whole, or files of several layouts. */
export async function findProblem(table: FileTable, reader: FileReader): Promise<string | undefined> {
  if (table.problem !== undefined) return table.problem
  await learnLayouts(table.files, reader)
  const failed = table.files
    .map(({ path }) => known.get(path)?.failure)
    .find(failure => failure !== undefined)
  return failed ?? findMixture(table)
}

/** Documents of JSON may leave out what they lack, so that theirs differ all the time. */
function findMixture({ name, files }: FileTable): string | undefined {
  const [first] = files
  if (!first || first.format === 'json') return undefined
  const columns = known.get(first.path)?.columns ?? []
  // The types of text files are guessed from their first lines.
  const isTyped = first.format === 'parquet'
  const wanted = new Map(columns)
  for (const file of files) {
    const own = new Map(known.get(file.path)?.columns)
    const [lacking] = [...wanted.keys()].filter(column => !own.has(column))
    const [more] = [...own.keys()].filter(column => !wanted.has(column))
    const retyped = [...own].find(([column, type]) => isTyped && wanted.get(column) !== type)
    const mixed = `The files of ${name} do not have one layout`
    if (lacking !== undefined)
      return `${mixed}: "${file.name}" lacks the column ${lacking} of "${first.name}"`
    if (more !== undefined) return `${mixed}: "${first.name}" lacks the column ${more} of "${file.name}"`
    if (retyped)
      return `${mixed}: ${retyped[0]} is ${wanted.get(retyped[0])} in "${first.name}" and ${retyped[1]} in "${file.name}"`
  }
  return undefined
}

/** The rows of files by their footers; undefined where one of them has none. */
export function knownRows(files: readonly DataFile[]): number | undefined {
  let total = 0
  for (const { path, version } of files) {
    const layout = known.get(path)
    if (layout?.version !== version || layout.rows === undefined) return undefined
    total += layout.rows
  }
  return total
}

/** A table of files as the catalog lists it; one that cannot be read has the reason in place of its columns. */
export async function describeTable(ref: TableRef, table: FileTable, reader: FileReader): Promise<TableInfo> {
  const common = { ...ref, kind: 'external_table' as const, comment: null, constraints: [] }
  const problem = await findProblem(table, reader)
  if (problem !== undefined) return { ...common, columns: [], columnsError: unreadable(problem) }
  const [found] = await reader.describe([relationOf(table.files)])
  if (!found || !('columns' in found))
    return {
      ...common,
      columns: [],
      columnsError: unreadable(`The files of ${table.name} cannot be read as one table`),
    }
  const columns = found.columns.map(([name, type], index): ColumnInfo => typedColumn(name, index + 1, type))
  const estimatedRows = knownRows(table.files)
  return {
    ...common,
    columns,
    ...(estimatedRows !== undefined && { estimatedRows }),
    ...partitioningOf({
      columns: (table.files[0]?.keys ?? []).map(([name]) => ({ name, method: 'list' })),
      clustering: [],
    }),
  }
}

/** The error of a table that is there and cannot be read. */
export function unreadable(problem: string): ConnectorError {
  return new ConnectorError({
    kind: 'missing-object',
    engine: ENGINE,
    code: 'UNREADABLE',
    message: `${problem}.`,
  })
}

/** What stands in FROM for the rows of files of one table, of which `all` decide the types of keys. */
export function relationOf(
  files: readonly DataFile[],
  { all = files, columns }: { all?: readonly DataFile[]; columns?: readonly ColumnInfo[] } = {},
): string {
  const [first] = all
  const keys = (first?.keys ?? []).map(([key], index) => [
    key,
    keyType(all.map(file => file.keys[index]?.[1] ?? '')),
  ])
  const options = [
    `hive_partitioning = ${keys.length > 0}`,
    ...(keys.length > 0
      ? [`hive_types = {${keys.map(([key = '', type]) => `${literal(key)}: ${type}`).join(', ')}}`]
      : []),
  ]
  const names = new Set(keys.map(([key]) => key))
  const typed = (columns ?? []).filter(column => !names.has(column.name))
  const types = typed.map(({ name, rawType }) => `${literal(name)}: ${literal(rawType)}`).join(', ')
  switch (first?.format) {
    case 'csv':
      if (types !== '') options.push(`types = {${types}}`)
      return `read_csv(${[pathList(files), ...options].join(', ')})`
    case 'json':
      if (types !== '') options.push(`columns = {${types}}`)
      else options.push('union_by_name = true')
      return `read_json(${[pathList(files), ...options].join(', ')})`
    default:
      return `read_parquet(${[pathList(files), ...options].join(', ')})`
  }
}

const NO_VALUE = '__HIVE_DEFAULT_PARTITION__'

/** The type of a key by all of its values. */
function keyType(values: readonly string[]): string {
  const given = values.filter(value => value !== NO_VALUE)
  if (given.every(value => /^\d{4}-\d\d-\d\d$/.test(value))) return 'date'
  // 007 would become 7.
  return given.every(value => /^(0|-?[1-9]\d{0,17})$/.test(value)) ? 'bigint' : 'varchar'
}

/** In a path, the characters of a pattern stand for themselves. */
function pathList(files: readonly DataFile[]): string {
  return `[${files.map(({ path }) => literal(path.replaceAll(/[[*?]/g, '[$&]'))).join(', ')}]`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
