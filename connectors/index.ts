/** What a connector package imports: `import { … } from 'tidemark/connector'`. */
export * from './catalog.ts'
export * from './connector.ts'
export * from './dates.ts'
export * from './dialect.ts'
export * from './driver.ts'
export * from './errors.ts'
export * from './sql.ts'
