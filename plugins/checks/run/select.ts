import { raw } from 'objection'
import type { CheckOutcome } from '../../../checks/check.ts'
import type { PartsUse } from '../../../checks/scan-parts.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { ScanRunOptions } from '../types.ts'
import type { CheckDeps } from '../deps.ts'
import { CheckRow, type CheckResult } from '../models.ts'
import { runScan, type Selection } from './scan.ts'

/** Scans a check's table for this check alone; undefined when it is gone. */
export async function runRow(
  deps: CheckDeps,
  row: CheckRow,
  choice?: ScanRunOptions,
): Promise<{ results: CheckResult[]; outcome: CheckOutcome; parts: PartsUse | null } | undefined> {
  const { companyId, tableId, id } = row
  const selection: Selection = trx => queryWithDue(deps, trx).findByIds([id])
  const { checks, parts } = await runScan(deps, { companyId, tableId, which: 'asked' }, selection, choice)
  return checks[0] && { ...checks[0], parts }
}

/** Scans a table once for the checks of all kinds: those the sweep claimed, or all active ones. */
export async function runTable(
  deps: CheckDeps,
  { companyId, tableId, which }: { companyId: string; tableId: string; which: 'claimed' | 'active' },
  choice?: ScanRunOptions,
): Promise<{ checks: number; statements: number }> {
  const { asked, statements } = await runScan(
    deps,
    { companyId, tableId, which: which === 'claimed' ? 'claimed' : 'asked' },
    selectChecks(deps, tableId, which),
    choice,
  )
  return { checks: asked, statements }
}

/** Checks of the kinds that are loaded, and whether each is due. */
function queryWithDue({ kinds }: Pick<CheckDeps, 'kinds'>, trx: Transaction) {
  return CheckRow.query(trx)
    .whereIn('kind', [...kinds.keys()])
    .select('checks.*', raw('(is_active and next_run_at <= now()) as is_due'))
    .orderBy('checks.id')
}

/** The checks of a table: those the sweep claimed, or all active ones. */
export function selectChecks(
  deps: Pick<CheckDeps, 'kinds'>,
  tableId: string,
  which: 'claimed' | 'active',
): Selection {
  return trx => {
    const active = queryWithDue(deps, trx).where({ tableId, isActive: true })
    return which === 'claimed' ? active.whereNotNull('runningSlot') : active
  }
}
