import { setTimeout as pause } from 'node:timers/promises'
import type { TableRef } from '../../connectors/catalog.ts'
import { CONNECTION_ERROR_KINDS, ConnectorError } from '../../connectors/errors.ts'
import { companyOf, rows, type Database, type Transaction } from '../../server/database/database.ts'
import { filterWithPauses } from '../../server/filter-with-pauses.ts'
import type { Config } from '../../server/settings/config.ts'
import { apiError, hasCode, invalidField } from '../../server/http/errors.ts'
import type { CatalogApi, Source, TableContext } from '../catalog/api.ts'
import type { ProfileJobResult, ProfileTarget, ProfilesApi } from './api.ts'
import { profileTable } from './measure.ts'
import type { Profile } from './models.ts'
import { saveProfile } from './store.ts'
import { windowRows } from './window.ts'

/** What tables are profiled with. */
interface ProfilesDeps {
  db: Database
  config: Config
  catalog: CatalogApi
}

/** Milliseconds between two tries while all sessions of a source are in use. */
const BUSY_RETRY_MS = 5_000
/** Tables of one result. */
const MAX_FINDINGS = 1_000

/** What a profile is asked of, as the API takes it. */
export interface ProfileRequest {
  table_path?: string
  include_patterns?: string[]
  exclude_patterns?: string[]
}

/** The target of a request, as `server.plugins.profiles.resolveTarget` gives it. */
export async function resolveTarget(
  catalog: CatalogApi,
  trx: Transaction,
  assetId: string,
  { table_path: path, ...patterns }: ProfileRequest,
): Promise<ProfileTarget> {
  const asset = await catalog.findAsset(trx, assetId)
  const table = path === undefined ? asset.table : await catalog.findTable(trx, asset, path)
  const { source } = asset
  if (!source.isActive) throw catalog.sourceInactive(source)
  assertReadable(source)
  if (table && patterns.include_patterns)
    throw invalidField('include_patterns', 'choose tables of a source, but the asset is a table: omit them')
  if (table && patterns.exclude_patterns)
    throw invalidField('exclude_patterns', 'choose tables of a source, but the asset is a table: omit them')
  if (table && !table.isActive)
    throw apiError('CONFLICT', `${table.qualifiedName} was not found by the last discovery`, {
      asset_id: table.id,
    })
  const target = { companyId: companyOf(trx), sourceId: source.id, tableId: table?.id, ...patterns }
  if ((await matchingTables(catalog, trx, target)).length > 0) return target
  if (patterns.include_patterns ?? patterns.exclude_patterns)
    throw invalidField('include_patterns', `match no table of ${source.name}`)
  const hint = `POST /api/v1/sdk/assets/${source.id}/discover finds them`
  throw invalidField('asset_id', `is a source without tables: ${hint}`)
}

/** A source whose rows may not be read cannot be profiled. */
function assertReadable({ id, name, queryAccessLevel }: Source): void {
  if (queryAccessLevel !== 'schema_only') return
  const message = `The query_access_level of ${name} is schema_only: profiles need aggregates or full`
  throw apiError('CONFLICT', message, { asset_id: id })
}

interface MatchedTable extends TableRef {
  id: string
  qualifiedName: string
}

async function matchingTables(
  catalog: CatalogApi,
  trx: Transaction,
  { companyId, sourceId, tableId, ...patterns }: ProfileTarget,
): Promise<MatchedTable[]> {
  const tables = await rows<MatchedTable>(
    trx,
    `select id, qualified_name, catalog_name as catalog, schema_name as schema, name from tables
     where company_id = :companyId and source_id = :sourceId and is_active
       ${tableId === undefined ? '' : 'and id = :tableId'} order by qualified_name, id`,
    { companyId, sourceId, tableId },
  )
  return filterWithPauses(tables, catalog.patternMatcher(patterns))
}

