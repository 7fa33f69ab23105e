import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import type { CheckOutcome } from '../../checks/check.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { CheckFeature, ScanRunOptions, ScheduledCheck } from './api.ts'
import { runScan, type Selection } from './run.ts'

/** Scans a row's table for this row alone; undefined when the row is gone. */
export async function runRow<Row extends ScheduledCheck, Result>(
  server: Server,
  feature: CheckFeature<Row, Result>,
  row: Row,
  choice?: ScanRunOptions,
): Promise<{ result: Result; outcome: CheckOutcome } | undefined> {
  const { companyId, tableId } = row
  const selection: Selection = {
    feature: feature as unknown as CheckFeature,
    rows: trx => queryWithDue(feature as unknown as CheckFeature, trx).findByIds([row.$id() as string]),
  }
  const { results } = await runScan(server, { companyId, tableId, which: 'asked' }, [selection], choice)
  return results[0] as { result: Result; outcome: CheckOutcome } | undefined
}

/** Scans a table once for every feature's rows: those the sweep claimed, or all active ones. */
export async function runTable(
  server: Server,
  features: readonly CheckFeature[],
  { companyId, tableId, which }: { companyId: string; tableId: string; which: 'claimed' | 'active' },
  choice?: ScanRunOptions,
): Promise<{ checks: number; statements: number }> {
  const { checks, statements } = await runScan(
    server,
    { companyId, tableId, which: which === 'claimed' ? 'claimed' : 'asked' },
    selectChecks(features, tableId, which),
    choice,
  )
  return { checks, statements }
}

/** A feature's rows, and whether each is due. */
function queryWithDue({ model }: CheckFeature, trx: Transaction) {
  return model
    .query(trx)
    .select(`${model.tableName}.*`, raw('(is_active and next_run_at <= now()) as is_due'))
}

/** Every feature's rows of a table: those the sweep claimed, or all active ones. */
export function selectChecks(
  features: readonly CheckFeature[],
  tableId: string,
  which: 'claimed' | 'active',
): Selection[] {
  return features.map(feature => ({
    feature,
    rows(trx) {
      const active = queryWithDue(feature, trx).where({ tableId, isActive: true })
      return which === 'claimed' ? active.whereNotNull('runningSlot') : active
    },
  }))
}
