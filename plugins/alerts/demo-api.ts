import type { Transaction } from '../../server/database/database.ts'

/** What a person does about an incident. */
export interface DemoStep {
  to?: 'acknowledged' | 'resolved' | 'dismissed'
  reason?: string
  /** What is stated about the end, by the names of the API. */
  resolution?: Record<string, string>
  assigneeId?: string
  comment?: string
  postMortem?: string
}

/** Gives the demo a past: what was raised and done just now counts as raised and done on an earlier day. */
export interface DemoPast {
  /** Groups what was raised or ended since a moment. @returns the ids of their incidents that are open */
  group(trx: Transaction, since: Date): Promise<string[]>
  /** Deletes all alerts and incidents of the company, of a demo that was not completed. */
  clear(trx: Transaction): Promise<void>
  /** Does a step as a user, through the functions of the API. */
  act(companyId: string, incidentId: string, actor: string, step: DemoStep): Promise<void>
  /** Moves what was stored since a moment to another one. */
  move(trx: Transaction, since: Date, to: Date): Promise<void>
  /** Moves the attempts of moved messages after these. @returns the number of messages that are still on their way */
  moveAttempts(trx: Transaction): Promise<number>
}