/** Profiles the tables of a target one after another, as `server.plugins.profiles.profileAsset` does. */
export async function profileAsset(
  deps: ProfilesDeps,
  target: ProfileTarget,
  { signal, onProgress, slotWaitMs }: Parameters<ProfilesApi['profileAsset']>[1],
): Promise<ProfileJobResult | null> {
  const { companyId, sourceId, tableId } = target
  const { name, tables } = await deps.db.company(companyId, async trx => {
    const { source } = await deps.catalog.findAsset(trx, sourceId)
    return { name: source.name, tables: await matchingTables(deps.catalog, trx, target) }
  })
  const findings: ProfileJobResult['findings'] = []
  let statements = 0
  for (const [index, table] of tables.entries()) {
    if (onProgress && !(await onProgress(Math.floor((100 * index) / tables.length)))) return null
    // Once some tables are done, waiting costs less than doing them again.
    const waiting = { signal, ...(findings.length === 0 && slotWaitMs !== undefined && { slotWaitMs }) }
    const outcome = await profileWhenFree(deps, companyId, table, waiting).catch((error: unknown) => {
      signal.throwIfAborted()
      // The only table of a request gives its reason, and a source that cannot be reached cannot for the next table.
      if (!(error instanceof ConnectorError) || tableId !== undefined || isUnreachable(error)) throw error
      return error
    })
    if (!outcome) continue
    if (!(outcome instanceof Error)) statements += outcome.statements
    findings.push(presentFinding(table, outcome))
  }
  const failed = findings.filter(({ status }) => status === 'error').length
  return {
    asset: tableId === undefined ? name : (tables[0]?.qualifiedName ?? name),
    tables: findings.length,
    profiled: findings.length - failed,
    failed,
    statements,
    findings: findings.toSorted((a, b) => a.status.localeCompare(b.status)).slice(0, MAX_FINDINGS),
  }
}

function isUnreachable({ kind }: ConnectorError): boolean {
  return CONNECTION_ERROR_KINDS.has(kind) || kind === 'driver-missing'
}

function presentFinding(table: MatchedTable, outcome: Profile | ConnectorError) {
  const named = { asset_id: table.id, asset: table.qualifiedName }
  if (outcome instanceof ConnectorError)
    return { ...named, status: 'error' as const, profile_id: null, row_count: null, message: outcome.message }
  const { id, columns, isSampled, profiledRows, profiledWindow } = outcome
  const part = profiledWindow
    ? ` of ${profiledRows} rows from ${profiledWindow.start} to ${profiledWindow.end}`
    : isSampled
      ? ` of a sample of ${profiledRows} rows`
      : ''
  const message = `${columns.length} columns${part}`
  return {
    ...named,
    status: 'profiled' as const,
    profile_id: id,
    row_count: Number(outcome.rowCount),
    message,
  }
}

/** How a table is profiled while its source is busy: without `slotWaitMs`, it is tried until a session is free. */
interface Waiting {
  signal: AbortSignal
  slotWaitMs?: number
}

/** Runs in a job, so it may retry while the source is busy. Undefined for a table that is gone. */
async function profileWhenFree(
  deps: ProfilesDeps,
  companyId: string,
  { id }: MatchedTable,
  waiting: Waiting,
): Promise<Profile | undefined> {
  const { signal, slotWaitMs } = waiting
  for (;;) {
    signal.throwIfAborted()
    const loaded = await deps.db.company(companyId, trx => deps.catalog.loadTable(trx, id))
    if (!loaded?.table.isActive) return undefined
    if (!loaded.source.isActive) throw deps.catalog.sourceInactive(loaded.source)
    assertReadable(loaded.source)
    try {
      return await profileNow(deps, loaded, waiting)
    } catch (error) {
      if (!hasCode(error, 'UNAVAILABLE') || slotWaitMs !== undefined) throw error
      await pause(BUSY_RETRY_MS, undefined, { signal })
    }
  }
}

async function profileNow(
  deps: ProfilesDeps,
  loaded: TableContext,
  { signal, slotWaitMs }: Waiting,
): Promise<Profile | undefined> {
  const { source, table } = loaded
  const { catalog } = deps
  const timeoutMs = catalog.statementTimeoutMs(source)
  const options = {
    masked: catalog.personalColumns(loaded),
    showsValues: source.queryAccessLevel === 'full',
    rowLimit: deps.config.profileRowLimit,
    timeoutMs,
    signal,
  }
  const windows = await deps.db.company(source.companyId, trx => catalog.automaticWindows(trx, [table.id]))
  const window = windows.get(table.id)
  const moment = { timezone: deps.config.timezone, now: new Date() }
  const rowsOfWindow = window && windowRows(catalog, loaded, window, moment)
  const startedAt = performance.now()
  // One session of the source is left to checks that are due.
  const measured = await catalog.withConnection(
    source,
    connection =>
      profileTable(connection, catalog.connectorOf(source), catalog.tableInfo(table), {
        ...options,
        ...(rowsOfWindow && { window: rowsOfWindow }),
      }),
    { purpose: 'profile', timeoutMs, isLowPriority: true, signal, slotWaitMs },
  )
  const milliseconds = Math.round(performance.now() - startedAt)
  return deps.db.company(source.companyId, async trx => {
    // The source was removed meanwhile, and its profiles with it.
    if (!(await catalog.lockScannedTable(trx, loaded, false))) return undefined
    return saveProfile(trx, loaded, { ...measured, milliseconds })
  })
}
