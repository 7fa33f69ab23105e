import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import type { CheckOutcome } from '../../checks/check.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Feature, ScanChoice, Scheduled } from './api.ts'
import { runScan, type Selection } from './run.ts'

/** Scans a row's table for this row alone; undefined when the row is gone. */
export async function runRow<Row extends Scheduled, Result>(
  server: Server,
  feature: Feature<Row, Result>,
  row: Row,
  choice?: ScanChoice,
): Promise<{ result: Result; outcome: CheckOutcome } | undefined> {
  const { companyId, tableId } = row
  const selection: Selection = {
    feature: feature as unknown as Feature,
    rows: trx => planned(feature as unknown as Feature, trx).findByIds([row.$id() as string]),
  }
  const { results } = await runScan(server, { companyId, tableId, which: 'asked' }, [selection], choice)
  return results[0] as { result: Result; outcome: CheckOutcome } | undefined
}

/** Scans a table once for every feature's rows: those the sweep claimed, or all active ones. */
export async function runTable(
  server: Server,
  features: readonly Feature[],
  { companyId, tableId, which }: { companyId: string; tableId: string; which: 'claimed' | 'active' },
  choice?: ScanChoice,
): Promise<{ checks: number; statements: number }> {
  const { checks, statements } = await runScan(
    server,
    { companyId, tableId, which: which === 'claimed' ? 'claimed' : 'asked' },
    select(features, tableId, which),
    choice,
  )
  return { checks, statements }
}

/** A feature's rows, and whether each is due. */
function planned({ model }: Feature, trx: Transaction) {
  return model
    .query(trx)
    .select(`${model.tableName}.*`, raw('(is_active and next_run_at <= now()) as is_due'))
}

/** Every feature's rows of a table: those the sweep claimed, or all active ones. */
export function select(
  features: readonly Feature[],
  tableId: string,
  which: 'claimed' | 'active',
): Selection[] {
  return features.map(feature => ({
    feature,
    rows(trx) {
      const active = planned(feature, trx).where({ tableId, isActive: true })
      return which === 'claimed' ? active.whereNotNull('runningSlot') : active
    },
  }))
}
