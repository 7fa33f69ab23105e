/**
 * The settings of `dbt_project.yml`, which hold for folders of a project. A properties file does not say in which folder the
 * SQL of a model is: what a folder may set and a properties file does not is not known.
 */
import { isRecord, type Fields } from './values.ts'

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
