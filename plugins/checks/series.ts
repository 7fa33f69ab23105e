import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { CheckSeries } from './check-series.ts'
import type { CheckDeps } from './deps.ts'
import { NAME_OF_METRIC, publicIdText, RESULTS_OF_CHECK } from './list/list-columns.ts'

/** The most results of a series: 90 days of an hourly check. */
const MAX_POINTS = 2_200

interface SeriesRow {
  kind: string
  name: string
  columnName: string | null
  type: string
  hasSeries: boolean
  results:
    [at: number, value: number | null, status: string, low: number | null, high: number | null][] | null
}

/** The last results of one check of a table as one series; undefined when there is no such check. */
export async function readSeries(
  { catalog, kinds, types }: Pick<CheckDeps, 'catalog' | 'kinds' | 'types'>,
  trx: Transaction,
  { tableId, checkId, days }: { tableId: string; checkId: string; days: number },
): Promise<CheckSeries | undefined> {
  const loaded = await catalog.loadTable(trx, tableId)
  if (!loaded) return undefined
  const [found] = await rows<SeriesRow>(
    trx,
    `select c.kind, coalesce(c.name, ${NAME_OF_METRIC}) as name, c.column_name, c.type,
       c.has_series, case when c.has_series then (
         select json_agg(json_build_array(floor(extract(epoch from r.at) * 1000), r.value, r.status, r.low, r.high)
           order by r.at, r.id)
         from (${RESULTS_OF_CHECK} limit ${MAX_POINTS}) r where r.at > now() - make_interval(days => :days)) end as results
     from (select *, group_by_columns = '{}' as has_series, ${publicIdText(kinds)} as public_id from checks
       where company_id = :companyId and table_id = :tableId) c
     where c.public_id = :checkId`,
    { companyId: companyOf(trx), tableId, checkId, days },
  )
  if (!found) return undefined
  const { kind, name, columnName, type, hasSeries } = found
  const personal = catalog.personalColumns(loaded)
  const isRevealing = types.has(type) && types.get(type).revealsValue !== undefined
  return {
    kind,
    name,
    table: loaded.table.name,
    hasSeries,
    // Results from before the column was tagged are stored as they were.
    isHidden: isRevealing && columnName !== null && personal.has(columnName),
    points: (found.results ?? []).map(([at, value, status, low, high]) => ({ at, value, status, low, high })),
  }
}
