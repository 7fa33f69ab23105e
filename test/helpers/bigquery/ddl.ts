import type { Warehouse } from '../warehouse.ts'
import type { Catalog, DeclaredColumn, DeclaredKey, DeclaredPartitioning } from './catalog.ts'
import { BigqueryFailure, closing, itemsOf, quoteName, syntaxError, type Token } from './tokens.ts'
import { translate, typeAt } from './translate.ts'

/** A table by its names. */
export interface Path {
  project: string
  dataset: string
  table: string
}

// https://cloud.google.com/bigquery/docs/tables#table_naming
const TABLE_NAME = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]{1,1024}$/u
// https://cloud.google.com/bigquery/docs/schemas#flexible-column-names
const COLUMN_NAME = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd} \t&%=+:'<>#|]{1,300}$/u
const OWN_COLUMNS = /^(_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)/i

/** Refuses names of columns that results cannot have either. */
export function checkColumnName(name: string): void {
  if (COLUMN_NAME.test(name) && !OWN_COLUMNS.test(name)) return
  throw new BigqueryFailure(
    400,
    'invalidQuery',
    `Invalid field name "${name}". Fields must contain the allowed characters.`,
  )
}

/** The path that begins at an index, with the index after it. */
export function pathAt(tokens: readonly Token[], at: number): { path: Path; end: number } {
  const [project, dataset, table] = [tokens[at], tokens[at + 2], tokens[at + 4]]
  if (project?.kind !== 'name' || dataset?.kind !== 'name' || table?.kind !== 'name')
    throw syntaxError('Expected a table of three names', tokens[at]?.at ?? '1:1')
  return { path: { project: project.text, dataset: dataset.text, table: table.text }, end: at + 5 }
}

const written = ({ project, dataset, table }: Path) => [project, dataset, table].map(quoteName).join('.')

/** Runs one statement that writes: those of the owner, and of a script that was not refused. */
export async function write(warehouse: Warehouse, catalog: Catalog, tokens: readonly Token[]): Promise<void> {
  const words = tokens.slice(0, 2).map(({ text }) => text)
  switch (words.join(' ')) {
    case 'create table':
      return createTable(warehouse, catalog, tokens)
    case 'create view': {
      const { path, end } = pathAt(tokens, 2)
      const { text } = translate(tokens.slice(end + 1))
      await warehouse.execute(`create view ${written(path)} as ${text}`)
      return catalog.add(path.dataset, path.table, 'VIEW', await viewColumns(warehouse, path), [])
    }
    case 'create materialized': {
      const { path, end } = pathAt(tokens, 3)
      await warehouse.execute(`create table ${written(path)} as ${translate(tokens.slice(end + 1)).text}`)
      await catalog.add(path.dataset, path.table, 'MATERIALIZED VIEW', await viewColumns(warehouse, path), [])
      return catalog.measure(path.dataset, path.table)
    }
    case 'insert into': {
      const { path, end } = pathAt(tokens, 2)
      await warehouse.execute(`insert into ${written(path)} ${translate(tokens.slice(end)).text}`)
      return catalog.measure(path.dataset, path.table)
    }
    case 'drop table': {
      const { path } = pathAt(tokens, 2)
      await warehouse.execute(`drop table ${written(path)}`)
      return catalog.remove(path.dataset, path.table)
    }
    case 'alter table':
      return setDescription(catalog, tokens)
    default:
      throw syntaxError(`Unexpected ${words.join(' ')}`, tokens[0]?.at ?? '1:1')
  }
}

async function createTable(warehouse: Warehouse, catalog: Catalog, tokens: readonly Token[]): Promise<void> {
  const { path, end } = pathAt(tokens, 2)
  if (!TABLE_NAME.test(path.table))
    throw new BigqueryFailure(400, 'invalid', `Invalid table ID "${path.table}".`)
  const columns: DeclaredColumn[] = []
  const keys: DeclaredKey[] = []
  const declared: string[] = []
  for (const item of itemsOf(tokens.slice(end + 1, closing(tokens, end)))) {
    const key = readKey(item, path, keys)
    if (key) keys.push(key)
    else {
      const { column, text } = readColumn(item)
      columns.push(column)
      declared.push(text)
    }
  }
  await warehouse.execute(`create table ${written(path)} (${declared.join(', ')})`)
  await catalog.add(path.dataset, path.table, 'BASE TABLE', columns, keys)
  await catalog.partition(path.dataset, path.table, readPartitioning(tokens.slice(closing(tokens, end) + 1)))
}

/**
 * `partition by day`, `partition by date_trunc(at, month)`, `partition by _PARTITIONDATE`, `cluster by a, b`,
 * `options (require_partition_filter = true)`.
 */
