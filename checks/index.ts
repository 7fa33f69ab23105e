/** What a check package imports: `import { … } from 'tidemark/check'`. */
export * from './check.ts'
export { sql, raw, join, Sql } from '../connectors/sql.ts'
export { NUMERIC_KINDS } from '../connectors/catalog.ts'
export { distinctCount, nonNullCount, occurrenceMeasures, numberLiteral, rowCount } from './measures.ts'
