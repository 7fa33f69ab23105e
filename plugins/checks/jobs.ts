import Joi from 'joi'
import { rows, type Transaction } from '../../server/database/database.ts'
import { claimDue } from '../../server/database/due.ts'
import { gridOfTable } from './run/grid.ts'
import { lockName } from '../../server/database/locks.ts'
import { hasCode } from '../../server/http/errors.ts'
import type { Job, JobKind, Turns } from '../../server/jobs/jobs.ts'
import type { CheckDeps } from './deps.ts'
import { runTable } from './run/select.ts'
import { IS_LEASED } from './run/leases.ts'
import { dispatchSources } from './source-jobs.ts'

interface TableJob {
  company_id: string
  table_id: string
}

/** Scans at once in one process, of which one company has at most half. */
const WORKERS = 16
/** Scans at once of one source, over all processes: its sessions, and never more than half of what its company has. */
const TIERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [String(index + 1), Math.min(index + 1, WORKERS / 4)]),
)

/** Scans one table for the due checks of all kinds. */
export const scanJob: JobKind<TableJob> = {
  name: 'scans.run',
  data: Joi.object({ company_id: Joi.string().guid().required(), table_id: Joi.string().guid().required() }),
  queue: { expireSeconds: 3_900 },
  // By source: a scan that would have to wait for a session there leaves its worker to other sources.
  concurrency: {
    isShared: true,
    local: WORKERS,
    perGroup: { default: 2, tiers: TIERS },
    groupsOf: (server, companyIds) => server.db.system(trx => findSources(trx, companyIds)),
  },
}

/** Claims what is due, and asks for its scans and for the checks of its sources. */
export const sweepJob: JobKind = { name: 'scans.dispatch', data: Joi.object({}), every: '* * * * *' }

async function findSources(trx: Transaction, companyIds: readonly string[]): Promise<string[]> {
  const found = await rows<{ id: string }>(
    trx,
    'select id from sources where company_id = any(cast(? as uuid[]))',
    [companyIds],
  )
  return found.map(({ id }) => id)
}

/** Checks that are claimed in one transaction. */
const CLAIM_BATCH_ROWS = 1_000

/** The scans, and the sweep that asks for them. */
export function makeScanJobs(deps: CheckDeps): Job[] {
  const scan: Job<TableJob> = {
    ...scanJob,
    async work({ company_id: companyId, table_id: tableId }, { signal }) {
      try {
        return await runTable(deps, { companyId, tableId, which: 'claimed' }, { signal })
      } catch (error) {
        // Removed since the sweep, with all its checks.
        if (hasCode(error, 'ASSET_NOT_FOUND')) return { checks: 0, statements: 0 }
        throw error
      }
    },
  }
  const sweep: Job = {
    ...sweepJob,
    work: async () => ({ ...(await dispatchSources(deps)), ...(await dispatch(deps)) }),
  }
  return [scan as Job, sweep]
}

/**
 * Scans of one source that wait in the queue before no more of it is claimed: more than are done until the next sweep.
 * A worker that fetches a job skips all those whose source is at its limit.
 */
const MAX_QUEUED_SCANS = 2_000

/**
 * Claims what is due and sends one job a table for the checks of all features; some at a time, until nothing is due but of
 * sources that have enough to do. Companies take turns.
 */
export async function dispatch({ db, jobs, kinds }: Pick<CheckDeps, 'db' | 'jobs' | 'kinds'>) {
  let tables = 0
  let turns: Turns | undefined
  for (let isMore = true; isMore;) {
    isMore = await db.system(async trx => {
      // A second sweep at the same time would claim what this one has not come to yet, and scan the table once more.
      await lockName(trx, scanJob.name)
      const standing = (turns ??= await jobs.turns(scanJob, trx))
      const claimed = await claim(trx, [...kinds.keys()], standing.full(MAX_QUEUED_SCANS))
      const items = claimed.tables.map(({ source, tier, ...data }) => {
        standing.add(source)
        return { data, group: { id: source, tier }, turn: standing.next(data.company_id) }
      })
      await jobs.sendAll(scanJob, items, { trx })
      tables += claimed.tables.length
      return claimed.isMore
    })
  }
  return { tables }
}

async function claim(trx: Transaction, kinds: readonly string[], full: readonly string[]) {
  const columns = { interval: 'check_interval', source: 'source_id', table: 'table_id' }
  const due = await claimDue(trx, 'checks', columns, {
    limit: CLAIM_BATCH_ROWS,
    full,
    except: IS_LEASED,
    kinds,
    gridOf: `case when t.last_checked_at is null then ${gridOfTable('t')} end`,
  })
  const isMore = due.length === CLAIM_BATCH_ROWS
  const tiers = await rows<{ id: string; tier: string }>(
    trx,
    'select id, max_concurrency::text as tier from sources where id = any(cast(? as uuid[]))',
    [[...new Set(due.map(({ sourceId }) => sourceId))]],
  )
  const tierOf = new Map(tiers.map(({ id, tier }) => [id, tier]))
  const byTable = new Map(due.map(row => [row.tableId ?? '', row]))
  const tables = [...byTable].map(([tableId, { companyId, sourceId }]) => ({
    company_id: companyId,
    table_id: tableId,
    source: sourceId,
    tier: tierOf.get(sourceId) ?? '1',
  }))
  return { tables, isMore }
}
