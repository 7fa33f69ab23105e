/** Configuration of dbt's nodes and tests, in which each value may be a Jinja expression. */
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
