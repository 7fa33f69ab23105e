/** Statements on one company's rows, several in one round trip, with or without admitting the caller first. */
import type { Knex } from 'knex'
import type { Statement } from './batch.ts'
import { askInOrder, askInTurn, askTogether, positioned } from './pool.ts'

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

/** What an admission says of its caller. */
export interface Admitted {
  companyId: string | null
  isAllowed?: boolean | null
}

/** A caller, and what was read for it; null unless the company that was asked for was admitted. */
export interface AdmittedReading<A extends Admitted, T extends object[]> {
  admitted: A | undefined
  result: PromiseSettledResult<Found<T>> | null
}

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

/** Leaves the company that a statement admits, or none, to the next transaction of the connection. */
function admitting({ name, text, bindings }: Reading<Admitted>): Statement {
  const companyId = `coalesce(case when a.is_allowed then cast(a.company_id as text) end, '')`
  return positioned(
    `select a.*, set_config('app.admitted', ${companyId}, false) from (${text}) a`,
    bindings,
    `${name} and read`,
  )
}

/** Makes a transaction a reader of the admitted company, for once. Without one, row-level security returns nothing. */
const AS_ADMITTED: Statement = {
  name: 'admitted reader',
  text: `select set_config('app.company', coalesce(current_setting('app.admitted', true), ''), true) as company_id,
    set_config('app.admitted', '', false), set_config('transaction_read_only', 'on', true)`,
  values: [],
}

/** `Database.admitAndRead` with a pool of the application role. */
export async function admitAndRead<A extends Admitted, T extends object[]>(
  app: Knex,
  admission: Reading<A>,
  companyId: string,
  readings: Readings<T>,
): Promise<AdmittedReading<A, T>> {
  const [first, second] = await askInTurn(app, [
    [admitting(admission)],
    [AS_ADMITTED, ...positionAll(readings)],
  ])
  if (first?.status !== 'fulfilled') throw first?.reason
  const [[admitted]] = first.value as [A[]]
  if (!second || admitted?.isAllowed !== true || admitted.companyId !== companyId)
    return { admitted, result: null }
  if (second.status === 'rejected') return { admitted, result: second }
  const [[reader], ...found] = second.value as [Admitted[], ...object[][]]
  // It differs only where a connection pooler took the transactions apart.
  const isAdmitted = reader?.companyId === companyId
  return { admitted, result: isAdmitted ? { status: 'fulfilled', value: found as Found<T> } : null }
}
