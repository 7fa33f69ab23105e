import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Impact } from './diff.ts'
import type { TableFields } from '../assets/asset-extensions.ts'

/** The number of unacknowledged schema changes, and the worst impact among them. */
export interface OpenChanges {
  count: number
  worst: Impact
}

interface OpenRow {
  id: string
  count: number
  worst: number
}

const IMPACTS_BY_RANK: readonly Impact[] = ['low', 'medium', 'high']
const WORST_RANK = `max(case impact when 'high' then 2 when 'medium' then 1 else 0 end)`

/** Open changes of some sources; those without any are left out. */
export async function openChangesOfSources(trx: Transaction, sourceIds: readonly string[]) {
  return byId(
    await rows<OpenRow>(
      trx,
      `select source_id as id, count(*)::int as count, ${WORST_RANK} as worst from schema_changes
       where company_id = ? and source_id = any(?) and not is_acknowledged group by 1`,
      [companyOf(trx), [...sourceIds]],
    ),
  )
}

/** The worst impact among the open changes of each table, as fields of its record. */
export function openChangesOfTables(companyId: string, tableIds: readonly string[]): TableFields<OpenRow> {
  return {
    reading: {
      name: 'open changes',
      // By way of their sources, which the index of open changes starts with.
      text: `select t.id, cast(count(*) as int) as count, ${WORST_RANK} as worst
        from tables t join schema_changes c on c.company_id = t.company_id and c.source_id = t.source_id
          and c.table_id = t.id and not c.is_acknowledged
        where t.company_id = :company_id and t.id = any(cast(:ids as uuid[])) group by 1`,
      bindings: { company_id: companyId, ids: [...tableIds] },
    },
    fieldsByTable: found =>
      new Map([...byId(found)].map(([id, { worst }]) => [id, { schema_change_status: worst }])),
  }
}

function byId(found: readonly OpenRow[]): Map<string, OpenChanges> {
  return new Map(found.map(({ id, count, worst }) => [id, { count, worst: IMPACTS_BY_RANK[worst] ?? 'low' }]))
}
