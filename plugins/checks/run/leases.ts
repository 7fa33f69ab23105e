import { v4 } from 'uuid'
import type { CheckDeps } from '../deps.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'

/** The tables of a process that died are free again after it. */
const LEASE_SECONDS = 60
const RENEWAL_MS = 20_000

/** SQL that is true for a row `t` of a table of checks whose table a manual check is about to scan. */
export const IS_LEASED =
  'exists (select from check_leases l where l.table_id = t.table_id and l.expires_at > now())'

/** Whether a manual check is about to scan a table, or is scanning it. */
export async function isTableLeased(trx: Transaction, tableId: string): Promise<boolean> {
  const [found] = await rows<{ isLeased: boolean }>(
    trx,
    `select ${IS_LEASED} as is_leased from (select cast(:tableId as uuid) as table_id) t`,
    { tableId },
  )
  return found?.isLeased === true
}

/**
 * Runs `work` while sweeps and scan jobs leave tables to it, so that what is due there is measured by its scans and not
 * once more. A due slot stays as it is until a scan records it, so a process that dies loses none.
 * @param work receives a function that ends the lease of one table
 */
export async function withLeases<T>(
  { db, pino }: Pick<CheckDeps, 'db' | 'pino'>,
  { companyId, tableIds }: { companyId: string; tableIds: readonly string[] },
  work: (release: (tableId: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const holder = v4()
  const change = (text: string, values: object = {}) =>
    db.company(companyId, trx => rows(trx, text, { companyId, holder, ...values }))
  await change(
    `with expired as (delete from check_leases where company_id = :companyId and expires_at <= now())
     insert into check_leases (company_id, table_id, holder, expires_at)
     select company_id, id, :holder, now() + interval '${LEASE_SECONDS} s' from tables
     where company_id = :companyId and id = any(cast(:tableIds as uuid[]))`,
    { tableIds },
  )
  const own = 'where company_id = :companyId and holder = :holder'
  const renew = () =>
    change(`update check_leases set expires_at = now() + interval '${LEASE_SECONDS} s' ${own}`)
  // Without its lease a table may be scanned twice, which is no reason to fail.
  const warn = (error: unknown) => pino.warn({ err: error }, 'a lease of a check could not be changed')
  const renewal = setInterval(() => void renew().catch(warn), RENEWAL_MS)
  try {
    return await work(async tableId => {
      await change(`delete from check_leases ${own} and table_id = :tableId`, { tableId }).catch(warn)
    })
  } finally {
    clearInterval(renewal)
    await change(`delete from check_leases ${own}`).catch(warn)
  }
}
