import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { LineageEnd, LineageRun, LineageRunState, OutsideNode } from '../api.ts'

/** What is known of a run from one event, or from the results of a tool. */
export interface ReportedRun {
  jobNamespace: string
  jobName: string
  runId: string
  state: LineageRunState
  at: Date
  /** When it began, where this says so. */
  startedAt?: Date | null
  nominalStart?: Date | null
  nominalEnd?: Date | null
  errorMessage?: string | null
  parent?: object | null
  producer: string
}

/**
 * Stores runs, which the same events may report again or in another order: an ended run does not run again, and of two
 * ends the later one counts.
 * @returns the ids of the rows in the order of the runs
 */
export async function storeRuns(trx: Transaction, runs: readonly ReportedRun[]): Promise<string[]> {
  if (runs.length === 0) return []
  const stored = await rows<{ id: string; jobNamespace: string; jobName: string; runId: string }>(
    trx,
    `insert into lineage_runs as r
       (id, company_id, job_namespace, job_name, run_id, state, started_at, ended_at, nominal_start_at, nominal_end_at,
        error_message, parent, producer, last_event_at)
     select g.id, :companyId, g."jobNamespace", g."jobName", g."runId", g.state, g."startedAt",
            case when g.state <> 'running' then g.at end, g."nominalStart", g."nominalEnd", g."errorMessage", g.parent,
            g.producer, g.at
       from jsonb_to_recordset(cast(:runs as jsonb)) as g
         (id uuid, "jobNamespace" text, "jobName" text, "runId" uuid, state text, at timestamptz,
          "startedAt" timestamptz, "nominalStart" timestamptz, "nominalEnd" timestamptz, "errorMessage" text,
          parent jsonb, producer text)
      order by g."jobNamespace" collate "C", g."jobName" collate "C", g."runId"
     on conflict (company_id, job_namespace, job_name, run_id) do update set
       state = case when ${REPLACES_STATE} then excluded.state else r.state end,
       ended_at = case when ${REPLACES_STATE} then excluded.ended_at else r.ended_at end,
       started_at = least(r.started_at, excluded.started_at),
       nominal_start_at = coalesce(excluded.nominal_start_at, r.nominal_start_at),
       nominal_end_at = coalesce(excluded.nominal_end_at, r.nominal_end_at),
       error_message = coalesce(excluded.error_message, r.error_message),
       parent = coalesce(excluded.parent, r.parent),
       last_event_at = greatest(r.last_event_at, excluded.last_event_at)
     returning id, job_namespace, job_name, run_id`,
    {
      companyId: companyOf(trx),
      runs: JSON.stringify(runs.map(run => ({ ...run, id: v7() }))),
    },
  )
  const keyOf = (run: Pick<ReportedRun, 'jobNamespace' | 'jobName' | 'runId'>) =>
    JSON.stringify([run.jobNamespace, run.jobName, run.runId])
  const ids = new Map(stored.map(run => [keyOf(run), run.id]))
  return runs.map(run => ids.get(keyOf(run)) ?? '')
}

const REPLACES_STATE = `(excluded.state <> 'running'
  and (r.state = 'running' or r.ended_at is null or excluded.ended_at >= r.ended_at))`

export interface RunEnd {
  lineageRunId: string
  direction: 'input' | 'output'
  endId: string
}

/** Adds what runs read and wrote. */
export async function storeRunEnds(trx: Transaction, ends: readonly RunEnd[]): Promise<void> {
  if (ends.length === 0) return
  await trx.raw(
    `insert into lineage_run_ends (company_id, lineage_run_id, direction, end_id)
     select distinct cast(:companyId as uuid), g.run_id, g.direction, g.end_id
       from unnest(cast(:runs as uuid[]), cast(:directions as text[]), cast(:ends as uuid[]))
         as g (run_id, direction, end_id)
      order by 2, 3, 4
     on conflict do nothing`,
    {
      companyId: companyOf(trx),
      runs: ends.map(({ lineageRunId }) => lineageRunId),
      directions: ends.map(({ direction }) => direction),
      ends: ends.map(({ endId }) => endId),
    },
  )
}

/** Everything that the events of a run named so far. */
export async function readRunEnds(
  trx: Transaction,
  lineageRunId: string,
): Promise<{ direction: RunEnd['direction']; id: string; end: LineageEnd }[]> {
  const found = await rows<
    Pick<OutsideNode, 'kind'> & {
      direction: RunEnd['direction']
      endId: string
      namespace: string | null
      name: string
    }
  >(
    trx,
    `select e.direction, e.end_id, n.kind, n.namespace, n.name from lineage_run_ends e
       left join lineage_nodes n on n.company_id = :companyId and n.id = e.end_id
      where e.company_id = :companyId and e.lineage_run_id = :lineageRunId
      order by e.direction, e.end_id`,
    { companyId: companyOf(trx), lineageRunId },
  )
  return found.map(({ direction, endId, namespace, name, kind }) => ({
    direction,
    id: endId,
    end: namespace === null ? { tableId: endId } : { outside: { kind, namespace, name } },
  }))
}

const MAX_RUNS = 1_000

/** Runs that write some tables, or tables of a source, and had an event since a time, the latest first; at most 1,000. */
export function listRunsOf(
  trx: Transaction,
  target: { tableIds: readonly string[] } | { sourceId: string },
  since: Date,
): Promise<LineageRun[]> {
  const isTarget =
    'tableIds' in target
      ? 'e.end_id = any(cast(:ids as uuid[]))'
      : `e.end_id in (select id from tables where company_id = :companyId and source_id = cast(:sourceId as uuid))`
  return rows<LineageRun>(
    trx,
    `select r.id, e.end_id as table_id, r.job_namespace, r.job_name, r.run_id, r.state, r.started_at, r.ended_at,
            r.nominal_start_at, case when r.state in ('failed', 'aborted') then r.error_message end as error_message,
            r.last_event_at
       from lineage_run_ends e
       join lineage_runs r on r.company_id = :companyId and r.id = e.lineage_run_id
      where e.company_id = :companyId and e.direction = 'output' and ${isTarget}
        and r.last_event_at >= :since
      order by r.last_event_at desc, r.id, e.end_id limit ${MAX_RUNS}`,
    {
      companyId: companyOf(trx),
      since,
      ...('tableIds' in target ? { ids: [...target.tableIds] } : { sourceId: target.sourceId }),
    },
  )
}
