/**
 * Configuration of dbt: that of nodes and tests, in which each value may be a Jinja expression, and the settings of
 * `dbt_project.yml`, which hold for folders of a project. A properties file does not say in which folder the SQL of a model
 * is: what a folder may set and a properties file does not is not known.
 */
import { Inconvertible } from './import-draft.ts'
import { isRecord, type Fields } from './values.ts'

export const isTemplate = (value: unknown): value is string =>
  typeof value === 'string' && /\{[{%#]/.test(value)

export const configOf = (owner: Fields | undefined): Fields => (isRecord(owner?.config) ? owner.config : {})

/** What is said of a Jinja expression, whose value only dbt knows. */
export function describeTemplate(value: unknown): string {
  return `${JSON.stringify(value)} is a Jinja expression: render it first`
}

/** All values within a value. */
export function leavesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isRecord(value) ? Object.values(value).flatMap(leavesOf) : [value]
}

/**
 * Why dbt does not run the tests of something, or may not. The first owner that says it counts.
 * @returns null where it runs them
 */
export function whyDisabled(label: string, ...owners: readonly Fields[]): string | null {
  const enabled = owners
    .map(owner => configOf(owner).enabled ?? owner.enabled)
    .find(value => value !== undefined && value !== null)
  if (enabled === undefined || enabled === true) return null
  if (enabled === false) return `${label} is disabled, so that dbt runs none of its tests`
  return `enabled of ${label} decides whether dbt runs its tests, and ${isTemplate(enabled) ? describeTemplate(enabled) : 'is neither true nor false'}`
}

/** @throws Inconvertible for values that are Jinja expressions */
export function refuseTemplates(values: unknown, isAllowed: (value: string) => boolean = () => false): void {
  const found = leavesOf(values).find(value => isTemplate(value) && !isAllowed(value))
  if (found !== undefined) throw new Inconvertible(describeTemplate(found))
}

export function isProjectFile(fields: Fields): boolean {
  return (
    typeof fields.name === 'string' &&
    ['profile', 'config-version', 'model-paths', 'require-dbt-version'].some(field => field in fields)
  )
}

/** Whether folders of a part of the project, such as `models`, may set a field. */
export type FolderSettings = (part: string, field: string) => boolean

/** @param projects the fields of project files; there may be several, of packages */
export function readFolderSettings(projects: readonly Fields[]): FolderSettings {
  const fields = new Map<string, Set<string>>()
  const visit = (part: string, value: unknown): void => {
    if (!isRecord(value)) return
    for (const [key, inner] of Object.entries(value)) {
      const field = key.replace(/^\+/, '')
      // dbt's own defaults change nothing.
      const isDefault = (field === 'enabled' && inner === true) || inner === null
      const isTable =
        field === 'materialized' &&
        typeof inner === 'string' &&
        /^[a-z_]+$/.test(inner) &&
        inner !== 'ephemeral'
      if (!isDefault && !isTable) fields.set(part, (fields.get(part) ?? new Set()).add(field))
      visit(part, inner)
    }
  }
  for (const project of projects)
    for (const part of ['models', 'seeds', 'snapshots', 'sources', 'data_tests', 'tests'])
      visit(part === 'tests' ? 'data_tests' : part, project[part])
  return (part, field) => fields.get(part)?.has(field) === true
}

/** What is said of a setting that a folder may have. */
export function describeFolderSetting(field: string): string {
  return `dbt_project.yml sets ${field} for folders, and the file does not say it itself`
}
