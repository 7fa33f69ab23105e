import type { Check } from '../../checks/check.ts'
import { metrics } from '../../checks/metrics/index.ts'
import { rules } from '../../checks/rules/index.ts'
import { scan, type ScanOptions, type ScanResult } from '../../checks/scan.ts'
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { EngineTestDatabase } from './test-databases.ts'

const types = new Map([...rules, ...metrics].map(type => [type.name, type]))

let made = 0

/** A check of a built-in type, with an id of its own. */
export function check(
  name: string,
  column?: string,
  config: Record<string, unknown> = {},
  rest: Partial<Check> = {},
): Check {
  const type = types.get(name)
  if (!type) throw new Error(name)
  return { id: `${name} ${(made += 1)}`, type, column, config, ...rest }
}

/** The connection with every statement it is asked to run written down. */
function watched(connection: Pick<Connection, 'query'>, seen: string[]): Pick<Connection, 'query'> {
  return {
    query(statement, options) {
      seen.push(statement.render(() => '?').text)
      return connection.query(statement, options)
    },
  }
}

/** Scans on a test database and returns the statements sent too. */
export async function run(
  on: EngineTestDatabase,
  table: TableInfo,
  checks: Check[],
  options: Partial<ScanOptions> = {},
): Promise<ScanResult & { seen: string[] }> {
  const seen: string[] = []
  const scanned = await scan(watched(on.connection, seen), on.engine, table, checks, {
    timeoutMs: 60_000,
    ...options,
  })
  return { ...scanned, seen }
}

/** Columns of a small table of orders, beside its `id`. */
export const ORDERS = [
  { name: 'amount', kind: 'integer' },
  { name: 'status', kind: 'text' },
  { name: 'email', kind: 'text' },
] as const
