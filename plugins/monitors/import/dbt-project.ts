/**
 * The tables of a dbt project and the names of its files for them: where a model or a source is, for its own tests and for
 * those that refer to it. https://docs.getdbt.com/reference/model-properties
 */
import { formatName, parseName } from '../../../connectors/catalog.ts'
import type { TextPosition } from '../../../server/yaml.ts'
import {
  configOf,
  describeFolderSetting,
  describeTemplate,
  isProjectFile,
  isTemplate,
  readFolderSettings,
  whyDisabled,
  type FolderSettings,
} from './dbt-config.ts'
import { Inconvertible } from './import-draft.ts'
import { PythonNumber } from './python-scalars.ts'
import { foldName, type SqlEngine } from './sql-text.ts'
import { isRecord, itemsOf, type Fields } from './values.ts'

export interface DbtOptions {
  engine: SqlEngine
  /** The schema of the models, which their files do not say. */
  schema?: string | undefined
}

/** With what project files say. */
interface ProjectOptions extends DbtOptions {
  isSetByFolders: FolderSettings
}

/** A properties file: `schema.yml`. */
export interface DbtFile {
  name: string
  fields: Fields
  positionOf(path: readonly string[]): TextPosition | null
}

/** A table, or why there is none that is known. */
export type Placement = { path: string; note?: string } | { reason: string }

/** Fields with tests, and where they stand in their file. */
export interface TestOwner {
  fields: Fields
  at: readonly string[]
  /** Absent: the tests are about the whole table. */
  column?: Fields
}

/** What tests are attached to: a source table, a seed, a snapshot, or a version of a model. */
export interface DbtTable {
  file: DbtFile
  at: readonly string[]
  name: string
  placement: Placement
  owners: readonly TestOwner[]
  /** Present for a table of a source. */
  source?: { source: Fields; table: Fields }
}

export interface DbtProject {
  tables: readonly DbtTable[]
  /** The table that `ref('orders')` or `source('shop', 'orders')` stands for. @throws Inconvertible */
  resolve(reference: unknown): { path: string; note?: string }
  /** Whether folders may set a field of tests. */
  isSetByFolders(field: string): boolean
}

/** Parts of a file whose nodes are tables that dbt makes. */
const MODEL_PARTS = ['models', 'seeds', 'snapshots'] as const

/** Reads the tables of all files, before any of their tests. */
export function readProject(given: readonly DbtFile[], { engine, schema }: DbtOptions): DbtProject {
  const [projects = [], files = []] = [true, false].map(isProject =>
    given.filter(({ fields }) => isProjectFile(fields) === isProject),
  )
  const isSetByFolders = readFolderSettings(projects.map(({ fields }) => fields))
  const options: ProjectOptions = { engine, schema, isSetByFolders }
  const models = new Map<string, DbtModel[]>()
  const sources = new Map<string, Placement>()
  const tables: DbtTable[] = []
  for (const file of files) {
    for (const part of MODEL_PARTS)
      for (const [index, node] of itemsOf(file.fields[part]).entries()) {
        const model = readModel(part, node, { file, at: [part, String(index)] }, options)
        models.set(model.name, [...(models.get(model.name) ?? []), model])
        tables.push(...model.tables)
      }
    for (const [index, source] of itemsOf(file.fields.sources).entries())
      for (const [position, table] of itemsOf(source.tables).entries()) {
        const name = `${textOf(source.name)}.${textOf(table.name)}`
        const placement = placeSource(source, table, options)
        const at = ['sources', String(index), 'tables', String(position)]
        sources.set(name, placement)
        tables.push({
          file,
          at,
          name,
          placement,
          source: { source, table },
          owners: [{ fields: table, at }, ...columnOwners(table, at)],
        })
      }
  }
  return {
    tables,
    resolve: reference => resolveReference(reference, { models, sources, options }),
    isSetByFolders: field => isSetByFolders('data_tests', field),
  }
}

/** A model with its versions; a model without has itself as the only one. */
interface DbtModel {
  name: string
  tables: DbtTable[]
  /** By version; `''` for a model without versions. */
  versions: ReadonlyMap<string, Placement>
  latest: string
}

type Place = Pick<DbtTable, 'file' | 'at'>

