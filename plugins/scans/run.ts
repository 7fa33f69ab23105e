import type { Server } from '@hapi/hapi'
import type { Outcome } from '../../checks/check.ts'
import { scan } from '../../checks/scan.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { apiError } from '../../server/errors.ts'
import type { Batch, Loaded, ScanChoice } from './api.ts'

/** Loads one feature's checks of a table. */
export type Load = (trx: Transaction, table: Loaded) => Promise<Batch>

/** What a scan of one table took. */
export interface Ran {
  checks: number
  /** Statements sent to the source. */
  statements: number
  /** What each batch's `record` gave, in the order of the loads. */
  results: unknown[]
}

/**
 * Loads the checks of a table, measures them in one scan, and lets each feature record its outcomes in one
 * transaction. No transaction is open while the source is being read. A source that cannot be reached makes
 * every check an `error` with the reason.
 */
export async function runScan(
  server: Server,
  companyId: string,
  tableId: string,
  loads: readonly Load[],
  choice: ScanChoice = {},
): Promise<Ran> {
  const prepared = await server.db.company(companyId, async trx => {
    const table = await server.plugins.catalog.load(trx, tableId)
    if (!table) throw apiError('ASSET_NOT_FOUND', 'The table is gone', { asset_id: tableId })
    const batches: Batch[] = []
    for (const load of loads) batches.push(await load(trx, table))
    return { table, batches }
  })
  const { table, batches } = prepared
  const checks = batches.flatMap(batch => batch.checks)
  const measured = await measure(server, table, batches, choice)
  const results = await server.db.company(companyId, async trx => {
    const at = choice.at ?? (await databaseTime(trx))
    const recorded: unknown[] = []
    for (const [index, batch] of batches.entries()) {
      const ids = new Set(batch.checks.map(({ id }) => id))
      recorded[index] = await batch.record(
        trx,
        measured.outcomes.filter(({ id }) => ids.has(id)),
        at,
      )
    }
    // Only a scan that failed on the source, or that reached it after a failure, has news of it.
    if (measured.unreachable || (measured.reached && table.source.connectionStatus !== 'connected')) {
      await server.plugins.catalog.noteConnection(trx, table.source, measured.unreachable)
    }
    return recorded
  })
  return { checks: checks.length, statements: measured.statements, results }
}

interface Measurement {
  outcomes: Outcome[]
  statements: number
  /** Whether the source was dialled and answered. */
  reached: boolean
  unreachable: ConnectorError | null
}

async function measure(
  server: Server,
  { source, table }: Loaded,
  batches: readonly Batch[],
  choice: ScanChoice,
): Promise<Measurement> {
  const checks = batches.flatMap(batch => batch.checks)
  if (checks.length === 0) return { outcomes: [], statements: 0, reached: false, unreachable: null }
  const { catalog } = server.plugins
  if (!table.isActive) {
    const message = `The table ${table.qualifiedName} is no longer in the source: the last discovery did not find it`
    return {
      outcomes: checks.map(({ id }) => broken(id, 'missing-object', message)),
      statements: 0,
      reached: false,
      unreachable: null,
    }
  }
  const connector = catalog.connectorOf(source)
  try {
    const timeoutMs = server.config.statementTimeout * 1_000
    const scanned = await catalog.withConnection(
      source,
      connection =>
        scan(connection, connector, catalog.tableInfo(table), checks, {
          timeoutMs,
          sampleLimit: choice.sampleLimit ?? 0,
        }),
      timeoutMs,
    )
    return { ...scanned, reached: true, unreachable: null }
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    return {
      outcomes: checks.map(({ id }) => broken(id, error.kind, error.message)),
      statements: 0,
      reached: false,
      unreachable: error,
    }
  }
}

function broken(id: string, kind: string, message: string): Outcome {
  return { id, status: 'error', kind, message, durationMs: 0 }
}

async function databaseTime(trx: Transaction): Promise<Date> {
  const [clock] = await rows<{ now: Date }>(trx, 'select now() as now')
  if (!clock) throw new Error('The database told no time')
  return clock.now
}
