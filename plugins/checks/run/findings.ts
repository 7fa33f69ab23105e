import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { CheckStatus } from '../models.ts'

/** What was found of one check of a `SourceKind`, judged. */
export interface SourceFinding {
  /** The check, by its number. */
  id: string
  at: Date
  /** Null where there was nothing to judge by. */
  status: CheckStatus | null
  value: number | null
  errorMessage: string | null
  details: object
  /** The settings of the check that change with it. */
  settings: object
  /** Whether it ends the slot that was claimed for it. */
  endsSlot: boolean
}

const STORE_FINDINGS = `
  with r as materialized (
    select * from jsonb_to_recordset(cast(:findings as jsonb)) as r (
      id bigint, at timestamptz, status text, value float8, "errorMessage" text, details jsonb, settings jsonb,
      "endsSlot" boolean)
  ), updated as (
    update checks c set status = r.status, last_checked_at = r.at, settings = c.settings || r.settings,
      running_slot = case when r."endsSlot" then null else c.running_slot end
    from r where c.company_id = :companyId and c.id = r.id
  )
  insert into check_results (company_id, check_id, at, status, value, error_message, details)
  select :companyId, id, at, status, value, "errorMessage", details from r`

/** Stores what was found of any number of checks, which are locked, in one statement. */
export async function storeFindings(trx: Transaction, findings: readonly SourceFinding[]): Promise<void> {
  if (findings.length === 0) return
  await rows(trx, STORE_FINDINGS, { companyId: companyOf(trx), findings: JSON.stringify(findings) })
}

/** What a check of a `SourceKind` would have found in the past. */
export interface PastFinding {
  /** The check, by its number. */
  id: string
  at: Date
  value: number
  details: object
}

const STORE_PAST = `
  insert into check_results (company_id, check_id, at, value, details, is_backfilled)
  select :companyId, id, at, value, details, true
  from jsonb_to_recordset(cast(:findings as jsonb)) as r (id bigint, at timestamptz, value float8, details jsonb)`

/** Stores checks of the past, without verdicts, in one statement. */
export async function storePastFindings(trx: Transaction, findings: readonly PastFinding[]): Promise<void> {
  if (findings.length === 0) return
  await rows(trx, STORE_PAST, { companyId: companyOf(trx), findings: JSON.stringify(findings) })
}
