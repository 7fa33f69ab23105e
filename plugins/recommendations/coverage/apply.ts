import type { Transaction } from '../../../server/database/database.ts'
import type { Source } from '../../catalog/api.ts'
import { applyOffers, isAtLevel } from '../apply.ts'
import type { RecommendationsDeps } from '../deps.ts'

/** Kinds of checks that a request may add. */
export const APPLICABLE_KINDS = ['freshness', 'metrics', 'validity', 'schema_drift'] as const
type ApplicableKind = (typeof APPLICABLE_KINDS)[number]

/** The body of `POST /sdk/coverage/{asset_id}/apply`, validated. */
export interface CoverageRequest {
  types: ApplicableKind[]
  table_paths?: string[]
}

interface CoverageApplyResult {
  applied: { type: ApplicableKind; check_type: string; count: number }[]
  failed: { type: ApplicableKind; table_path: string | null; error: string }[]
  applied_count: number
  failed_count: number
}

/** What recommendations are called, by kind of coverage. */
const CHECK_KIND = { freshness: 'freshness', metrics: 'metric', validity: 'validity' } as const

/** Creates recommended checks of the kinds that tables lack. The source is locked meanwhile. @throws 404 */
export async function applyCoverage(
  deps: RecommendationsDeps,
  trx: Transaction,
  { assetId, by, request }: { assetId: string; by: string; request: CoverageRequest },
): Promise<{ source: Source; result: CoverageApplyResult }> {
  const { catalog } = deps
  const asset = await catalog.findAsset(trx, assetId)
  const source = await catalog.lockSource(trx, asset.source.id)
  const result: CoverageApplyResult = { applied: [], failed: [], applied_count: 0, failed_count: 0 }
  const paths = request.table_paths
  const tables = paths ? await Promise.all(paths.map(path => catalog.findTable(trx, asset, path))) : []
  const tableIds = paths ? new Set(tables.map(({ id }) => id)) : asset.table && new Set([asset.table.id])
  for (const type of request.types) {
    if (type === 'schema_drift') {
      // Drift is a matter of the source, and found by its discoveries.
      if (source.discoveryInterval === 'off') result.failed.push(driftFailure(source))
      continue
    }
    const { created } = await applyOffers(deps, trx, {
      source,
      tableIds,
      by,
      isDryRun: false,
      backfill: true,
      isWanted: each => each.kind === CHECK_KIND[type] && isAtLevel('standard', each),
    })
    for (const [name, count] of Object.entries(created))
      result.applied.push({ type, check_type: name, count })
  }
  result.applied_count = result.applied.reduce((sum, { count }) => sum + count, 0)
  result.failed_count = result.failed.length
  return { source, result }
}

function driftFailure({ id, name }: Source): CoverageApplyResult['failed'][number] {
  const error = `${name} is discovered by hand only: PATCH /api/v1/sdk/assets/${id} sets a discovery_interval`
  return { type: 'schema_drift', table_path: null, error }
}
