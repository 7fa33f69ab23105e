import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { JobRun, LookUps } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import type { Finding, Member } from './cause.ts'
import type { Flow } from './flow.ts'
import { kindsShowing } from './symptoms.ts'

/** How far above an alert a finding is looked for. */
const MAX_HOPS = 3
const HOUR_MS = 3_600_000
/** Before the first alert; a pipeline of the night shows in the morning. */
const MAX_AGE_HOURS = 24

/**
 * What is known to have gone wrong at alerts or above them beside the alerts of their incidents: the last runs of jobs that
 * failed, where pipelines report their runs, and schema changes that their discovery put with others.
 */
export async function findFindings(
  deps: Pick<Deps, 'kinds' | 'lookUps'>,
  trx: Transaction,
  members: readonly Member[],
  flow: Flow,
): Promise<Finding[]> {
  const near = new Set(
    members.flatMap(({ assetId }) => [
      assetId,
      ...[...flow.above(assetId)].flatMap(([id, distance]) => (distance <= MAX_HOPS ? [id] : [])),
    ]),
  )
  const tableIds = [...near].filter(id => flow.table(id))
  if (tableIds.length === 0) return []
  const first = Math.min(...members.map(({ createdAt }) => createdAt.getTime()))
  const since = new Date(first - MAX_AGE_HOURS * HOUR_MS)
  return [
    ...(await findFailedRuns(deps.lookUps, trx, tableIds, since, flow)),
    ...(await findSharedChanges(deps, trx, tableIds, { since, first: new Date(first) })),
  ]
}

/** Schema changes of some tables that can break something, in incidents of several changes of one discovery. */
async function findSharedChanges(
  { kinds }: Pick<Deps, 'kinds'>,
  trx: Transaction,
  tableIds: readonly string[],
  { since, first }: { since: Date; first: Date },
): Promise<Finding[]> {
  const changes = await rows<Omit<Finding, 'symptom'>>(
    trx,
    `select a.id as alert_id, a.kind as event_type, a.asset_id, a.severity, a.created_at, a.title as summary,
            a.event #>> '{asset,qualified_name}' as qualified_name
       from alerts a
       join incident_alerts ia on ia.company_id = :companyId and ia.alert_id = a.id
       join incidents i on i.company_id = :companyId and i.id = ia.incident_id and i.arranged_by is null
      where a.company_id = :companyId and a.asset_id = any(cast(:tableIds as uuid[])) and a.created_at >= :since
        and a.kind = any(cast(:driftKinds as text[])) and a.severity <> 'info'
        and (a.resolved_at is null or a.resolved_at >= :first)
        and exists (
          select from incident_alerts other join alerts b on b.company_id = :companyId and b.id = other.alert_id
           where other.company_id = :companyId and other.incident_id = ia.incident_id and b.id <> a.id
             and b.kind = a.kind and b.source_id = a.source_id and b.created_at = a.created_at)`,
    {
      companyId: companyOf(trx),
      tableIds: [...tableIds],
      since,
      first,
      driftKinds: kindsShowing(kinds, 'drift'),
    },
  )
  return changes.map(change => ({ ...change, symptom: 'drift' as const }))
}

/** The last runs of jobs that write some tables, of those that failed. */
export async function findFailedRuns(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  tableIds: readonly string[],
  since: Date,
  flow: Pick<Flow, 'table'>,
): Promise<Finding[]> {
  const runs = (await lookUps.lineage?.runsOf(trx, tableIds, since)) ?? []
  // The latest first: a job that ran well since has no part in it.
  const latest = new Map<string, JobRun>()
  for (const run of runs) {
    const key = `${run.tableId} ${run.jobNamespace} ${run.jobName}`
    if (run.state !== 'running' && !latest.has(key)) latest.set(key, run)
  }
  return [...latest.values()].flatMap(({ tableId, state, jobName, errorMessage, endedAt, lastEventAt }) => {
    if (state === 'completed') return []
    const qualifiedName = flow.table(tableId)?.qualifiedName ?? tableId
    const reason = errorMessage ? `: ${firstLine(errorMessage)}` : ''
    const summary = `The job ${jobName}, which writes ${qualifiedName}, ${state === 'failed' ? 'failed' : 'was aborted'}${reason}`
    const createdAt = endedAt ?? lastEventAt
    return [
      {
        symptom: 'failed_run' as const,
        eventType: 'failed_run',
        assetId: tableId,
        qualifiedName,
        createdAt,
        summary,
        severity: 'warning' as const,
        alertId: null,
      },
    ]
  })
}

const MAX_MESSAGE_CHARACTERS = 300

/** The first line of a message, which may be a whole stack. */
function firstLine(message: string): string {
  const [line = ''] = message.trim().split('\n')
  return line.length > MAX_MESSAGE_CHARACTERS ? `${line.slice(0, MAX_MESSAGE_CHARACTERS)}…` : line
}
