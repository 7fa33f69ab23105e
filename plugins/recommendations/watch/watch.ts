import { tablePath, type ColumnInfo } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../../server/database/due.ts'
import { invalidField } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import type { BulkScheduleResult } from '../../freshness/api.ts'
import type { WatchLevel } from '../applied.ts'
import type { MissingCheckResult, MissingCheckTarget } from '../../scans/api.ts'
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
  dry_run: boolean
}

/** All checks that are created here run together, so that a table is scanned once for them. */
const CHECK_INTERVAL = 'daily'
const RUNS_PER_DAY = INTERVAL_SECONDS['1d'] / INTERVAL_SECONDS[CHECK_INTERVAL]
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
  const { metrics, validity, freshness } = deps
  const tables = await matchingTables(deps, trx, source, request)
  const paths = new Map(tables.map(table => [table.id, tablePath(table)]))
  const isReadable = source.queryAccessLevel !== 'schema_only'
  const common = { source, interval: CHECK_INTERVAL, isDryRun: request.dry_run } as const

  const counted = request.row_count && isReadable ? tables.map(table => ({ table })) : []
  const rowCounts = await metrics.createMissing(trx, { ...common, type: 'row_count', targets: counted })
  const keyed = request.keys && isReadable ? await readKeys(trx, tables) : []
  const columns = keyed.flatMap(({ table, key }) => key.map(column => ({ table, column })))
  const notNull = await validity.createMissing(trx, { ...common, type: 'NOT_NULL', targets: columns })
  const single = keyed.flatMap(({ table, key }) => (key.length === 1 ? [{ table, column: key[0]! }] : []))
  const unique = await validity.createMissing(trx, { ...common, type: 'UNIQUE', targets: single })
  const scheduled = request.freshness
    ? await freshness.createSchedules(trx, {
        asset_id: source.id,
        include_patterns: request.include_patterns,
        exclude_patterns: request.exclude_patterns,
        only_with_signal: true,
        dry_run: request.dry_run,
        is_active: true,
      })
    : undefined

  const pathsOf = (targets: readonly MissingCheckTarget[]) => targets.map(({ table }) => paths.get(table.id)!)
  const keyless = pathsOf(keyed.filter(({ key }) => key.length === 0))
  const composite = pathsOf(keyed.filter(({ key }) => key.length > 1))
  const unread = (isWanted: boolean) =>
    skip('not_readable', isWanted && !isReadable ? [...paths.values()] : [])
  const present = (made: MissingCheckResult, ...skipped: WatchedKind['skipped'][]): WatchedKind => ({
    created: made.created.length,
    existing: made.existing,
    skipped: [...skipped.flat(), ...skip('unsupported', pathsOf(made.unsuited))],
  })
  const scanned = new Set(
    [rowCounts, notNull, unique].flatMap(made => made.created.map(({ table }) => table.id)),
  )
  return {
    asset_id: source.id,
    matched: tables.length,
    row_count: present(rowCounts, unread(request.row_count)),
    freshness: presentSchedules(scheduled),
    not_null: present(notNull, unread(request.keys), skip('no_primary_key', keyless)),
    unique: present(
      unique,
      unread(request.keys),
      skip('no_primary_key', keyless),
      skip('composite_key', composite),
    ),
    level: null,
    statements_per_day: {
      checks: scanned.size * RUNS_PER_DAY,
      freshness: scheduled?.statements_per_day ?? 0,
    },
    dry_run: request.dry_run,
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
    const found = await rows<{ id: string; key: KeyColumn[] }>(
      trx,
      `select t.id, jsonb_agg(c order by position) as key from tables t
       cross join lateral jsonb_array_elements(t.constraints) k
       cross join lateral jsonb_array_elements_text(k -> 'columns') with ordinality as named (name, position)
       join lateral jsonb_array_elements(t.columns) c on c ->> 'name' = named.name
       where t.company_id = :companyId and t.id = any(cast(:ids as uuid[])) and k ->> 'type' = 'primary_key'
       group by t.id`,
      { companyId: companyOf(trx), ids },
    )
    for (const { id, key } of found) keys.set(id, key)
  }
  return tables.map(table => ({ table, key: keys.get(table.id) ?? [] }))
}