function readPartitioning(tokens: readonly Token[]): DeclaredPartitioning {
  const after = (word: string) => {
    const at = tokens.findIndex(({ kind, text }) => kind === 'word' && text === word)
    return at === -1 ? [] : tokens.slice(at + 2)
  }
  const [first, open, inner] = after('partition')
  const column = open?.text === '(' ? inner?.text : first?.text
  const clustered = after('cluster')
  const end = clustered.findIndex(({ text }) => text === 'options')
  const clustering = clustered.slice(0, end === -1 ? undefined : end).filter(({ text }) => text !== ',')
  return {
    ...(column !== undefined && {
      column: /^_partition(date|time)$/i.test(column) ? '_PARTITIONTIME' : column,
    }),
    clustering: clustering.map(({ text }) => text),
    requiresFilter: tokens.some(({ text }) => text === 'require_partition_filter'),
  }
}

function readColumn(item: readonly Token[]): { column: DeclaredColumn; text: string } {
  const [name] = item
  if (name?.kind !== 'name' && name?.kind !== 'word')
    throw syntaxError('Expected a column', name?.at ?? '1:1')
  if (name.text === 'unique') throw syntaxError('Unexpected keyword UNIQUE', name.at)
  checkColumnName(name.text)
  const { type, end } = typeAt(item, 1)
  const rest = item.slice(end)
  const isNullable = !rest.some(({ kind, text }) => kind === 'word' && text === 'not')
  const preset = rest.findIndex(({ kind, text }) => kind === 'word' && text === 'default')
  const value = preset === -1 ? undefined : rest[preset + 1]
  const size = item.slice(3, end - 1).map(({ text }) => text)
  const rawType = `${item[1]?.text === 'bigint' ? 'INT64' : item[1]?.text.toUpperCase()}${size.length > 0 ? `(${size.join('').replaceAll(',', ', ')})` : ''}`
  const text = [
    quoteName(name.text),
    type,
    isNullable ? '' : 'not null',
    value ? `default ${translate([value]).text}` : '',
  ]
  const defaultText = value ? (value.kind === 'text' ? `'${value.text}'` : value.text) : 'NULL'
  return {
    column: { name: name.text, rawType, nullable: isNullable, preset: defaultText },
    text: text.join(' '),
  }
}

/** `primary key (…) not enforced` and `foreign key (…) references … (…) not enforced`; null for a column. */
function readKey(
  item: readonly Token[],
  { table }: Path,
  before: readonly DeclaredKey[],
): DeclaredKey | null {
  const [first, second] = item
  const isKey = first?.kind === 'word' && second?.kind === 'word' && second.text === 'key'
  if (!isKey || (first.text !== 'primary' && first.text !== 'foreign')) return null
  const ending = item
    .slice(-2)
    .map(({ text }) => text)
    .join(' ')
  if (ending !== 'not enforced')
    throw new BigqueryFailure(400, 'invalidQuery', 'Enforced keys are not supported: add NOT ENFORCED')
  const end = closing(item, 2)
  const names = (list: readonly Token[]) => itemsOf(list).map(part => part[0]?.text ?? '')
  const columns = names(item.slice(3, end))
  if (first.text === 'primary') return { name: `${table}.pk$`, columns }
  const { path, end: after } = pathAt(item, end + 2)
  const target = {
    dataset: path.dataset,
    table: path.table,
    columns: names(item.slice(after + 1, closing(item, after))),
  }
  return { name: `${table}.fk$${before.length + 1}`, columns, target }
}

/** `alter table … [alter column c] set options (description = '…')`. */
async function setDescription(catalog: Catalog, tokens: readonly Token[]): Promise<void> {
  const { path, end } = pathAt(tokens, 2)
  const column = tokens[end]?.text === 'alter' ? (tokens[end + 2]?.text ?? null) : null
  const [name, , value] = tokens.slice(tokens.findIndex(({ text }) => text === 'options') + 2)
  if (name?.text !== 'description' || value?.kind !== 'text')
    throw syntaxError('Expected description', name?.at ?? '1:1')
  await catalog.describe(path.dataset, path.table, column, value.text)
}

const VIEW_TYPES: Readonly<Record<string, string>> = { BIGINT: 'INT64', VARCHAR: 'STRING', DOUBLE: 'FLOAT64' }

async function viewColumns(
  warehouse: Warehouse,
  { project, dataset, table }: Path,
): Promise<DeclaredColumn[]> {
  const text = `select * from ${[project, dataset, table].map(quoteName).join('.')} limit 0`
  const { columns } = await warehouse.execute(text)
  return columns.map(({ name, type }) => ({
    name,
    rawType: VIEW_TYPES[type] ?? type,
    nullable: true,
    preset: 'NULL',
  }))
}
