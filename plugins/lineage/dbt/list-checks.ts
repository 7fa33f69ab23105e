import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Page } from '../../../server/http/page.ts'
import type { Asset } from '../../catalog/api.ts'
import type { TestStatus } from './test-results.ts'

/** A test of another tool with its last result. */
export interface ExternalCheck {
  id: string
  sourceId: string
  /** The table; null where the catalog does not have it. */
  assetId: string | null
  tablePath: string | null
  columnName: string | null
  project: string
  uniqueId: string
  name: string
  testType: string | null
  severity: 'error' | 'warn'
  status: TestStatus | null
  failures: number | null
  message: string | null
  runAt: Date | null
  since: Date | null
}

/** One page of the tests of all sources, or of an asset; those that fail first. */
export async function listChecks(
  trx: Transaction,
  { asset, status, limit, offset }: Page & { asset?: Asset | undefined; status?: string | undefined },
): Promise<{ checks: ExternalCheck[]; total: number }> {
  const found = await rows<ExternalCheck & { total: number }>(
    trx,
    `with chosen as materialized (
       select * from external_checks c
        where c.company_id = :companyId
          and (cast(:sourceId as uuid) is null or c.source_id = cast(:sourceId as uuid))
          and (cast(:tableId as uuid) is null or c.table_id = cast(:tableId as uuid))
          and (cast(:status as text) is null or c.status = cast(:status as text)))
     select counted.total, page.* from (select count(*)::int as total from chosen) counted
       left join lateral (
         select id, source_id, table_id as asset_id, table_path, column_name, project, unique_id, name, test_type,
                severity, status, failures::float as failures, message, run_at, since
           from chosen
          order by array_position(array['fail', 'error', 'warn', 'pass'], status), project, unique_id, id
          limit :limit offset :offset) page on true`,
    {
      companyId: companyOf(trx),
      sourceId: asset && !asset.table ? asset.source.id : null,
      tableId: asset?.table?.id ?? null,
      status: status ?? null,
      limit,
      offset,
    },
  )
  // Behind the last page there is the total alone.
  const checks = found.filter(({ id }) => id !== null).map(({ total: _total, ...check }) => check)
  return { checks, total: found[0]?.total ?? 0 }
}
