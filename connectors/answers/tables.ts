/** Checks what `introspect` returned: a connector in JavaScript may return anything, and what is wrong would be stored. */
import { setImmediate } from 'node:timers/promises'
import {
  AUTO_INCREMENTS,
  COLUMN_KINDS,
  formatName,
  GENERATED_KINDS,
  PARTITION_METHODS,
  REFERENTIAL_ACTIONS,
  TABLE_KINDS,
  type TableInfo,
} from '../catalog.ts'
import { ConnectorError } from '../errors.ts'

const MAX_TABLES = 1_000_000
const MAX_COLUMNS = 100_000
const MAX_CONSTRAINTS = 100_000
/** PostgreSQL keeps the names of a table in an index, whose entries are small. */
const MAX_NAME_LENGTH = 1_024
/** Types that list their values are long. */
const MAX_TEXT_LENGTH = 2_000_000
const MAX_ORDINAL = 2 ** 31 - 1
/** Columns between which other requests get their turn. */
const COLUMNS_PER_TICK = 20_000

const TABLE_KIND_NAMES: ReadonlySet<unknown> = new Set(TABLE_KINDS)
const COLUMN_KIND_NAMES: ReadonlySet<unknown> = new Set(COLUMN_KINDS)
const ACTION_NAMES: ReadonlySet<unknown> = new Set(REFERENTIAL_ACTIONS)
const CONSTRAINT_TYPES: ReadonlySet<unknown> = new Set(['primary_key', 'foreign_key', 'unique'])
const MATCH_TYPES: ReadonlySet<unknown> = new Set(['full', 'partial'])

type Fields = Record<string, unknown>

/**
 * Checks tables as `introspect` returned them, with pauses.
 * @returns the tables themselves
 * @throws ConnectorError of kind `other` that names the engine, the table and the field
 */
export async function assertTables(engine: string, answer: unknown): Promise<TableInfo[]> {
  const refuse = (problem: string) => malformedError(engine, 'introspect', problem)
  if (!Array.isArray(answer)) throw refuse('an array of tables is required')
  if (answer.length > MAX_TABLES)
    throw refuse(
      `it lists ${answer.length} tables, more than ${MAX_TABLES}: leave some out by the configuration`,
    )
  const seen = new Set<string>()
  let columns = 0
  for (const [index, table] of (answer as unknown[]).entries()) {
    const problem = findTableProblem(table)
    if (problem !== null) throw refuse(`${labelOf(table, index)}: ${problem}`)
    const { catalog, schema, name, columns: own } = table as TableInfo
    const key = `${catalog}\0${schema}\0${name}`
    if (seen.has(key)) throw refuse(`${labelOf(table, index)}: it is listed twice`)
    seen.add(key)
    columns += own.length
    if (columns < COLUMNS_PER_TICK) continue
    columns = 0
    await setImmediate()
  }
  return answer as TableInfo[]
}

/** An answer of a connector that is not what the interface says. */
export function malformedError(engine: string, call: string, problem: string): ConnectorError {
  const message = `The connector ${engine} returned a wrong answer to ${call}: ${problem}`
  return new ConnectorError({ kind: 'other', code: 'MALFORMED', engine, message })
}

/** What is wrong with the name of a table, or null. */
export function findTableRefProblem(table: unknown): string | null {
  if (!isObject(table)) return 'must be an object'
  for (const part of ['catalog', 'schema', 'name'])
    if (!isName(table[part])) return `${part} must be ${A_NAME}`
  return null
}

/** The table as people name it, or its place in the list where it has no name. */
function labelOf(table: unknown, index: number): string {
  if (findTableRefProblem(table) !== null) return `table ${index}`
  const { catalog, schema, name } = table as TableInfo
  return `table ${formatName([catalog, schema, name])}`
}

function findTableProblem(table: unknown): string | null {
  const unnamed = findTableRefProblem(table)
  if (unnamed !== null) return unnamed
  const { kind, comment, columns, constraints, identity, estimatedRows, ...rest } = table as Fields
  if (!TABLE_KIND_NAMES.has(kind)) return `kind must be one of ${TABLE_KINDS.join(', ')}`
  if (!isTextOrNull(comment)) return 'comment must be a string or null'
  if (!isOptionalText(identity)) return 'identity must be a string, or left out'
  if (estimatedRows !== undefined && !Number.isFinite(estimatedRows))
    return 'estimatedRows must be a number, or left out'
  for (const name of ['columnsError', 'constraintsError'])
    if (rest[name] !== undefined && !(rest[name] instanceof ConnectorError))
      return `${name} must be a ConnectorError, or left out`
  return (
    findColumnsProblem(columns) ??
    findConstraintsProblem(constraints) ??
    (rest.partitioning === undefined ? null : findPartitioningProblem(rest.partitioning))
  )
}

function findColumnsProblem(columns: unknown): string | null {
  if (!Array.isArray(columns)) return 'columns must be an array'
  if (columns.length > MAX_COLUMNS) return `columns must be at most ${MAX_COLUMNS}`
  const names = new Set<unknown>()
  for (let index = 0; index < columns.length; index++) {
    const problem = findColumnProblem(columns[index])
    if (problem !== null) return `columns[${index}]${problem}`
    const { name } = columns[index] as { name: string }
    if (names.has(name)) return `columns[${index}].name is that of another column`
    names.add(name)
  }
  return null
}

