/** Statements on one company's rows, several in one round trip. */
import type { Knex } from 'knex'
import type { Statement } from './batch.ts'
import { askInOrder, askTogether, positioned } from './pool.ts'

/** A statement; outside a transaction, one that only reads. */
export interface Reading<T extends object> {
  /** Unique for each text: PostgreSQL parses and plans it once per connection. */
  name: string
  text: string
  /** By name (`:company_id`). */
  bindings: Record<string, unknown>
  /** The type of its rows; never set. */
  row?: T
}

/** Several statements, by the types of their rows. */
export type Readings<T extends object[]> = { [K in keyof T]: Reading<T[K]> }
/** The rows of each, with camelCase names. */
export type Found<T extends object[]> = { [K in keyof T]: T[K][] }

/** Makes a transaction one that only reads one company's rows. If it failed, row-level security would return nothing. */
function asReader(companyId: string): Statement {
  return {
    name: 'reader',
    text: `select set_config('app.company', $1, true), set_config('transaction_read_only', 'on', true)`,
    values: [companyId],
  }
}

function positionAll(readings: readonly Reading<object>[]): Statement[] {
  return readings.map(({ text, bindings, name }) => positioned(text, bindings, name))
}

/**
 * Runs statements of one company's transaction in their order, in one round trip; they may lock and write too.
 * @throws the first error; none of the statements after it was run
 */
export async function sendStatements<T extends object[]>(
  trx: Knex.Transaction,
  readings: Readings<T>,
): Promise<Found<T>> {
  return (await askInOrder(trx, positionAll(readings))) as Found<T>
}

/** `Database.read` with a pool of the application role. */
export async function readTogether<T extends object[]>(
  app: Knex,
  companyId: string,
  readings: Readings<T>,
): Promise<Found<T>> {
  const [, ...found] = await askTogether(app, [asReader(companyId), ...positionAll(readings)])
  return found as Found<T>
}
