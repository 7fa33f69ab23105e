import type { Transaction } from '../../server/database/database.ts'
import type { AttentionItem } from '../alerts/api.ts'
import type { HealthPart } from '../catalog/api.ts'
import { summarize } from './lists.ts'
import { IS_WATCHED, judgedTables, LAST_UPDATED, READINESS_SQL, type JudgedTable } from './readiness.ts'

const MAX_LISTED = 20

/** Counts of monitored tables, and the watched ones that are stale or could not be checked. */
export async function readFreshnessHealth(trx: Transaction): Promise<HealthPart> {
  const tables = await judgedTables(trx)
    .whereRaw(`${IS_WATCHED} and ${READINESS_SQL} in ('not_ready', 'error')`)
    .orderByRaw(`checks.status <> 'error' desc, ${LAST_UPDATED}, checks.id`)
    .limit(MAX_LISTED)
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
