import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { Schedule } from '../models.ts'
import type { JudgedPast } from './judge-past.ts'

/** The past of one schedule, to store. */
export interface StoredPast extends JudgedPast {
  /** The schedule, by its number. */
  id: string
  /** The column that was read. */
  column: string | null
}

const INSERT_PAST = `
  insert into check_results (company_id, check_id, at, value, details, is_backfilled)
  select :companyId, r.id, r.at, extract(epoch from r.at - r."lastUpdated"),
    jsonb_strip_nulls(jsonb_build_object('lastUpdated', r."lastUpdated", 'isUpdate', nullif(r."isUpdate", false))), true
  from jsonb_to_recordset(cast(:records as jsonb)) as r (id bigint, at timestamptz, "lastUpdated" timestamptz,
    "isUpdate" boolean)`

/**
 * Stores the past of schedules whose source is locked, as if their checks had been made then, and that it was read. What
 * became another signal meanwhile is left out. The past has no verdicts and raises no alerts.
 * @returns the UUIDs of the schedules that got updates
 */
export async function storePasts(trx: Transaction, pasts: readonly StoredPast[]): Promise<string[]> {
  const locked = await Schedule.query(trx)
    .findByIds(pasts.map(({ id }) => id))
    .orderBy('id')
    .forNoKeyUpdate()
  const found = new Map(locked.map(schedule => [schedule.id, schedule]))
  const current = pasts.filter(({ id, column }) => {
    const schedule = found.get(id)
    return schedule?.pastReadAt === null && schedule.timestampColumn === column
  })
  const records = current.flatMap(({ id, checks }) => checks.map(check => ({ id, ...check })))
  if (records.length > 0)
    await rows(trx, INSERT_PAST, { companyId: companyOf(trx), records: JSON.stringify(records) })
  const pastReadAt = new Date()
  for (const { id, note } of current)
    await Schedule.query(trx).findById(id).patch({ pastReadAt, pastNote: note })
  return current.flatMap(({ id, checks }) => (checks.length > 0 ? found.get(id)!.uuid : []))
}
