import Joi from 'joi'
import type { Database } from '../../../server/database/database.ts'
import { deleteFirst, prune, type Pace } from '../../../server/database/prune.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import type { LineageOrigin } from '../api.ts'

/** Days after which an edge counts as stale that its origin would have reported again, and after which it goes. */
const STALE_DAYS = 30
const KEPT_DAYS = 90

/**
 * Reports what happens, and never all of it: what it does not report any more fades. The others report all there is, and
 * what they miss goes at once; what was added by hand stays.
 */
const FADING_ORIGIN: LineageOrigin = 'openlineage'

const DAY_MS = 86_400_000

/** Whether an origin has not reported an edge for so long that it may be gone. */
export function isStale(
  { origin, lastSeenAt }: { origin: LineageOrigin; lastSeenAt: Date },
  now: number,
): boolean {
  return origin === FADING_ORIGIN && now - lastSeenAt.getTime() > STALE_DAYS * DAY_MS
}

const ofEdge = (table: string) =>
  `${table}.company_id = lineage_edges.company_id and ${table}.upstream_id = lineage_edges.upstream_id
     and ${table}.downstream_id = lineage_edges.downstream_id`

const DELETE_FADED = deleteFirst(
  'lineage_edge_origins',
  'last_seen_at',
  `origin = '${FADING_ORIGIN}' and last_seen_at < now() - make_interval(days => :days)`,
)

/** The version before stores edges of the demo without origins. */
const DELETE_EDGES = deleteFirst(
  'lineage_edges',
  'created_at',
  `not is_demo and not exists (select from lineage_edge_origins o where ${ofEdge('o')})`,
)

const DELETE_NODES = deleteFirst(
  'lineage_nodes',
  'last_seen_at',
  `last_seen_at < now() - interval '1 day'
     and not exists (select from lineage_edges e where e.company_id = lineage_nodes.company_id
                        and e.upstream_id = lineage_nodes.id)
     and not exists (select from lineage_edges e where e.company_id = lineage_nodes.company_id
                        and e.downstream_id = lineage_nodes.id)`,
)

/** Edges that foreign keys alone report now are no flow. */
const SETTLE_FLOW = `update lineage_edges set is_flow = false
  where is_flow
    and exists (select from lineage_edge_origins o where ${ofEdge('o')} and o.origin = 'foreign_key')
    and not exists (select from lineage_edge_origins o where ${ofEdge('o')} and o.origin <> 'foreign_key')`

/** Removes edges that pipelines have not reported for long, and outside nodes that have no edge, of all companies. */
export async function pruneLineage({ db }: { db: Database }, pace?: Pace) {
  const faded = await prune(db.system, DELETE_FADED, { days: KEPT_DAYS }, pace)
  const edges = await prune(db.system, DELETE_EDGES, {}, pace)
  await db.system(trx => trx.raw(SETTLE_FLOW))
  return { faded, edges, nodes: await prune(db.system, DELETE_NODES, {}, pace) }
}

/** Once a day. */
export const pruneJob: Job = {
  name: 'lineage.prune',
  data: Joi.object({}),
  every: '50 3 * * *',
  concurrency: { local: 1 },
  work: (_data, { server, signal }) => pruneLineage(server, { signal }),
}
