import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { AttentionItem } from '../alerts/api.ts'
import type { HealthPart } from '../catalog/api.ts'
import { isOfKinds } from './list/list-columns.ts'
import type { CheckDeps } from './deps.ts'

const MAX_LISTED = 20

/** A table with checks that fail or could not run; its fields are null in the row that stands for none. */
interface FailingTable {
  tableId: string | null
  qualifiedName: string
  failing: number
  error: number
}

/** Counts of active checks by their last outcome, and the tables with failed ones. One statement. */
export async function readCheckHealth(kinds: CheckDeps['kinds'], trx: Transaction): Promise<HealthPart> {
  const found = await readOutcomes(kinds, trx)
  const [totals] = found
  return {
    name: 'checks',
    summary: {
      passing: totals?.allPassing ?? 0,
      failing: totals?.allFailing ?? 0,
      error: totals?.allError ?? 0,
    },
    attention: found.flatMap(table => (table.tableId === null ? [] : presentTable(table))),
  }
}

/** Outcomes of active sources, and the tables with most failures: thousands of tables may have checks. */
function readOutcomes(kinds: CheckDeps['kinds'], trx: Transaction) {
  return rows<FailingTable & { allPassing: number; allFailing: number; allError: number }>(
    trx,
    `with counted as (
       select c.table_id,
         cast(count(*) filter (where status in ('pass', 'warning')) as int) as passing,
         cast(count(*) filter (where status = 'fail') as int) as failing,
         cast(count(*) filter (where status = 'error') as int) as error
       from checks c
       join sources s on s.company_id = :companyId and s.id = c.source_id and s.is_active
       where c.company_id = :companyId and c.is_active and c.status is not null and ${isOfKinds(kinds, 'c')}
       group by 1)
     select totals.*, listed.*
     from (select cast(sum(passing) as int) as all_passing, cast(sum(failing) as int) as all_failing,
         cast(sum(error) as int) as all_error from counted) totals
     left join (select o.table_id, t.qualified_name, o.failing, o.error
       from (select table_id, failing, error from counted where failing + error > 0
         order by failing desc, error desc, table_id limit :limit) o
       join tables t on t.company_id = :companyId and t.id = o.table_id
       order by o.failing desc, o.error desc, o.table_id) listed on true`,
    { companyId: companyOf(trx), limit: MAX_LISTED },
  )
}

function presentTable({ tableId, qualifiedName, failing, error }: FailingTable): AttentionItem {
  return {
    type: 'checks',
    severity: 'warning',
    title: `Checks of ${qualifiedName}: ${failing} failing, ${error} that could not run`,
    asset_id: tableId,
    asset_name: qualifiedName,
  }
}
