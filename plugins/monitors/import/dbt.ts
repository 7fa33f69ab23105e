/**
 * dbt's tests and source freshness as monitors. The semantics are those of dbt-core's own tests and of dbt_utils:
 * https://docs.getdbt.com/reference/resource-properties/data-tests
 */
import { parseYaml, type TextPosition } from '../../../server/yaml.ts'
import { convertDbtTest, type DbtNode } from './dbt-tests.ts'
import { freshnessOf } from './dbt-freshness.ts'
import { fieldsOfFile, type Construct, type ImportDraft } from './import-draft.ts'
import type { SqlEngine } from './sql-text.ts'
import { isRecord, itemsOf, type Fields } from './values.ts'

export interface DbtOptions {
  engine: SqlEngine
  /** The schema of the models, which their files do not say. */
  schema?: string | undefined
}

/** A properties file of a dbt project: `schema.yml`. */
export interface ImportFile {
  name: string
  text: string
}

type PositionOf = (path: readonly string[]) => TextPosition | null

/** Parts of a file whose nodes are tables, and the fields that are no checks. */
const MODEL_PARTS = ['models', 'seeds', 'snapshots'] as const

/**
 * Reads all files first, since tests refer to sources of other files.
 * @throws YamlParseError
 */
export function importDbt(files: readonly ImportFile[], draft: ImportDraft, options: DbtOptions): void {
  const read = files.map(({ name, text }) => ({
    name,
    // dbt reads its files with PyYAML.
    ...parseYaml(text, { what: 'dbt properties file', hasWordBooleans: true }),
  }))
  const sources = new Map<string, string>()
  for (const { value } of read)
    for (const { node, source } of sourceTables(value))
      sources.set(`${String(source.name)}.${String(node.name)}`, sourcePath(source, node))
  for (const { name: file, positionOf, ...text } of read) {
    const value = fieldsOfFile(file, text, draft)
    for (const part of MODEL_PARTS)
      for (const [index, node] of itemsOf(value[part]).entries()) {
        const alias = textOr(
          node.alias,
          textOr(isRecord(node.config) ? node.config.alias : undefined, String(node.name)),
        )
        const table = options.schema === undefined ? alias : `${options.schema}.${alias}`
        if (isDisabled(node)) {
          leaveDisabled({ node, table, at: [part, String(index)], file, positionOf }, draft)
          continue
        }
        importNode({ node, table, at: [part, String(index)], file, positionOf }, draft, {
          ...options,
          sources,
        })
      }
    for (const { node, source, at } of sourceTables(value)) {
      const place = { node, table: sourcePath(source, node), at, file, positionOf }
      if (isDisabled(node, source)) {
        leaveDisabled(place, draft)
        continue
      }
      importNode(place, draft, { ...options, sources })
      importFreshness(place, source, draft)
    }
    for (const part of Object.keys(value)) {
      if (
        [
          'version',
          'sources',
          'macros',
          'exposures',
          'groups',
          'metrics',
          'semantic_models',
          'analyses',
          'saved_queries',
          ...MODEL_PARTS,
        ].includes(part)
      )
        continue
      const construct = { file, line: positionOf([part])?.line ?? null, name: part }
      draft.leave(
        construct,
        part === 'unit_tests'
          ? 'unit tests check code with made-up data, not tables'
          : 'is no part of dbt that has tests of tables',
      )
    }
  }
}

/** Whether a table is left out of the project. What is said of a table goes before what is said of its source. */
function isDisabled(...owners: Fields[]): boolean {
  const said = owners.map(owner => configOf(owner).enabled ?? owner.enabled)
  return said.find(enabled => enabled !== undefined && enabled !== null) === false
}

function leaveDisabled({ node, table, at, file, positionOf }: Place, draft: ImportDraft): void {
  const construct = { file, line: positionOf(at)?.line ?? null, name: String(node.name) }
  draft.leave(construct, `${table} is disabled, so that dbt runs none of its tests`)
}

/** A table of a file. */
interface Place {
  node: Fields
  table: string
  at: string[]
  file: string
  positionOf: PositionOf
}

