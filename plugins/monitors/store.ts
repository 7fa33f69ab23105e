/** The table of managed checks. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { ManagedCheck } from '../checks/api.ts'

/** A check that a file manages. */
export type FileManagedCheck = Required<ManagedCheck>

/** The managed checks of a source. */
export function readManaged(trx: Transaction, sourceId: string): Promise<FileManagedCheck[]> {
  // A row is read whole: the names within `applied` are the API's.
  return rows<{ managed: FileManagedCheck }>(
    trx,
    `select jsonb_build_object('key', key, 'kind', kind, 'checkId', check_id, 'file', file, 'applied', applied) as managed
     from monitors where company_id = :companyId and source_id = :sourceId order by key`,
    { companyId: companyOf(trx), sourceId },
  ).then(all => all.map(({ managed }) => managed))
}

/** Stores managed checks of a source, in place of those with the same keys and those of the same checks. */
export async function saveManaged(
  trx: Transaction,
  sourceId: string,
  managed: readonly FileManagedCheck[],
): Promise<void> {
  if (managed.length === 0) return
  const records = managed.map(({ checkId, ...rest }) => ({ ...rest, check_id: checkId }))
  const bindings = { companyId: companyOf(trx), sourceId, records: JSON.stringify(records) }
  const given = `jsonb_to_recordset(cast(:records as jsonb))
    as r(key text, kind text, check_id text, file text, applied jsonb)`
  // A key may move to another check, and a check to another key.
  await trx.raw(
    `delete from monitors m using ${given}
     where m.company_id = :companyId and m.source_id = :sourceId
       and (m.key = r.key or (m.kind = r.kind and m.check_id = r.check_id))`,
    bindings,
  )
  await trx.raw(
    `insert into monitors (company_id, source_id, key, kind, check_id, file, applied)
     select :companyId, :sourceId, r.key, r.kind, r.check_id, r.file, r.applied from ${given}`,
    bindings,
  )
}

export async function forgetManaged(
  trx: Transaction,
  sourceId: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await trx.raw(
    `delete from monitors
     where company_id = :companyId and source_id = :sourceId and key = any(cast(:keys as text[]))`,
    { companyId: companyOf(trx), sourceId, keys: [...keys] },
  )
}
