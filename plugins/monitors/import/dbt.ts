/**
 * dbt's tests and source freshness as monitors. The semantics are those of dbt-core's own tests and of dbt_utils:
 * https://docs.getdbt.com/reference/resource-properties/data-tests
 */
import { configOf, isProjectFile } from './dbt-config.ts'
import { freshnessOf } from './dbt-freshness.ts'
import {
  readProject,
  textOf,
  type DbtFile,
  type DbtOptions,
  type DbtProject,
  type DbtTable,
} from './dbt-project.ts'
import { convertDbtTest } from './dbt-tests.ts'
import { fieldsOfFile, readFiles, type Construct, type ImportDraft, type ImportFile } from './import-draft.ts'
import { parseDbtYaml } from './tool-yaml.ts'
import { isRecord, type Fields } from './values.ts'

/** Parts of a file that hold tables, and those that hold nothing to test. */
const TESTED_PARTS = ['models', 'seeds', 'snapshots', 'sources']
const OTHER_PARTS = [
  'version',
  'macros',
  'exposures',
  'groups',
  'metrics',
  'semantic_models',
  'analyses',
  'saved_queries',
]

/** Reads all files before the tests, since what one file says of a model or a source decides about tests of others. */
export function importDbt(files: readonly ImportFile[], draft: ImportDraft, options: DbtOptions): void {
  const read = readFiles(files, parseDbtYaml, draft).map(({ name, parsed }): DbtFile => ({
    name,
    fields: fieldsOfFile(name, parsed, draft),
    positionOf: parsed.positionOf,
  }))
  const project = readProject(read, options)
  const places = new Set<string>()
  for (const table of project.tables) {
    importTests(table, project, { draft, options, places })
    if (table.source) importFreshness(table, table.source, draft)
  }
  for (const file of read) {
    // It has settings, and no checks.
    if (isProjectFile(file.fields)) continue
    leaveParts(file, draft)
    for (const part of [...TESTED_PARTS, ...OTHER_PARTS])
      leaveUnread(file, file.fields[part], [part], { draft, places })
  }
}

interface Target {
  draft: ImportDraft
  options: DbtOptions
  /** Where the tests stand that were read. */
  places: Set<string>
}

function importTests(
  { file, name, placement, owners }: DbtTable,
  project: DbtProject,
  { draft, options, places }: Target,
): void {
  const table = 'path' in placement ? placement.path : name
  for (const { fields, at, column } of owners)
    for (const { test, path } of testsOf(fields, at)) {
      places.add(placeOf(file, path))
      const target = column === undefined ? table : `${table}.${textOf(column.name)}`
      const construct = constructAt(file, path, `${testName(test)} of ${target}`)
      if ('reason' in placement) {
        draft.leave(construct, placement.reason)
        continue
      }
      draft.convert(construct, () =>
        convertDbtTest(test, {
          table,
          engine: options.engine,
          project,
          ...(column && { column: textOf(column.name), isQuoted: column.quote === true }),
          ...(placement.note !== undefined && { note: placement.note }),
        }),
      )
    }
}

/** The tests of a table or column, under both of their names. */
function testsOf(owner: Fields, at: readonly string[]): { test: unknown; path: string[] }[] {
  return ['tests', 'data_tests'].flatMap(part => {
    const tests = Array.isArray(owner[part]) ? (owner[part] as unknown[]) : []
    return tests.map((test, index) => ({ test, path: [...at, part, String(index)] }))
  })
}

const placeOf = (file: DbtFile, path: readonly string[]): string => JSON.stringify([file.name, ...path])

function constructAt({ name: file, positionOf }: DbtFile, path: readonly string[], name: string): Construct {
  return { file, line: positionOf(path)?.line ?? null, name }
}

function testName(test: unknown): string {
  if (!isRecord(test)) return textOf(test)
  const name = test.test_name ?? Object.keys(test).find(key => key !== 'config')
  return typeof name === 'string' ? name : 'test'
}