/** What is wrong with a column, as it follows its place; written for speed: a catalog may have a million of them. */
function findColumnProblem(column: unknown): string | null {
  if (!isObject(column)) return ' must be an object'
  if (!isName(column.name)) return `.name must be ${A_NAME}`
  const { ordinal } = column
  if (!Number.isInteger(ordinal) || (ordinal as number) < 0 || (ordinal as number) > MAX_ORDINAL)
    return '.ordinal must be an integer'
  if (!isText(column.type)) return '.type must be a string'
  if (!isText(column.rawType)) return '.rawType must be a string'
  if (!COLUMN_KIND_NAMES.has(column.kind)) return `.kind must be one of ${COLUMN_KINDS.join(', ')}`
  if (typeof column.nullable !== 'boolean') return '.nullable must be a boolean'
  if (!isTextOrNull(column.default)) return '.default must be a string or null'
  if (!isTextOrNull(column.comment)) return '.comment must be a string or null'
  if (!isOptionalText(column.base)) return '.base must be a string, or left out'
  if (!isOptionalText(column.identity)) return '.identity must be a string, or left out'
  if (!isOptionalText(column.nondeterministicCollation))
    return '.nondeterministicCollation must be a string, or left out'
  if (column.isIncomparable !== undefined && column.isIncomparable !== true)
    return '.isIncomparable must be true, or left out'
  return column.properties === undefined ? null : findColumnPropertiesProblem(column.properties)
}

function findColumnPropertiesProblem(properties: unknown): string | null {
  if (!isObject(properties)) return '.properties must be an object, or left out'
  for (const name of ['labels', 'attributes'])
    if (properties[name] !== undefined && !isListOfTexts(properties[name]))
      return `.properties.${name} must be an array of strings, or left out`
  for (const name of ['characterSet', 'collation', 'onUpdate'])
    if (!isOptionalText(properties[name])) return `.properties.${name} must be a string, or left out`
  for (const [name, words] of [
    ['autoIncrement', AUTO_INCREMENTS],
    ['generated', GENERATED_KINDS],
  ] as const)
    if (properties[name] !== undefined && !(words as readonly unknown[]).includes(properties[name]))
      return `.properties.${name} must be one of ${words.join(', ')}, or left out`
  return null
}

function findConstraintsProblem(constraints: unknown): string | null {
  if (!Array.isArray(constraints)) return 'constraints must be an array'
  if (constraints.length > MAX_CONSTRAINTS) return `constraints must be at most ${MAX_CONSTRAINTS}`
  for (let index = 0; index < constraints.length; index++) {
    const problem = findConstraintProblem(constraints[index])
    if (problem !== null) return `constraints[${index}]${problem}`
  }
  return null
}

function findConstraintProblem(constraint: unknown): string | null {
  if (!isObject(constraint)) return ' must be an object'
  const { name, type, columns, references, properties } = constraint
  if (!isText(name) || name.length > MAX_NAME_LENGTH) return '.name must be a string'
  if (!CONSTRAINT_TYPES.has(type)) return `.type must be one of ${[...CONSTRAINT_TYPES].join(', ')}`
  if (!isListOfNames(columns)) return '.columns must be an array of names'
  if (references !== undefined) {
    if (!isObject(references)) return '.references must be an object, or left out'
    const problem = findTableRefProblem(references.table)
    if (problem !== null) return `.references.table ${problem}`
    if (!isListOfNames(references.columns)) return '.references.columns must be an array of names'
  }
  return properties === undefined ? null : findPropertiesProblem(properties)
}

function findPropertiesProblem(properties: unknown): string | null {
  if (!isObject(properties)) return '.properties must be an object, or left out'
  for (const name of ['onDelete', 'onUpdate'])
    if (properties[name] !== undefined && !ACTION_NAMES.has(properties[name]))
      return `.properties.${name} must be one of ${REFERENTIAL_ACTIONS.join(', ')}, or left out`
  if (properties.match !== undefined && !MATCH_TYPES.has(properties.match))
    return '.properties.match must be full or partial, or left out'
  for (const name of ['deferrable', 'initiallyDeferred', 'nullsNotDistinct'])
    if (properties[name] !== undefined && properties[name] !== true)
      return `.properties.${name} must be true, or left out`
  const { prefixLengths } = properties
  const isLength = (length: unknown) => length === null || Number.isFinite(length)
  if (prefixLengths !== undefined && !(Array.isArray(prefixLengths) && prefixLengths.every(isLength)))
    return '.properties.prefixLengths must be an array of numbers and null, or left out'
  return null
}

function findPartitioningProblem(partitioning: unknown): string | null {
  if (!isObject(partitioning)) return 'partitioning must be an object, or left out'
  const { columns, clustering, requiresFilter } = partitioning
  const isColumn = (column: unknown) =>
    isObject(column) &&
    isName(column.name) &&
    (column.method === undefined || (PARTITION_METHODS as readonly unknown[]).includes(column.method)) &&
    isOptionalText(column.pseudoType)
  if (!Array.isArray(columns) || !columns.every(isColumn))
    return 'partitioning.columns must be an array of columns, each with its name'
  if (!isListOfNames(clustering)) return 'partitioning.clustering must be an array of names'
  return requiresFilter === undefined || requiresFilter === true
    ? null
    : 'partitioning.requiresFilter must be true, or left out'
}

const A_NAME = `a string of at most ${MAX_NAME_LENGTH} characters`

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** SQLite has tables and columns without a name: one of them must not keep a catalog from being read. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value)
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || isText(value)
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every(isName)
}
