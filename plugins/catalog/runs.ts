import { v7 } from 'uuid'
import type { Transaction } from '../../server/database.ts'
import { failureOf } from './connections.ts'
import { Run, Source, Table } from './models.ts'

/** The statuses of a run that may still come to something. */
export const UNFINISHED: Run['status'][] = ['pending', 'running']

/** Makes the record of asynchronous work that a client can follow. */
export async function startRun(
  trx: Transaction,
  run: { workflowName: string; sourceId: string; assetId: string },
): Promise<Run> {
  return await Run.query(trx).insertAndFetch({ id: v7(), ...run })
}

/** Ends asynchronous work that was not cancelled meanwhile. */
export async function finishRun(
  trx: Transaction,
  runId: string,
  end: { result: object } | { error: Error },
): Promise<void> {
  await Run.query(trx)
    .findById(runId)
    .whereIn('status', UNFINISHED)
    .patch({
      completedAt: new Date(),
      ...('result' in end
        ? { status: 'completed' as const, progress: 100, result: end.result }
        : { status: 'failed' as const, error: failureOf(end.error) }),
    })
}

/** A table and its source by the table's id; undefined when either is gone. */
export async function loadTable(
  trx: Transaction,
  tableId: string,
): Promise<{ source: Source; table: Table } | undefined> {
  const table = await Table.query(trx).findById(tableId)
  const source = table && (await Source.query(trx).findById(table.sourceId))
  return source && table ? { source, table } : undefined
}
