import type { Row, ViewDefinition } from './connector.ts'

/**
 * Rows of `schema`, `name`, `definition`, and where there are several `catalog`, as views.
 * @param catalog of all of them; defaults to that of each row, then to its schema
 */
export function toViewDefinitions(rows: readonly Row[], catalog?: string): ViewDefinition[] {
  return rows.map(({ catalog: own, schema, name, definition }) => ({
    catalog: catalog ?? String(own ?? schema),
    schema: String(schema),
    name: String(name),
    // Without the right to see it, some engines have an empty text.
    definition: typeof definition === 'string' && definition.trim() !== '' ? definition : null,
  }))
}