function readModel(part: string, node: Fields, place: Place, options: ProjectOptions): DbtModel {
  const name = textOf(node.name)
  const { at } = place
  const versions = itemsOf(node.versions)
  if (versions.length === 0) {
    const placement = placeModel(part, node, undefined, options)
    const owners = [{ fields: node, at }, ...columnOwners(node, at)]
    return {
      name,
      latest: '',
      versions: new Map([['', placement]]),
      tables: [{ ...place, name, placement, owners }],
    }
  }
  const tables = versions.map((version, index): DbtTable => {
    const placement = placeModel(part, node, version, options)
    const inner = [...at, 'versions', String(index)]
    // Tests of the whole model are those of each version that has none of its own.
    const hasOwn = ['tests', 'data_tests'].some(
      tests => version[tests] !== undefined && version[tests] !== null,
    )
    return {
      ...place,
      at: inner,
      name: `${name}.v${textOf(version.v)}`,
      placement,
      owners: [
        hasOwn ? { fields: version, at: inner } : { fields: node, at },
        ...columnOwners(node, at).filter(({ column }) => includesColumn(version, textOf(column?.name))),
        ...columnOwners(version, inner).filter(({ column }) => column?.name !== undefined),
      ],
    }
  })
  const numbers = versions.map(({ v }) => textOf(v))
  const latest = node.latest_version
  return {
    name,
    tables,
    versions: new Map(tables.map(({ placement }, index) => [numbers[index] ?? '', placement])),
    latest: latest === undefined || latest === null ? greatestOf(numbers) : textOf(latest),
  }
}

function columnOwners(node: Fields, at: readonly string[]): TestOwner[] {
  const columns = Array.isArray(node.columns) ? (node.columns as unknown[]) : []
  return columns.flatMap((column, index) =>
    isRecord(column) ? [{ fields: column, at: [...at, 'columns', String(index)], column }] : [],
  )
}

/** Whether a version has a column of the model: all but those that its `include` and `exclude` keep out. */
function includesColumn(version: Fields, name: string): boolean {
  const rule = itemsOf(version.columns).find(
    ({ include, exclude }) => include !== undefined || exclude !== undefined,
  )
  const { include = 'all', exclude } = rule ?? {}
  const isIn = (list: unknown) => Array.isArray(list) && list.some(item => textOf(item) === name)
  return (include === 'all' || include === '*' || isIn(include)) && !isIn(exclude)
}

/** As dbt compares them: as numbers where both are, else as texts. */
function greatestOf(versions: readonly string[]): string {
  const isLess = (a: string, b: string) => {
    const [first, second] = [Number(a), Number(b)]
    return Number.isNaN(first) || Number.isNaN(second) ? a < b : first < second
  }
  return versions.reduce((greatest, version) => (isLess(greatest, version) ? version : greatest))
}

function placeModel(
  part: string,
  node: Fields,
  version: Fields | undefined,
  { schema, engine, isSetByFolders }: ProjectOptions,
): Placement {
  const name = textOf(node.name)
  const setting = (field: string) =>
    configOf(version)[field] ?? configOf(node)[field] ?? node[field] ?? undefined
  const fields = ['alias', 'schema', 'database', 'materialized', 'target_schema', 'target_database']
  const template = [name, version?.v, ...fields.map(setting)].find(isTemplate)
  if (template !== undefined) return { reason: `its table is not known: ${describeTemplate(template)}` }
  const disabled = whyDisabled(name, ...(version ? [version] : []), node)
  if (disabled !== null) return { reason: disabled }
  const unknown = [...fields, 'enabled'].find(
    field => setting(field) === undefined && isSetByFolders(part, field),
  )
  if (unknown !== undefined) return { reason: describeFolderSetting(unknown) }
  if (setting('materialized') === 'ephemeral')
    return { reason: `${name} is ephemeral: dbt makes no table of it` }
  const alias = setting('alias')
  const own = alias !== undefined ? textOf(alias) : version ? versionedName(name, textOf(version.v)) : name
  const isFixed = part === 'snapshots' && setting('target_schema') !== undefined
  const custom = setting(isFixed ? 'target_schema' : 'schema')
  const database = setting(isFixed ? 'target_database' : 'database')
  const base = schema === undefined ? [] : (parseName(schema) ?? [schema])
  if (!isFixed && base.length === 0 && (custom !== undefined || database !== undefined))
    return {
      reason: `its schema is ${custom === undefined ? 'that of the target' : `that of the target with _${textOf(custom)}`}: give the target's with --schema`,
    }
  const suffix = isFixed || custom === undefined ? '' : `_${textOf(custom).trim()}`
  const schemas = isFixed
    ? [textOf(custom)]
    : base.map((each, index) => (index === base.length - 1 ? each + suffix : each))
  const parts = [
    ...(database === undefined ? [] : [textOf(database)]),
    ...schemas.slice(database === undefined ? 0 : -1),
    own,
  ]
  return {
    path: formatName(parts.map(each => foldTable(each, engine))),
    ...(suffix !== '' && {
      note: `the schema ${schemas.at(-1)} is the one of dbt's own generate_schema_name; a project may have another`,
    }),
  }
}

