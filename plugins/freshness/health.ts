import type { Transaction } from '../../server/database/database.ts'
import type { AttentionItem } from '../alerts/api.ts'
import type { HealthPart } from '../catalog/api.ts'
import { summarize } from './lists.ts'
import {
  hasReadiness,
  IS_WATCHED,
  judgedTables,
  LAST_UPDATED,
  schedulesWithSources,
  type JudgedTable,
} from './readiness.ts'

const MAX_LISTED = 20
const STALE_FIRST = `checks.status_rank, ${LAST_UPDATED}, checks.id`

/** Counts of monitored tables, and the watched ones that are stale or could not be checked. */
export async function readFreshnessHealth(trx: Transaction): Promise<HealthPart> {
  // Chosen before the join, so that the tables of others are not read.
  const worst = schedulesWithSources(trx)
    .whereRaw(`${IS_WATCHED} and ${hasReadiness(['not_ready', 'error'])}`)
    .orderByRaw(STALE_FIRST)
    .limit(MAX_LISTED)
    .select('checks.id')
  const tables = await judgedTables(trx).whereIn('checks.id', worst).orderByRaw(STALE_FIRST)
  return { name: 'freshness', summary: await summarize(trx, {}), attention: tables.map(presentProblem) }
}

function presentProblem({ readiness, qualifiedName, tableId, lastError }: JudgedTable): AttentionItem {
  const isStale = readiness === 'not_ready'
  return {
    type: 'freshness',
    severity: isStale ? 'critical' : 'warning',
    title: isStale
      ? `${qualifiedName} is stale`
      : `The freshness of ${qualifiedName} could not be checked: ${lastError}`,
    asset_id: tableId,
    asset_name: qualifiedName,
  }
}