function sourceTables(value: unknown): { node: Fields; source: Fields; at: string[] }[] {
  if (!isRecord(value)) return []
  return itemsOf(value.sources).flatMap((source, index) =>
    itemsOf(source.tables).map((node, position) => ({
      node,
      source,
      at: ['sources', String(index), 'tables', String(position)],
    })),
  )
}

function sourcePath(source: Fields, node: Fields): string {
  const parts = [source.database, source.schema ?? source.name, node.identifier ?? node.name]
  return parts.filter(part => typeof part === 'string').join('.')
}

const textOr = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)

/** The tests of a table and its columns, under both of their names. */
function importNode(place: Place, draft: ImportDraft, options: DbtOptions & Pick<DbtNode, 'sources'>): void {
  const { node, at } = place
  importTests(place, { owner: node, at }, draft, options)
  for (const [index, column] of itemsOf(node.columns).entries())
    importTests(place, { owner: column, at: [...at, 'columns', String(index)], column }, draft, options)
}

function importTests(
  { table, file, positionOf }: Place,
  { owner, at, column }: { owner: Fields; at: string[]; column?: Fields },
  draft: ImportDraft,
  options: DbtOptions & Pick<DbtNode, 'sources'>,
): void {
  for (const part of ['tests', 'data_tests']) {
    const tests = Array.isArray(owner[part]) ? (owner[part] as unknown[]) : []
    for (const [index, test] of tests.entries()) {
      const line = positionOf([...at, part, String(index)])?.line ?? null
      const target = column === undefined ? table : `${table}.${String(column.name)}`
      const construct: Construct = { file, line, name: `${testName(test)} of ${target}` }
      const where = {
        table,
        ...options,
        ...(column && { column: String(column.name), isQuoted: column.quote === true }),
      }
      if (isTemplate(table)) draft.leave(construct, NAMED_BY_TEMPLATE)
      else draft.convert(construct, () => convertDbtTest(test, where))
    }
  }
}

const isTemplate = (name: string): boolean => /\{[{%]/.test(name)
const NAMED_BY_TEMPLATE = 'the name of the table is a Jinja expression: render it first'

function testName(test: unknown): string {
  if (!isRecord(test)) return String(test)
  return textOr(test.test_name, Object.keys(test).find(name => name !== 'config') ?? 'test')
}

function importFreshness(
  { node, table, at, file, positionOf }: Place,
  source: Fields,
  draft: ImportDraft,
): void {
  const [common, ofTable] = [source, node].map(owner => ({ ...configOf(owner), ...owner }))
  const own: Fields = { ...common, ...ofTable, freshness: mergeFreshness(common, ofTable) }
  if (!isRecord(own.freshness)) return
  const line = positionOf([...at, 'freshness'])?.line ?? positionOf(at)?.line ?? null
  const construct = { file, line, name: `freshness of ${table}` }
  if (isTemplate(table)) return draft.leave(construct, NAMED_BY_TEMPLATE)
  const { checks, left } = freshnessOf(table, own.freshness, own.loaded_at_field)
  if (own.loaded_at_query !== undefined)
    return draft.leave(
      construct,
      'loaded_at_query is a SELECT of its own; freshness takes a column or an expression',
    )
  draft.convert(construct, checks)
  for (const reason of left) draft.leave(construct, reason)
}

/** A table takes the thresholds that it does not have from its source; null takes away. */
function mergeFreshness({ freshness: common }: Fields = {}, { freshness: own }: Fields = {}): unknown {
  if (!isRecord(common) || !isRecord(own)) return own === undefined ? common : own
  const merge = (name: string) =>
    isRecord(common[name]) && isRecord(own[name]) ? { ...common[name], ...own[name] } : own[name]
  const names = ['error_after', 'warn_after'].filter(name => own[name] !== undefined)
  return { ...common, ...own, ...Object.fromEntries(names.map(name => [name, merge(name)])) }
}

const configOf = (owner: Fields): Fields => (isRecord(owner.config) ? owner.config : {})
