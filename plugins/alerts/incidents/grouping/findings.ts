import type { Transaction } from '../../../../server/database/database.ts'
import type { JobRun, LookUps } from '../../api.ts'
import type { Finding, Member } from './cause.ts'
import type { Flow } from './flow.ts'

/** How far above an alert a finding is looked for. */
const MAX_HOPS = 3
const HOUR_MS = 3_600_000
/** Before the first alert; a pipeline of the night shows in the morning. */
const MAX_AGE_HOURS = 24

/**
 * What is known to have gone wrong above alerts though no alert speaks of it: the last runs of jobs that failed, where
 * pipelines report their runs.
 */
export async function findFindings(
  lookUps: Partial<LookUps>,
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
  return findFailedRuns(lookUps, trx, tableIds, new Date(first - MAX_AGE_HOURS * HOUR_MS), flow)
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
