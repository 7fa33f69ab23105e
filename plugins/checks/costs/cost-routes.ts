import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { formatName } from '../../../connectors/catalog.ts'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { partsReply } from '../../../server/http/check-schemas.ts'
import { exampleRecord, held, inItems, reply } from '../../../server/http/envelopes.ts'
import { pageQuery, pagination, queryInteger, type Page } from '../../../server/http/page.ts'
import type { CheckDeps } from '../deps.ts'
import { presentPartsUse } from '../parts/parts-use.ts'
import { isOfKinds } from '../list/list-columns.ts'
import { COST_RETENTION_DAYS } from './costs.ts'

const { id, text, time, count } = held

/** What tables are ordered by, and the sum of the statement that it is. */
const ORDERS = { seconds: 'milliseconds', statements: 'statements', rows: 'rows', bytes: 'bytes' } as const

interface CostQuery extends Page {
  asset_id?: string
  days: number
  order_by: keyof typeof ORDERS
}

const query = Joi.object<CostQuery>({
  asset_id: Joi.string()
    .max(1_000)
    .description('The id or qualified name of a source or a table; defaults to all sources.'),
  days: queryInteger(1, COST_RETENTION_DAYS)
    .default(30)
    .description('The number of days until today, UTC; defaults to 30.'),
  order_by: Joi.valid(...Object.keys(ORDERS))
    .default('seconds')
    .description('What the tables are ordered by, the most first; defaults to seconds.'),
  ...pageQuery({ fallback: 20 }),
})

const cost = exampleRecord({
  asset_id: id.description('The table.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  qualified_name: text.example('shop.shop.public.orders'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  active_checks: count
    .description('Checks of it that are active now: rules, metrics, referential checks and comparisons.')
    .example(5),
  scans: count.example(24),
  statements: count.description('Statements sent, those of settings included.').example(72),
  rows: count.description('Rows received.').example(24),
  bytes: count.description('Bytes received; 0 where the engine does not report them.').example(2_304),
  seconds: Joi.number()
    .min(0)
    .description('From when each statement was sent until it had ended, added up.')
    .example(0.98),
  parts: partsReply,
  last_scan_at: time.example('2026-03-09T08:05:00.000Z'),
}).label('TableCost')

interface CostRow {
  tableId: string
  qualifiedName: string
  catalogName: string
  schemaName: string
  name: string
  activeChecks: number
  scans: string
  statements: string
  rows: string
  bytes: string
  milliseconds: string
  parts: string
  partsRead: string
  rowsRead: string
  rowsKnown: string
  lastAt: Date
}

/** The route that lists the tables whose scans cost most. */
export const costRoute = (kinds: CheckDeps['kinds']): ServerRoute =>
  routesOf('checks')('GET', '/api/v1/sdk/usage/tables', access.read, {
    id: 'listTableCosts',
    description: 'List the tables whose checks cost their sources most',
    notes:
      'Statements, seconds, rows and bytes that the scans of each table used, the most expensive first. The checks of a table share statements, so the cost is known by table and not by check. What is not for checks, such as discoveries, is in `GET /api/v1/sdk/assets/{asset_id}/usage`.',
    validate: { query },
    response: reply(inItems(cost)),
    handler: request =>
      inCompany(request, async trx => {
        const asked = request.query
        const asset = asked.asset_id && (await request.server.plugins.catalog.findAsset(trx, asked.asset_id))
        const ids = asset ? { sourceId: asset.source.id, tableId: asset.table?.id } : {}
        const { costs, total } = await readCosts(kinds, trx, { ...asked, ...ids })
        return { data: { items: costs.map(presentCost) }, pagination: pagination(total, asked) }
      }),
  })

/** One page of tables that were scanned in the last days, and how many there are. */
async function readCosts(
  kinds: CheckDeps['kinds'],
  trx: Transaction,
  { sourceId, tableId, days, order_by, limit, offset }: CostQuery & { sourceId?: string; tableId?: string },
): Promise<{ costs: CostRow[]; total: number }> {
  const summed = `select table_id, sum(scans) as scans, sum(statements) as statements, sum(rows) as rows,
      sum(bytes) as bytes, sum(milliseconds) as milliseconds, sum(parts) as parts,
      sum(parts_read) as parts_read, sum(rows_read) as rows_read, sum(rows_known) as rows_known, max(last_at) as last_at
    from scan_costs
    where company_id = :companyId and day > cast(now() at time zone 'utc' as date) - cast(:days as int)
      ${sourceId ? 'and source_id = :sourceId' : ''} ${tableId ? 'and table_id = :tableId' : ''}
    group by table_id`
  // The total stands beside each row, and once alone for a page past the end.
  const found = await rows<Partial<CostRow> & { total: number }>(
    trx,
    `with summed as materialized (${summed}),
       page as (select * from summed order by ${ORDERS[order_by]} desc, table_id limit :limit offset :offset),
       counted as (select cast(count(*) as int) as total from summed)
     select counted.total, page.*, t.qualified_name, t.catalog_name, t.schema_name, t.name,
       (select cast(count(*) as int) from checks k
        where k.company_id = :companyId and k.table_id = page.table_id and k.is_active
          and ${isOfKinds(kinds, 'k')}) as active_checks
     from counted
     left join (page join tables t on t.company_id = :companyId and t.id = page.table_id) on true
     order by page.${ORDERS[order_by]} desc, page.table_id`,
    { companyId: companyOf(trx), sourceId, tableId, days, limit, offset },
  )
  return {
    costs: found.filter((row): row is CostRow & { total: number } => row.tableId !== null),
    total: found[0]?.total ?? 0,
  }
}

function presentCost(row: CostRow) {
  return {
    asset_id: row.tableId,
    qualified_name: row.qualifiedName,
    table_path: formatName([row.catalogName, row.schemaName, row.name]),
    active_checks: row.activeChecks,
    scans: Number(row.scans),
    statements: Number(row.statements),
    rows: Number(row.rows),
    bytes: Number(row.bytes),
    seconds: Number(row.milliseconds) / 1_000,
    parts:
      Number(row.parts) === 0
        ? null
        : presentPartsUse({
            parts: Number(row.parts),
            read: Number(row.partsRead),
            rowsRead: Number(row.rowsRead),
            rowsKnown: Number(row.rowsKnown),
          }),
    last_scan_at: row.lastAt,
  }
}
