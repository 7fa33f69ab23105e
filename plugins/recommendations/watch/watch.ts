import { tablePath, type ColumnInfo } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import type { BulkScheduleResult } from '../../freshness/api.ts'
import type { WatchLevel } from '../applied.ts'
import { costOfBackfill, readBackfilled } from '../backfill.ts'
import { createMissing, RUNS_PER_DAY, type PlannedCheck } from '../missing.ts'
import { applyToTables, TABLES_PER_BATCH } from './batches.ts'
import { presentOutcome } from './outcome.ts'
import { applyTerms, findPolicy, savePolicy } from './policy.ts'
import type { SkipReason, WatchedKind, WatchResult } from './result.ts'
import { matchingTables, type WatchedTable } from './tables.ts'
import type { RecommendationsDeps } from '../deps.ts'

/** The body of `POST /sdk/assets/{asset_id}/watch`, validated. */
export interface WatchRequest {
  include_patterns: string[]
  exclude_patterns: string[]
  row_count: boolean
  freshness: boolean
  keys: boolean
  /** A policy for all tables, present and future, in place of the three kinds. */
  level?: WatchLevel
  /** Whether the new checks learn the last days at once. */
  backfill: boolean
  dry_run: boolean
}

const TABLES_PER_STATEMENT = 4_000
const MAX_NAMED_TABLES = 20

/** What became of a request: its result, or the run that goes on with it. */
export interface WatchAnswer {
  source: Source
  result: WatchResult
  run?: { id: string; status: string }
}

/**
 * Creates what is missing to watch the active tables of a source that match, by the three kinds or by a level of
 * recommendations. Idempotent: the lock of the source makes concurrent requests wait for each other. A level for more
 * tables than one batch has is stored, and applied by the job that the caller sends.
 * @param by the caller, as decisions on recommendations name one
 */
export async function watchTables(
  deps: RecommendationsDeps,
  trx: Transaction,
  { assetId, by, request }: { assetId: string; by: string; request: WatchRequest },
): Promise<WatchAnswer> {
  const source = await sourceOf(deps, trx, assetId)
  if (!request.dry_run) await deps.catalog.lockSource(trx, source.id)
  const { level } = request
  if (level) return watchByLevel(deps, trx, source, { ...request, level, by })
  return { source, result: await watchByKinds(deps, trx, source, request) }
}

/** Applies a policy and, unless it is tried only, stores it. */
async function watchByLevel(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  { by, ...request }: WatchRequest & { level: WatchLevel; by: string },
): Promise<WatchAnswer> {
  const tables = await matchingTables(deps, trx, source, request)
  const { level, dry_run: isDryRun } = request
  if (!isDryRun && tables.length > TABLES_PER_BATCH) {
    const run = await startRun(deps, trx, source)
    await savePolicy(trx, source, request, { runId: run.id })
    return { source, run, result: presentOutcome(source, level, tables.length, null) }
  }
  const policy = isDryRun ? undefined : await savePolicy(trx, source, request, { runId: null })
  const applied = policy
    ? await applyToTables(deps, trx, { source, policy, tables, by })
    : await applyTerms(deps, trx, { source, terms: request, tables, by, isDryRun })
  return { source, result: presentOutcome(source, level, tables.length, applied, isDryRun) }
}

/** The run that applies a policy; one that goes on with an earlier policy goes on with the new one. */
async function startRun({ catalog }: RecommendationsDeps, trx: Transaction, source: Source) {
  const runId = (await findPolicy(trx, source))?.runId
  const isRunning = runId ? await catalog.recordProgress(trx, runId, 0) : false
  if (runId && isRunning) return { id: runId, status: 'running' }
  return catalog.startRun(trx, { workflowName: 'watch', sourceId: source.id, assetId: source.id })
}

