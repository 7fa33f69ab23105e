import Joi from 'joi'
import { deleteFirst, prune, type Pace, type Transact } from '../../../server/database/prune.ts'
import { rows } from '../../../server/database/database.ts'
import { ALIAS_DAYS } from '../datasets/aliases.ts'
import type { Job } from '../../../server/jobs/jobs.ts'

/** Evidence for what went wrong is looked for within days; heartbeats of streaming jobs add up. */
const RUN_DAYS = 90

/** Runs that are kept at most, the latest ones: a job that makes many leaves those of others. Tests lower them. */
export const keptRuns = { ofJob: 1_000, ofCompany: 100_000 }

const DELETE_OLD_RUNS = deleteFirst(
  'lineage_runs',
  'last_event_at',
  'last_event_at < now() - make_interval(days => :days)',
)

const DELETE_OLD_ALIASES = deleteFirst(
  'lineage_aliases',
  'last_seen_at',
  'last_seen_at < now() - make_interval(days => :days)',
)

/**
 * Each hour, deletes runs without an event for 90 days, or as long as results are kept, and those beyond what is kept, and
 * other names of datasets that no event used for so long as edges are kept.
 */
export const pruneRunsJob: Job = {
  name: 'lineage.prune-runs',
  data: Joi.object({}),
  every: '55 * * * *',
  concurrency: { local: 1 },
  async work(_data, { server, signal }) {
    const days = Math.min(RUN_DAYS, server.config.retentionResultsDays)
    const { system } = server.db
    return {
      runs: await prune(system, DELETE_OLD_RUNS, { days }, { signal }),
      excess_of_jobs: await pruneExcess(system, OF_JOB, keptRuns.ofJob, { signal }),
      excess_of_companies: await pruneExcess(system, OF_COMPANY, keptRuns.ofCompany, { signal }),
      aliases: await prune(system, DELETE_OLD_ALIASES, { days: ALIAS_DAYS }, { signal }),
    }
  },
}

/** What a limit counts by: the first columns of an index, so that counting reads no rows. */
const OF_COMPANY = ['company_id'] as const
const OF_JOB = ['company_id', 'job_namespace', 'job_name'] as const

/** Deletes runs beyond the latest ones of each company, or of each of its jobs. @returns how many */
async function pruneExcess(
  transact: Transact,
  by: readonly string[],
  most: number,
  pace: Pace,
): Promise<number> {
  const [columns, isOfGroup] = [by.join(', '), by.map(name => `r.${name} = g.${name}`).join(' and ')]
  const groups = await transact(trx =>
    rows<{ key: object; at: string; id: string }>(
      trx,
      // As text: a Date would drop the microseconds.
      `select to_jsonb(g) as key, cast(k.last_event_at as text) as at, k.id
         from (select ${columns} from lineage_runs group by ${columns} having count(*) > :most) g
        cross join lateral (select last_event_at, id from lineage_runs r where ${isOfGroup}
                             order by last_event_at desc, id desc offset :most - 1 limit 1) k`,
      { most },
    ),
  )
  const isOfKey = by.map(
    name => `${name} = cast(cast(:key as jsonb) ->> '${name}' as ${TYPES[name] ?? 'text'})`,
  )
  const isOlder = '(last_event_at, id) < (cast(:at as timestamptz), cast(:id as uuid))'
  const statement = deleteFirst('lineage_runs', 'last_event_at', [...isOfKey, isOlder].join(' and '))
  let deleted = 0
  for (const { key, at, id } of groups)
    deleted += await prune(transact, statement, { key: JSON.stringify(key), at, id }, pace)
  return deleted
}

const TYPES: Readonly<Record<string, string>> = { company_id: 'uuid' }
