/**
 * Row locks of the whole program. Locks are taken only by the functions of files named `locks.ts`, each in the folder that
 * owns the row, and by the statements that claim rows and change them at once.
 *
 * A transaction takes its locks in this order. Two transactions that take them in different orders wait for each other
 * until PostgreSQL ends one (40P01). Several rows of one kind are locked in the order of their ids, unless it says otherwise.
 *
 *  1. names (`lockName`): signing up with an email, creating the first account, creating demo data, joining the beta, the sweep that claims checks,
 *     declaring other names of datasets
 *  2. the company (`companies`)
 *  3. users, then what belongs to them: sessions, invitations, tickets, sign-in attempts, identities,
 *     password resets
 *  4. sources: before writing several rows of a source, and before recording what was read from it
 *  5. runs of a source
 *  6. tables of a source
 *  7. operating schedules: before the rules that use them
 *  8. checks: validity rules, metrics, referential checks, freshness schedules, then those of extensions in the order in
 *     which their kinds are added
 *  9. alerts, by kind, cause and id, in the collation "C": raising an alert locks its row in this order
 *     Clauses of contracts come after the alerts about their checks, and before alerts about contracts.
 * 10. deliveries
 * 11. destinations: what ends their deliveries locks those first; alerts about a destination come last, as no other
 *     transaction locks them before
 * 12. alert rules
 * 13. keys of jobs that are sent (names, by `send`), and then the name of the counts of recommendations of a source
 *
 * Strength: `for no key update` for a row that is changed, so that other rows may refer to it meanwhile; `for update` for
 * a row that is deleted, or that no new row may refer to; `for share` for a row that must stay as it is.
 */
import type { Knex } from 'knex'
import type { Statement } from './pipeline.ts'

/** Waits for other transactions that locked the same name; the lock ends with the transaction. */
export async function lockName(trx: Knex.Transaction, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
}

/** The same, to be sent together with the statements that it protects. */
export function nameLock(name: string): Statement {
  return { text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', values: [name] }
}
