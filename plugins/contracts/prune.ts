import Joi from 'joi'
import type { Database } from '../../server/database/database.ts'
import { deleteFirst, prune, type Pace } from '../../server/database/prune.ts'
import type { Job } from '../../server/jobs/jobs.ts'
import type { Config } from '../../server/settings/config.ts'
import { KEPT_HOURS } from './exchange/export-job.ts'

/** What clauses are now stands with them, so their history can go. */
const DELETE_OLD_EVENTS = deleteFirst('contract_events', 'id', 'at < now() - make_interval(days => :days)')

const DELETE_OLD_EXPORTS = deleteFirst(
  'contract_exports',
  'id',
  'created_at < now() - make_interval(hours => :hours)',
)

/** A test that was killed in its last attempt leaves its contract; a waiting one is younger. */
const DELETE_LEFT_TESTS = deleteFirst('contract_tests', 'run_id', `created_at < now() - interval '7 days'`)

/** Deletes what is too old of the contracts of all companies. @returns how many rows */
export async function pruneContracts(
  db: Database,
  { retentionResultsDays: days }: Pick<Config, 'retentionResultsDays'>,
  pace?: Pace,
) {
  return {
    events: await prune(db.system, DELETE_OLD_EVENTS, { days }, pace),
    exports: await prune(db.system, DELETE_OLD_EXPORTS, { hours: KEPT_HOURS }, pace),
    tests: await prune(db.system, DELETE_LEFT_TESTS, {}, pace),
  }
}

/** Deletes history, archives and tests of contracts that are too old, once a day. */
export const pruneJob: Job = {
  name: 'contracts.prune',
  data: Joi.object({}),
  every: '50 3 * * *',
  concurrency: { local: 1 },
  work: (_data, { server, signal }) => pruneContracts(server.db, server.config, { signal }),
}
