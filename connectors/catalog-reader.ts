import type { Row } from './connector.ts'
import type { Sql } from './sql.ts'

/** Runs one statement of the catalog. */
export type CatalogReader = (statement: Sql) => Promise<Row[]>

/** Runs one statement of the catalog; with `onRow`, rows are passed on as they arrive and none is kept. */
export type StreamingCatalogReader = (statement: Sql, onRow?: (row: Row) => void) => Promise<Row[]>
