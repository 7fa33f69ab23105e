/** How much of anything one company may make: what it stores takes room, and time in lists, from all companies. */
import type { Knex } from 'knex'
import { apiError } from '../http/errors.ts'

/** A cap on the rows of a table that a company has. */
export interface CompanyCap {
  /** As `details.cap` of the error has it: the table, where all of its rows count. */
  name: string
  table: string
  most: number
  /** What is counted. */
  what: string
  /** What to do when there are too many. */
  advice: string
  /** Rows that count, in SQL; defaults to all. It may name `:within`. */
  condition?: string
}

const caps = new Map<string, CompanyCap>()

/**
 * Defines a cap, far above what companies need; Limits in `docs/operations.md` lists them. A model that has one is held to
 * it by `CompanyRow`; SQL text that inserts calls `enforceCap`.
 */
export function defineCap({
  name,
  ...cap
}: Omit<CompanyCap, 'table'> & Partial<Pick<CompanyCap, 'table'>>): CompanyCap {
  const defined = { table: name, ...cap, name }
  caps.set(name, defined)
  return defined
}

/** All caps by name; tests lower them. */
export function listCaps(): ReadonlyMap<string, CompanyCap> {
  return caps
}

/**
 * Refuses rows beyond a cap. Called after they were inserted, since that counts any number of them: the transaction is
 * undone with the error. Transactions at the same time may exceed a cap by what each of them adds.
 * @param companyId the company of the transaction
 * @param within what a cap counts by, such as an incident
 * @throws 409 `LIMIT_REACHED`
 */
export async function enforceCap(
  trx: Knex,
  companyId: string,
  { name, table, most, what, advice, condition }: CompanyCap,
  within: string | null = null,
): Promise<void> {
  const found = (await trx.raw(
    `select 1 from ${table} where company_id = :companyId ${condition === undefined ? '' : `and ${condition}`}
     offset :most limit 1`,
    { companyId, most, ...(within !== null && { within }) },
  )) as { rows: object[] }
  if (found.rows.length === 0) return
  const message = `A company may have at most ${most} ${what}: ${advice}`
  throw apiError('LIMIT_REACHED', message, { cap: name, limit: most })
}
