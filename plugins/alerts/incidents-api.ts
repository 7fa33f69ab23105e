import type { Transaction } from '../../server/database/database.ts'

/** Alerts that belong together, as `server.plugins.alerts.incidents`. */
export interface IncidentsApi {
  /** Groups alerts that have no incident, follows those that have one, and sends what is to be sent. */
  update(
    trx: Transaction,
    alertIds: readonly string[],
  ): Promise<{ grouped: number; changed: number; ended: number }>
  /** Merges and splits active incidents by the lineage of now. A job does so every ten minutes. */
  review(trx: Transaction): Promise<void>
  /** Incidents with alerts of a table that were opened since a time, the latest first. */
  listOf(trx: Transaction, tableId: string, range: { since: Date; limit: number }): Promise<TableIncident[]>
}

/** An incident, as the history of a table names it. */
export interface TableIncident {
  title: string
  status: string
  /** When the problem began, where that is known, else when it was found. */
  at: Date
}
