import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { AssetExtension, SessionUse, TableContext } from '../../catalog/api.ts'

/** How long the costs of a day are kept, in days. */
export const COST_RETENTION_DAYS = 90

/**
 * Adds what a scan of a table used to that of the day, and remembers it as the last. A scan that sent no statement cost
 * nothing, and is no news.
 * @param checks how many it measured
 */
export async function saveScanCost(
  trx: Transaction,
  { source, table }: TableContext,
  checks: number,
  use: SessionUse | null,
): Promise<void> {
  if (!use || use.statements === 0) return
  await rows(
    trx,
    `insert into scan_costs as c (company_id, source_id, table_id, day, scans, statements, rows, bytes, milliseconds,
       last_at, last_checks, last_statements, last_rows, last_bytes, last_milliseconds)
     values (:companyId, :sourceId, :tableId, cast(now() at time zone 'utc' as date), 1, :statements, :rows, :bytes,
       :milliseconds, now(), :checks, :statements, :rows, :bytes, :milliseconds)
     on conflict (table_id, day) do update set
       scans = c.scans + 1, statements = c.statements + excluded.statements, rows = c.rows + excluded.rows,
       bytes = c.bytes + excluded.bytes, milliseconds = c.milliseconds + excluded.milliseconds,
       last_at = excluded.last_at, last_checks = excluded.last_checks, last_statements = excluded.last_statements,
       last_rows = excluded.last_rows, last_bytes = excluded.last_bytes, last_milliseconds = excluded.last_milliseconds`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      tableId: table.id,
      checks,
      statements: use.statements,
      rows: use.rows,
      bytes: use.bytes,
      milliseconds: Math.round(use.milliseconds),
    },
  )
}

/** The last scan of a table. PostgreSQL's bigint comes as text. */
interface LastScanRow {
  tableId: string
  lastAt: Date
  lastChecks: number
  lastStatements: string
  lastRows: string
  lastBytes: string
  lastMilliseconds: string
}

/** Adds the last scan to the record of a table. */
export const costExtension: AssetExtension = {
  singleTableFields: (companyId, tableId) => ({
    reading: {
      name: 'last scan',
      text: `select table_id, last_at, last_checks, last_statements, last_rows, last_bytes, last_milliseconds
        from scan_costs where company_id = :company_id and table_id = :id order by day desc limit 1`,
      bindings: { company_id: companyId, id: tableId },
    },
    fieldsByTable: found => {
      const [last] = found as readonly LastScanRow[]
      return new Map([[tableId, { last_scan: last ? presentLastScan(last) : null }]])
    },
  }),
}

function presentLastScan(last: LastScanRow): object {
  return {
    at: last.lastAt,
    checks: last.lastChecks,
    statements: Number(last.lastStatements),
    rows: Number(last.lastRows),
    bytes: Number(last.lastBytes),
    duration_ms: Number(last.lastMilliseconds),
  }
}
