import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { CheckFeature, CheckSeries } from './api.ts'

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
  server: Server,
  features: readonly CheckFeature[],
  trx: Transaction,
  { tableId, checkId, days }: { tableId: string; checkId: string; days: number },
): Promise<CheckSeries | undefined> {
  const parts = features.flatMap(({ list }) => list ?? [])
  const loaded = await server.plugins.catalog.loadTable(trx, tableId)
  if (!loaded || parts.length === 0) return undefined
  const checks = parts.map(
    ({ kind, checks }) => `select c.*, '${kind}' as kind from (${checks}) c
      where c.company_id = :companyId and c.table_id = :tableId and c.id = :checkId`,
  )
  const results = parts.map(
    ({ kind, results }) => `when '${kind}' then (
      select json_agg(json_build_array(floor(extract(epoch from r.at) * 1000), r.value, lower(r.status), r.low, r.high)
        order by r.at, r.id)
      from (${results} limit ${MAX_POINTS}) r where r.at > now() - make_interval(days => :days))`,
  )
  const [found] = await rows<SeriesRow>(
    trx,
    `select c.kind, coalesce(c.name, concat_ws(' of ', c.type, c.column_name)) as name, c.column_name, c.type, c.has_series,
       case when c.has_series then case c.kind ${results.join(' ')} end end as results
     from (${checks.join(' union all ')}) c`,
    { companyId: companyOf(trx), tableId, checkId, days },
  )
  if (!found) return undefined
  const { kind, name, columnName, type, hasSeries } = found
  const personal = server.plugins.catalog.personalColumns(loaded)
  const isRevealing = server.checks.has(type) && server.checks.get(type).revealsValue !== undefined
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
