import { companyOf, rows, type Transaction } from './database.ts'

/**
 * Moves the times that a company's rows got since a moment, as if they had got them at another one: in one statement.
 * Earlier times stay.
 * @param times the columns, by table
 */
export async function moveTimes(
  trx: Transaction,
  times: Readonly<Record<string, readonly string[]>>,
  since: Date,
  to: Date,
): Promise<void> {
  const scope = { companyId: companyOf(trx), since, seconds: (to.getTime() - since.getTime()) / 1_000 }
  const updates = Object.entries(times).map(([table, columns]) => {
    const moved = columns.map(
      name =>
        `${name} = case when ${name} >= :since then ${name} + make_interval(secs => :seconds) else ${name} end`,
    )
    const isNew = columns.map(name => `${name} >= :since`).join(' or ')
    return `moved_${table} as (update ${table} set ${moved.join()} where company_id = :companyId and (${isNew}))`
  })
  await rows(trx, `with ${updates.join()} select`, scope)
}
