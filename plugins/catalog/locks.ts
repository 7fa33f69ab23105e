/** Locks of sources, runs and tables. The order of all locks: `server/database/locks.ts`. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import { Run, Source, UNFINISHED, type Table } from './models.ts'

/**
 * Locks a source that must exist. Writers of several rows of a source lock it first: discoveries, baselines, tags, patches
 * and cancellations. Other transactions may insert rows that refer to it meanwhile, unless `alone`.
 * @throws 404 `ASSET_NOT_FOUND`
 */
export async function lockSource(trx: Transaction, id: string, { alone = false } = {}): Promise<Source> {
  const query = Source.query(trx).findById(id)
  const source = await (alone ? query.forUpdate() : query.forNoKeyUpdate())
  if (source) return source
  throw apiError('ASSET_NOT_FOUND', 'The source was removed', { asset_id: id })
}

/** Locks a source if it still exists. */
export async function lockSourceIfPresent(trx: Transaction, id: string): Promise<Source | undefined> {
  return Source.query(trx).findById(id).forNoKeyUpdate()
}

/** Locks a source unless another transaction has locked it. */
export async function lockSourceIfFree(trx: Transaction, id: string): Promise<Source | undefined> {
  return Source.query(trx).findById(id).forNoKeyUpdate().skipLocked()
}

/** Locks sources by id. */
export async function lockSources(trx: Transaction, ids: readonly string[]): Promise<void> {
  await trx.raw(
    'select 1 from sources where company_id = ? and id = any(cast(? as uuid[])) order by id for no key update',
    [companyOf(trx), [...new Set(ids)]],
  )
}

/** Locks a run, whose source is locked. */
export async function lockRun(trx: Transaction, id: string): Promise<Run | undefined> {
  return Run.query(trx).findById(id).forUpdate()
}

/** Locks a run that has not ended, after its source; undefined if it has. */
export async function lockUnfinishedRun(trx: Transaction, id: string): Promise<Run | undefined> {
  const run = await Run.query(trx).findById(id)
  if (run) await lockSourceIfPresent(trx, run.sourceId)
  return Run.query(trx)
    .findById(id)
    .whereIn('status', [...UNFINISHED])
    .forUpdate()
}

/**
 * Locks a source and a table of it while results are recorded, so that a transaction that switches the source off or
 * retires the table waits, and then sees the alerts that were raised.
 * @param isSourceChanged whether the source itself is written: upgrading the lock later could deadlock
 * @returns whether each is active; undefined if one was removed
 */
export async function lockScannedTable(
  trx: Transaction,
  { source, table }: { source: Pick<Source, 'id'>; table: Pick<Table, 'id'> },
  isSourceChanged: boolean,
): Promise<{ isSourceActive: boolean; isTableActive: boolean } | undefined> {
  const companyId = companyOf(trx)
  const [lockedSource] = await rows<{ isActive: boolean }>(
    trx,
    `select is_active from sources where company_id = ? and id = ? for ${isSourceChanged ? 'no key update' : 'key share'}`,
    [companyId, source.id],
  )
  const [lockedTable] = await rows<{ isActive: boolean }>(
    trx,
    'select is_active from tables where company_id = ? and id = ? for share',
    [companyId, table.id],
  )
  if (!lockedSource || !lockedTable) return undefined
  return { isSourceActive: lockedSource.isActive, isTableActive: lockedTable.isActive }
}