async function watchByKinds(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  request: WatchRequest,
): Promise<WatchResult> {
  const tables = await matchingTables(deps, trx, source, request)
  const isReadable = source.queryAccessLevel !== 'schema_only'
  const counted = request.row_count && isReadable ? tables : []
  const keyed = request.keys && isReadable ? await readKeys(trx, tables) : []
  const rowCounts = counted.map(table => ({ kind: 'metric', type: 'row_count', table }) as const)
  const notNull = keyed.flatMap(({ table, key }) =>
    key.map(column => ({ kind: 'validity', type: 'NOT_NULL', table, column }) as const),
  )
  const unique = keyed.flatMap(({ table, key }) =>
    key.length === 1 ? [{ kind: 'validity', type: 'UNIQUE', table, column: key[0]! } as const] : [],
  )
  const isDryRun = request.dry_run
  const planned: (PlannedCheck & { table: WatchedTable })[] = [...rowCounts, ...notNull, ...unique]
  const { backfill } = request
  const { missing, refused } = await createMissing(deps, trx, { source, planned, isDryRun, backfill })
  const learning = backfill ? rowCounts.filter(check => missing.has(check)) : []
  const backfilled = await readBackfilled(
    trx,
    learning.map(({ table }) => table.id),
  )
  const scheduled = request.freshness
    ? await deps.freshness.createSchedules(trx, {
        asset_id: source.id,
        include_patterns: request.include_patterns,
        exclude_patterns: request.exclude_patterns,
        only_with_signal: true,
        dry_run: isDryRun,
        is_active: true,
      })
    : undefined

  const pathsOf = (some: readonly { table: WatchedTable }[]) => some.map(({ table }) => tablePath(table))
  const keyless = skip('no_primary_key', pathsOf(keyed.filter(({ key }) => key.length === 0)))
  const composite = skip('composite_key', pathsOf(keyed.filter(({ key }) => key.length > 1)))
  const unread = (isWanted: boolean) =>
    skip('not_readable', isWanted && !isReadable ? pathsOf(tables.map(table => ({ table }))) : [])
  const present = (checks: typeof planned, ...skipped: WatchedKind['skipped'][]): WatchedKind => {
    const created = checks.filter(check => missing.has(check)).length
    const unsuited = checks.filter(check => refused.has(check))
    return {
      created,
      existing: checks.length - created - unsuited.length,
      skipped: [...skipped.flat(), ...skip('unsupported', pathsOf(unsuited))],
    }
  }
  const scanned = new Set([...missing].map(({ table }) => table.id))
  return {
    asset_id: source.id,
    matched: tables.length,
    row_count: present(rowCounts, unread(request.row_count)),
    freshness: presentSchedules(scheduled),
    not_null: present(notNull, unread(request.keys), keyless),
    unique: present(unique, unread(request.keys), keyless, composite),
    level: null,
    statements_per_day: {
      checks: scanned.size * RUNS_PER_DAY,
      freshness: scheduled?.statements_per_day ?? 0,
    },
    backfill: costOfBackfill(backfilled),
    dry_run: isDryRun,
  }
}

function skip(reason: SkipReason, paths: readonly string[]): WatchedKind['skipped'] {
  return paths.length === 0 ? [] : [{ reason, count: paths.length, tables: paths.slice(0, MAX_NAMED_TABLES) }]
}

function presentSchedules(scheduled: BulkScheduleResult | undefined): WatchedKind {
  if (!scheduled) return { created: 0, existing: 0, skipped: [] }
  const { created, existing, without_signal: count, tables_without_signal: named } = scheduled
  const tables = named.slice(0, MAX_NAMED_TABLES)
  return { created, existing, skipped: count === 0 ? [] : [{ reason: 'no_signal', count, tables }] }
}

/** The source of a request. @throws 400 of a table, or of a source that was not discovered yet; 404 */
async function sourceOf(deps: RecommendationsDeps, trx: Transaction, assetId: string): Promise<Source> {
  const { source, table } = await deps.catalog.findAsset(trx, assetId)
  if (table)
    throw invalidField('asset_id', 'is a table, but must be a source: exclude the other tables by patterns')
  if (source.lastDiscoveryAt) return source
  throw invalidField(
    'asset_id',
    `is a source that was not discovered yet: POST /api/v1/sdk/assets/${source.id}/discover`,
  )
}

type KeyColumn = Pick<ColumnInfo, 'name' | 'type' | 'kind'>

/** The columns of the primary keys of tables; none for a table without one. */
async function readKeys(
  trx: Transaction,
  tables: readonly WatchedTable[],
): Promise<{ table: WatchedTable; key: KeyColumn[] }[]> {
  const keys = new Map<string, KeyColumn[]>()
  for (let from = 0; from < tables.length; from += TABLES_PER_STATEMENT) {
    const ids = tables.slice(from, from + TABLES_PER_STATEMENT).map(({ id }) => id)
    const keyed = await rows<{ id: string; key: KeyColumn[] }>(
      trx,
      `select t.id, jsonb_agg(c order by position) as key from tables t
       cross join lateral jsonb_array_elements(t.constraints) k
       cross join lateral jsonb_array_elements_text(k -> 'columns') with ordinality as named (name, position)
       join lateral jsonb_array_elements(t.columns) c on c ->> 'name' = named.name
       where t.company_id = :companyId and t.id = any(cast(:ids as uuid[])) and k ->> 'type' = 'primary_key'
       group by t.id`,
      { companyId: companyOf(trx), ids },
    )
    for (const { id, key } of keyed) keys.set(id, key)
  }
  return tables.map(table => ({ table, key: keys.get(table.id) ?? [] }))
}
