import type { PartsUse } from '../../../checks/scan-parts.ts'
import { presentPartsUse } from '../parts/parts-use.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { AssetExtension, SessionUse, TableContext } from '../../catalog/api.ts'

/** How long the costs of a day are kept, in days. */
export const COST_RETENTION_DAYS = 90

/**
 * Adds what a scan of a table used to that of the day, and remembers it as the last. A scan that sent no statement cost
 * nothing, and is no news.
 * @param scan.checks how many it measured
 * @param scan.parts what it read of the parts of the table, unless it read it whole
 */
export async function saveScanCost(
  trx: Transaction,
  { source, table }: TableContext,
  { checks, use, parts }: { checks: number; use: SessionUse | null; parts?: PartsUse | undefined },
): Promise<void> {
  if (!use || use.statements === 0) return
  await rows(
    trx,
    `insert into scan_costs as c (company_id, source_id, table_id, day, scans, statements, rows, bytes, milliseconds,
       last_at, last_checks, last_statements, last_rows, last_bytes, last_milliseconds,
       parts, parts_read, rows_read, rows_known, last_parts, last_parts_read, last_rows_read, last_rows_known)
     values (:companyId, :sourceId, :tableId, cast(now() at time zone 'utc' as date), 1, :statements, :rows, :bytes,
       :milliseconds, now(), :checks, :statements, :rows, :bytes, :milliseconds,
       coalesce(:parts, 0), coalesce(:partsRead, 0), coalesce(:rowsRead, 0), coalesce(:rowsKnown, 0),
       :parts, :partsRead, :rowsRead, :rowsKnown)
     on conflict (table_id, day) do update set
       scans = c.scans + 1, statements = c.statements + excluded.statements, rows = c.rows + excluded.rows,
       bytes = c.bytes + excluded.bytes, milliseconds = c.milliseconds + excluded.milliseconds,
       last_at = excluded.last_at, last_checks = excluded.last_checks, last_statements = excluded.last_statements,
       last_rows = excluded.last_rows, last_bytes = excluded.last_bytes, last_milliseconds = excluded.last_milliseconds,
       parts = c.parts + excluded.parts, parts_read = c.parts_read + excluded.parts_read,
       rows_read = c.rows_read + excluded.rows_read, rows_known = c.rows_known + excluded.rows_known,
       last_parts = excluded.last_parts, last_parts_read = excluded.last_parts_read,
       last_rows_read = excluded.last_rows_read, last_rows_known = excluded.last_rows_known`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      tableId: table.id,
      checks,
      statements: use.statements,
      rows: use.rows,
      bytes: use.bytes,
      milliseconds: Math.round(use.milliseconds),
      parts: parts?.parts ?? null,
      partsRead: parts?.read ?? null,
      rowsRead: parts?.rowsRead ?? null,
      rowsKnown: parts?.rowsKnown ?? null,
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
  lastParts: string | null
  lastPartsRead: string | null
  lastRowsRead: string | null
  lastRowsKnown: string | null
}

/** Adds the last scan to the record of a table. */
export const costExtension: AssetExtension = {
  singleTableFields: (companyId, tableId) => ({
    reading: {
      name: 'last scan',
      text: `select table_id, last_at, last_checks, last_statements, last_rows, last_bytes, last_milliseconds,
          last_parts, last_parts_read, last_rows_read, last_rows_known
        from scan_costs where company_id = :company_id and table_id = :id order by day desc limit 1`,
      bindings: { company_id: companyId, id: tableId },
    },
    fieldsByTable: found => {
      const [last] = found as readonly LastScanRow[]
      return new Map([[tableId, { last_scan: last ? presentLastScan(last) : null }]])
    },
  }),
}

function presentLastScan(last: LastScanRow) {
  return {
    at: last.lastAt,
    checks: last.lastChecks,
    statements: Number(last.lastStatements),
    rows: Number(last.lastRows),
    bytes: Number(last.lastBytes),
    duration_ms: Number(last.lastMilliseconds),
    parts:
      last.lastParts === null
        ? null
        : presentPartsUse({
            parts: Number(last.lastParts),
            read: Number(last.lastPartsRead),
            rowsRead: Number(last.lastRowsRead),
            rowsKnown: Number(last.lastRowsKnown),
          }),
  }
}
