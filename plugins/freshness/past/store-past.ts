import type { Transaction } from '../../../server/database/database.ts'
import { storePastFindings, type PastFinding } from '../../checks/kit.ts'
import { lockSchedules } from '../locks.ts'
import { Schedule, type FreshnessDetails } from '../models.ts'
import type { JudgedPast, PastCheck } from './judge-past.ts'

/** The past of one schedule, to store. */
export interface StoredPast extends JudgedPast {
  /** The schedule, by its number. */
  id: string
  uuid: string
  /** The column that was read. */
  column: string | null
}

/**
 * Stores the past of schedules whose source is locked, as if their checks had been made then, and that it was read. What
 * became another signal meanwhile is left out. The past has no verdicts and raises no alerts.
 * @returns the UUIDs of the schedules that got updates
 */
export async function storePasts(trx: Transaction, pasts: readonly StoredPast[]): Promise<string[]> {
  const locked = await lockSchedules(
    trx,
    pasts.map(({ id }) => id),
  )
  const lacking = new Map(locked.filter(({ pastReadAt }) => pastReadAt === null).map(each => [each.id, each]))
  const current = pasts.filter(({ id, column }) => lacking.get(id)?.timestampColumn === column)
  await storePastFindings(
    trx,
    current.flatMap(({ id, checks }) => checks.map(check => toFinding(id, check))),
  )
  const pastReadAt = new Date()
  for (const { id, note } of current)
    await Schedule.query(trx).findById(id).patch({ pastReadAt, pastNote: note })
  return current.flatMap(({ uuid, checks }) => (checks.length > 0 ? uuid : []))
}

function toFinding(id: string, { at, lastUpdated, isUpdate }: PastCheck): PastFinding {
  const details: FreshnessDetails = { lastUpdated, ...(isUpdate && { isUpdate }) }
  return { id, at, value: (at.getTime() - lastUpdated.getTime()) / 1_000, details }
}
