/** What has arrived, by who sent it. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'

export const FEED_TOOLS = ['dbt', 'airflow', 'spark', 'dagster', 'flink', 'manual', 'other'] as const
type FeedTool = (typeof FEED_TOOLS)[number]

/** What one producer has sent. */
interface Feed {
  /** As its events name it; `dbt` for imports of a project, `manual` for edges that people or scripts add. */
  producer: string
  tool: FeedTool
  jobs: number
  runs: number
  failedRuns: number
  edges: number
  lastEventAt: Date
  lastFailure: { job: string; message: string | null; at: string } | null
}

/** A producer has its version in its name, so that an update of a tool makes another one. */
const MAX_FEEDS = 50

const HAS_FAILED = `state in ('failed', 'aborted')`

/** The producers whose runs or edges are stored, the latest first; at most 50. */
export async function listFeeds(trx: Transaction): Promise<Feed[]> {
  const found = await rows<Omit<Feed, 'tool'>>(
    trx,
    `with reported as materialized (
       select coalesce(producer, '') as producer, job_namespace, job_name, state, error_message, last_event_at
         from lineage_runs where company_id = :companyId),
     counted as (
       select producer, count(distinct (job_namespace, job_name))::int as jobs, count(*)::int as runs,
              (count(*) filter (where ${HAS_FAILED}))::int as failed_runs, max(last_event_at) as last_event_at
         from reported group by producer),
     failures as (
       select distinct on (producer) producer,
              jsonb_build_object('job', job_name, 'message', error_message,
                                 'at', to_char(last_event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as last_failure
         from reported where ${HAS_FAILED} order by producer, last_event_at desc),
     senders as (
       select distinct producer, 'openlineage' as origin, job_namespace || '.' || job_name as detail from reported),
     edges as (
       select coalesce(s.producer, o.origin) as producer,
              count(distinct (o.upstream_id, o.downstream_id))::int as edges, max(o.last_seen_at) as last_seen_at
         from lineage_edge_origins o
         left join senders s on s.origin = o.origin and s.detail = o.detail
        where o.company_id = :companyId and o.origin in ('dbt', 'openlineage', 'manual')
        group by 1)
     select producer, coalesce(jobs, 0) as jobs, coalesce(runs, 0) as runs, coalesce(failed_runs, 0) as failed_runs,
            coalesce(edges, 0) as edges, coalesce(last_event_at, last_seen_at) as last_event_at, last_failure
       from counted full join edges using (producer) left join failures using (producer)
      order by last_event_at desc, producer limit ${MAX_FEEDS}`,
    { companyId: companyOf(trx) },
  )
  return found.map(feed => ({ ...feed, tool: toolOf(feed.producer) }))
}

/** Producers are addresses of the code that sends events: `…/integration/spark`, `…/providers-openlineage/…`. */
function toolOf(producer: string): FeedTool {
  if (producer === 'manual') return 'manual'
  return (
    (['dbt', 'airflow', 'spark', 'dagster', 'flink'] as const).find(tool => producer.includes(tool)) ??
    'other'
  )
}