const versionedName = (name: string, version: string): string => `${name}_v${version.replaceAll('.', '_')}`

function placeSource(source: Fields, table: Fields, { engine, isSetByFolders }: ProjectOptions): Placement {
  const parts = [source.database, source.schema ?? source.name, table.identifier ?? table.name].filter(
    part => part !== undefined && part !== null,
  )
  const template = parts.find(isTemplate)
  if (template !== undefined) return { reason: `its table is not known: ${describeTemplate(template)}` }
  const path = formatName(parts.map(part => foldTable(textOf(part), engine)))
  const disabled = whyDisabled(path, table, source)
  if (disabled !== null) return { reason: disabled }
  const isSaid = [table, source].some(owner => (configOf(owner).enabled ?? owner.enabled ?? null) !== null)
  return !isSaid && isSetByFolders('sources', 'enabled')
    ? { reason: describeFolderSetting('enabled') }
    : { path }
}

/** dbt writes names of tables in quotes, but not for Snowflake. */
const foldTable = (name: string, engine: SqlEngine): string =>
  engine === 'snowflake' ? foldName(name, engine) : name

/** With or without the braces of Jinja. */
export const REFERENCE =
  /^\s*(?:\{\{-?)?\s*(ref|source)\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"]\s*)?(?:,\s*(?:v|version)\s*=\s*['"]?([\w.-]+)['"]?\s*)?\)\s*(?:-?\}\})?\s*$/

function resolveReference(
  reference: unknown,
  {
    models,
    sources,
    options,
  }: {
    models: ReadonlyMap<string, readonly DbtModel[]>
    sources: ReadonlyMap<string, Placement>
    options: ProjectOptions
  },
): { path: string; note?: string } {
  const match = typeof reference === 'string' ? REFERENCE.exec(reference) : null
  if (!match) throw new Inconvertible(`${JSON.stringify(reference)} is neither ref('…') nor source('…', '…')`)
  const [, kind, first = '', second, version] = match
  if (kind === 'source') {
    const placement = sources.get(`${first}.${second}`)
    if (placement === undefined)
      throw new Inconvertible(
        `source('${first}', '${second}') is in none of the files: import the file that declares it too`,
      )
    return pathOf(placement, `source('${first}', '${second}')`)
  }
  const name = second ?? first
  const found = (models.get(name) ?? []).map(
    ({ versions, latest }) =>
      versions.get(version ?? latest) ?? { reason: `the files have no version ${version ?? latest} of it` },
  )
  const [placement] = found
  if (placement === undefined) {
    // A model without a properties file has the table of its name, unless its SQL says otherwise.
    const node = { name: version === undefined ? name : versionedName(name, version) }
    const { path } = pathOf(placeModel('models', node, undefined, options), name)
    return { path, note: `${name} is in none of the files: its table is taken for ${path}` }
  }
  const paths = new Set(found.map(each => ('path' in each ? each.path : each.reason)))
  if (paths.size > 1) throw new Inconvertible(`${name} stands for several tables: ${[...paths].join(', ')}`)
  return pathOf(placement, name)
}

function pathOf(placement: Placement, name: string): { path: string; note?: string } {
  if ('reason' in placement) throw new Inconvertible(`it refers to ${name}: ${placement.reason}`)
  return placement
}

/** A name of a file, which may be written as a number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || value instanceof PythonNumber
    ? String(value)
    : (JSON.stringify(value) ?? '')
}
