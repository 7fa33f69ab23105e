/** What a check that is not made yet would read of its table, of one run and of a month. */
import type { Check, CheckContext } from '../../../checks/check.ts'
import { planScan } from '../../../checks/scan.ts'
import type { Connection, CostEstimate } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { INTERVAL_SECONDS } from '../../../server/database/due.ts'
import type { CheckDeps } from '../deps.ts'
import { CheckRow } from '../models.ts'
import type { CheckCost, ConfiguredCheck } from '../types.ts'
import { dueWindow, windowPlace } from '../windows/windows.ts'

const MONTH_DAYS = 30
const UNKNOWN: CostEstimate = { rows: null, bytes: null }

/** How often a check runs. */
export type CheckInterval = 'hourly' | 'daily' | 'weekly'

/**
 * Estimates what a check reads, by what its scans would send: with its window, if it has one, and without. Each form is
 * estimated once, and nothing of it is run. What the engine does not say, or refuses to say, is unknown: never an error.
 */
export async function estimateCheck(
  deps: Pick<CheckDeps, 'catalog' | 'db' | 'timezone' | 'types'>,
  configured: ConfiguredCheck,
  { connection, interval }: { connection: Connection; interval: CheckInterval },
): Promise<CheckCost> {
  const { catalog, timezone } = deps
  const { source, table, window: columns, check } = configured
  const engine = catalog.connectorOf(source)
  const info = catalog.tableInfo(table)
  const timeoutMs = catalog.statementTimeoutMs(source)
  const { type, config } = check
  const on = { dialect: engine.dialect, table: info }
  const whole: Check = { ...check, id: 'estimated' }
  const place = windowPlace(catalog, configured, { timezone, now: new Date() })
  // As a run that follows others: the newest bucket, and those before it once more.
  const window = columns && place ? dueWindow({ ...columns, lastBucketEnd: null }, place) : undefined

  async function estimate(estimated: Check): Promise<CostEstimate> {
    const [statement] = await planScan(engine, info, [estimated])
    if (!statement || !connection.estimateCost) return UNKNOWN
    try {
      return await connection.estimateCost(statement.select, { timeoutMs })
    } catch (error) {
      if (error instanceof ConnectorError) return UNKNOWN
      throw error
    }
  }

  return {
    runsPerMonth: (MONTH_DAYS * 86_400) / INTERVAL_SECONDS[interval],
    wholeTable: await estimate(whole),
    window: window ? await estimate({ ...whole, window }) : null,
    timeColumn: window?.column ?? null,
    unplannedSql: engine.capabilities.dryRuns ? null : formOfUserSql(check, on),
    sharedWith: type.namesItsRows?.(config, on) ? 0 : await countSharing(deps, configured),
  }
}

/** Milliseconds for the estimate of one statement of many. */
const ESTIMATE_TIMEOUT_MS = 5_000

/**
 * Estimates the bytes that one reading of each of some tables of a source takes. Nothing is read for it.
 * @returns null where the engine does not say, or cannot be asked now
 */
export async function estimateBytes(
  { catalog, db, types }: Pick<CheckDeps, 'catalog' | 'db' | 'types'>,
  companyId: string,
  tableIds: readonly string[],
): Promise<number | null> {
  const loaded = await db.company(companyId, async trx => {
    const found = []
    for (const id of tableIds) found.push((await catalog.loadTable(trx, id)) ?? [])
    return found.flat()
  })
  const [first] = loaded
  if (!first?.source.isActive || first.source.queryAccessLevel === 'schema_only') return null
  const engine = catalog.connectorOf(first.source)
  async function sum(connection: Connection): Promise<number | null> {
    let total = 0
    for (const { table } of loaded) {
      const check = { id: 'estimated', type: types.get('row_count'), config: {} }
      const [statement] = await planScan(engine, catalog.tableInfo(table), [check])
      if (!statement || !connection.estimateCost) return null
      const { bytes } = await connection.estimateCost(statement.select, { timeoutMs: ESTIMATE_TIMEOUT_MS })
      if (bytes === null) return null
      total += bytes
    }
    return total
  }
  try {
    return await catalog.withConnection(first.source, sum, {
      purpose: 'dry_run',
      timeoutMs: ESTIMATE_TIMEOUT_MS,
      isLowPriority: true,
    })
  } catch (error) {
    if (error instanceof ConnectorError || hasCode(error, 'UNAVAILABLE')) return null
    throw error
  }
}

/** What of a check the user wrote, which is not planned: an expression, or a SELECT that names its rows. */
function formOfUserSql(
  { type, config, filter }: ConfiguredCheck['check'],
  on: Pick<CheckContext, 'dialect' | 'table'>,
): CheckCost['unplannedSql'] {
  if (type.namesItsRows?.(config, on)) return 'select'
  return filter !== undefined || type.userSql !== undefined ? 'expression' : null
}

/**
 * Active checks of the table that one statement measures together with such a check when they are due together, without
 * those whose text would have to be read to know.
 */
async function countSharing(
  { db, types }: Pick<CheckDeps, 'db' | 'types'>,
  { source, table, check, window }: ConfiguredCheck,
): Promise<number> {
  const isAlone = ({ userSql, ownStatement }: ConfiguredCheck['check']['type']) =>
    userSql === true || ownStatement === true
  if (isAlone(check.type)) return 0
  const sharing = types.all().filter(type => !isAlone(type) && !type.namesItsRows)
  const { timeColumn = null, windowSize = null } = window ?? {}
  return db.company(source.companyId, trx =>
    CheckRow.query(trx)
      .where({ tableId: table.id, isActive: true, timeColumn, windowSize })
      .whereIn('type', [...new Set(sharing.map(({ name }) => name))])
      .whereRaw('group_by_columns = cast(? as text[])', [[...(check.groupBy ?? [])]])
      .resultSize(),
  )
}