/** Names the parts of a file that are not read. */
function leaveParts(file: DbtFile, draft: ImportDraft): void {
  for (const [part, content] of Object.entries(file.fields)) {
    if (part === 'unit_tests' && Array.isArray(content))
      for (const [index, test] of content.entries()) {
        const name = isRecord(test) ? `unit test ${textOf(test.name)}` : 'unit test'
        draft.leave(
          constructAt(file, [part, String(index)], name),
          'unit tests check code with made-up data, not tables',
        )
      }
    else if (part === 'data_tests' || part === 'tests')
      draft.leave(constructAt(file, [part], part), 'only the SQL of these tests says what they do')
    else if (TESTED_PARTS.includes(part)) {
      if (content !== null && !Array.isArray(content))
        draft.leave(constructAt(file, [part], part), 'it is no list: configuration of a project is not read')
    } else if (!OTHER_PARTS.includes(part))
      draft.leave(constructAt(file, [part], part), 'is no part of dbt that has tests of tables')
  }
}

/** Fields that may hold a field called tests, which are none. */
const OPAQUE_FIELDS = ['meta', 'config']

/** Names the tests that no table has, so that each test of a file is either converted or left out. */
function leaveUnread(
  file: DbtFile,
  value: unknown,
  path: readonly string[],
  { draft, places }: Pick<Target, 'draft' | 'places'>,
): void {
  if (!isRecord(value) && !Array.isArray(value)) return
  for (const [field, inner] of Object.entries(value)) {
    const at = [...path, field]
    if (field !== 'tests' && field !== 'data_tests') {
      if (!OPAQUE_FIELDS.includes(field)) leaveUnread(file, inner, at, { draft, places })
    } else if (Array.isArray(inner)) {
      for (const [index, test] of inner.entries()) {
        const place = [...at, String(index)]
        if (!places.has(placeOf(file, place)))
          draft.leave(
            constructAt(file, place, testName(test)),
            'dbt runs tests of models, seeds, snapshots and sources, and of their columns and versions',
          )
      }
    } else if (inner !== null && inner !== undefined)
      draft.leave(constructAt(file, at, field), 'it is no list of tests')
  }
}

function importFreshness(
  { file, name, at, placement }: DbtTable,
  { source, table: node }: { source: Fields; table: Fields },
  draft: ImportDraft,
): void {
  const [common, ofTable] = [source, node].map(owner => ({ ...configOf(owner), ...owner }))
  const own: Fields = { ...common, ...ofTable, freshness: mergeFreshness(common, ofTable) }
  if (own.freshness === undefined || own.freshness === null) return
  const place = isRecord(configOf(node).freshness) ? [...at, 'config', 'freshness'] : [...at, 'freshness']
  const table = 'path' in placement ? placement.path : name
  const construct = constructAt(file, place, `freshness of ${table}`)
  if ('reason' in placement) return draft.leave(construct, placement.reason)
  if (own.loaded_at_query !== undefined)
    return draft.leave(
      construct,
      'loaded_at_query is a SELECT of its own; freshness takes a column or an expression',
    )
  const { checks, left } = freshnessOf(table, own.freshness, own.loaded_at_field)
  if (draft.convert(construct, checks)) for (const reason of left) draft.leave(construct, reason)
}

/** A table takes the thresholds that it does not have from its source; null takes away. */
function mergeFreshness({ freshness: common }: Fields = {}, { freshness: own }: Fields = {}): unknown {
  if (!isRecord(common) || !isRecord(own)) return own === undefined ? common : own
  const merge = (name: string) =>
    isRecord(common[name]) && isRecord(own[name]) ? { ...common[name], ...own[name] } : own[name]
  const names = ['error_after', 'warn_after'].filter(name => own[name] !== undefined)
  return { ...common, ...own, ...Object.fromEntries(names.map(name => [name, merge(name)])) }
}
