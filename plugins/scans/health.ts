import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { AttentionItem } from '../alerts/api.ts'
import type { HealthPart } from '../catalog/api.ts'
import type { CheckFeature, StatusCounts } from './api.ts'

const MAX_LISTED = 20

interface TableOutcomes extends StatusCounts {
  tableId: string
  qualifiedName: string
}

/** Counts of active checks by their last outcome, and the tables with failed ones. One statement. */
export async function readCheckHealth(
  features: readonly CheckFeature[],
  trx: Transaction,
): Promise<HealthPart> {
  const found = features.length === 0 ? [] : await readOutcomes(features, trx)
  const sum = (field: keyof StatusCounts) => found.reduce((total, table) => total + table[field], 0)
  const wrong = found
    .filter(({ failing, error }) => failing + error > 0)
    .sort((a, b) => b.failing - a.failing || b.error - a.error)
  return {
    name: 'checks',
    summary: { passing: sum('passing'), failing: sum('failing'), error: sum('error') },
    attention: wrong.slice(0, MAX_LISTED).map(presentTable),
  }
}

/** Outcomes by table, of active sources. */
function readOutcomes(features: readonly CheckFeature[], trx: Transaction): Promise<TableOutcomes[]> {
  const checks = features.map(
    ({ model, lastStatus }) => `select source_id, table_id, lower(${lastStatus}) as outcome
      from ${model.tableName} where company_id = :companyId and is_active and ${lastStatus} is not null`,
  )
  return rows<TableOutcomes>(
    trx,
    `select t.id as table_id, t.qualified_name,
       cast(count(*) filter (where outcome in ('pass', 'warning')) as int) as passing,
       cast(count(*) filter (where outcome = 'fail') as int) as failing,
       cast(count(*) filter (where outcome = 'error') as int) as error
     from (${checks.join(' union all ')}) c
     join tables t on t.company_id = :companyId and t.id = c.table_id
     join sources s on s.company_id = :companyId and s.id = c.source_id and s.is_active
     group by 1, 2`,
    { companyId: companyOf(trx) },
  )
}

function presentTable({ tableId, qualifiedName, failing, error }: TableOutcomes): AttentionItem {
  return {
    type: 'checks',
    severity: 'warning',
    title: `Checks of ${qualifiedName}: ${failing} failing, ${error} that could not run`,
    asset_id: tableId,
    asset_name: qualifiedName,
  }
}
