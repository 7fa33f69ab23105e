import type { Server } from '@hapi/hapi'
import type { Check, Outcome } from '../../checks/check.ts'
import { scan } from '../../checks/scan.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Loaded, ScanChoice } from './api.ts'

/** What a scan found, before anything is judged. */
export interface Measurement {
  outcomes: Outcome[]
  /** Statements sent to the source. */
  statements: number
  /** Whether the source was dialled and answered. */
  reached: boolean
  unreachable: ConnectorError | null
}

/** Measures checks of a table in one scan; whatever keeps it from running is the outcome of each of them. */
export async function measure(
  server: Server,
  loaded: Loaded,
  checks: readonly Check[],
  { sampleLimit = 0 }: ScanChoice,
): Promise<Measurement> {
  const { source, table } = loaded
  const { catalog } = server.plugins
  const refusal = checks.length === 0 ? null : refuse(loaded)
  if (checks.length === 0 || refusal) {
    const outcomes = refusal ? checks.map(failed(refusal.kind, refusal.message)) : []
    return { outcomes, statements: 0, reached: false, unreachable: null }
  }
  try {
    const timeoutMs = catalog.statementTimeoutMs(source)
    const options = {
      timeoutMs,
      sampleLimit: source.queryAccessLevel === 'full' ? sampleLimit : 0,
      masked: catalog.personalColumns(table),
    }
    const scanned = await catalog.withConnection(
      source,
      connection => scan(connection, catalog.connectorOf(source), catalog.tableInfo(table), checks, options),
      timeoutMs,
    )
    return { ...scanned, reached: true, unreachable: null }
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    return {
      outcomes: checks.map(failed(error.kind, error.message)),
      statements: 0,
      reached: false,
      unreachable: error,
    }
  }
}

/** What is known without asking the source. */
function refuse({ source, table }: Loaded): { kind: string; message: string } | null {
  if (!table.isActive) {
    const message = `The table ${table.qualifiedName} is no longer in the source: the last discovery did not find it`
    return { kind: 'missing-object', message }
  }
  if (source.queryAccessLevel !== 'schema_only') return null
  const message = `The query_access_level of ${source.name} is schema_only: checks need aggregates or full`
  return { kind: 'permission', message }
}

function failed(kind: string, message: string): (check: Check) => Outcome {
  return ({ id }) => ({ id, status: 'error', kind, message, durationMs: 0 })
}
