import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { percentOf } from '../../../server/percent.ts'
import type { Asset } from '../../catalog/api.ts'
import { nextTierOf, scoreOf, tierOf, WEIGHTED_KINDS } from './score.ts'
import type { RecommendationsDeps } from '../deps.ts'

/** Number of tables of a source, and of those that each kind of check watches. */
interface SourceCoverage {
  id: string
  name: string
  total: number
  watched: Record<string, number>
}

/** One kind of check: its name, and SQL for whether it watches the table `t`. */
interface CoverageKind {
  name: string
  condition: string
}

const MAX_LOWEST = 5

/** The kinds that count for the score and are loaded, in order of weight. */
function countedKinds(deps: RecommendationsDeps): CoverageKind[] {
  const queries = deps.catalog.coverageQueries()
  return WEIGHTED_KINDS.flatMap(name => {
    const texts = queries.filter(({ kind }) => kind === name).map(({ text }) => text)
    if (texts.length === 0) return []
    const condition = `t.id in (select c.table_id from (${texts.join(' union all ')}) c where c.company_id = :companyId)`
    return [{ name, condition }]
  })
}

/** Counts tables of active sources. One statement. @param asset limits it to a source or a table */
async function countWatched(
  trx: Transaction,
  kinds: readonly CoverageKind[],
  asset?: Asset,
): Promise<SourceCoverage[]> {
  const counts = kinds.map(
    ({ name, condition }) => `'${name}', count(*) filter (where t.id is not null and ${condition})`,
  )
  return rows<SourceCoverage>(
    trx,
    `select s.id, s.name, cast(count(t.id) as int) as total, jsonb_build_object(${counts.join(', ')}) as watched
     from sources s left join tables t on t.company_id = s.company_id and t.source_id = s.id and t.is_active
       and (cast(:tableId as uuid) is null or t.id = :tableId)
     where s.company_id = :companyId and case when cast(:sourceId as uuid) is null then s.is_active else s.id = :sourceId end
     group by s.id, s.name order by s.name`,
    { companyId: companyOf(trx), sourceId: asset?.source.id ?? null, tableId: asset?.table?.id ?? null },
  )
}

/** The coverage of a source or a table, for `GET /sdk/coverage/{asset_id}`. */
export async function readCoverage(deps: RecommendationsDeps, trx: Transaction, asset: Asset) {
  const kinds = countedKinds(deps)
  const [counted] = await countWatched(trx, kinds, asset)
  if (!counted) throw new Error('The source was found before')
  const score = scoreOf(counted)
  const tier = tierOf(score)
  const next = nextTierOf(score, counted)
  return {
    asset_id: (asset.table ?? asset.source).id,
    score,
    tier: tier.name,
    tier_label: tier.label,
    tier_badge: null,
    total_tables: counted.total,
    breakdown: Object.fromEntries(
      kinds.map(({ name }) => {
        const count = counted.watched[name] ?? 0
        const pct = counted.total === 0 ? 0 : Math.round((10_000 * count) / counted.total) / 10_000
        return [name, { count, total: counted.total, pct }]
      }),
    ),
    next_tier_info: next,
    recommendation: next?.actions[0] ?? null,
  }
}

/** The coverage of all active sources, for `GET /sdk/coverage/company`. The company's score is their mean. */
export async function readCompanyCoverage(deps: RecommendationsDeps, trx: Transaction) {
  const sources = (await countWatched(trx, countedKinds(deps))).map(counted => {
    const score = scoreOf(counted)
    const { name, label } = tierOf(score)
    return { asset_id: counted.id, asset_name: counted.name, score, tier: name, tier_label: label }
  })
  const sum = sources.reduce((total, { score }) => total + score, 0)
  return {
    company_score: sources.length === 0 ? 0 : Math.round(sum / sources.length),
    asset_count: sources.length,
    per_asset: sources,
    tier_distribution: Object.fromEntries(
      [...Map.groupBy(sources, ({ tier }) => tier)].map(([tier, some]) => [tier, some.length]),
    ),
    lowest_coverage: sources.toSorted((a, b) => a.score - b.score).slice(0, MAX_LOWEST),
  }
}

interface Gap {
  tablePath: string
  importance: number
  rowCount: number | null
  columnCount: number
  missing: string[]
}

/**
 * Tables that lack a kind of check, the most important first, for `GET /sdk/coverage/{asset_id}/gaps`. Importance is
 * 70 % the logarithm of the estimated rows and 30 % the columns, each as a share of the largest of the source.
 */
export async function readGaps(deps: RecommendationsDeps, trx: Transaction, asset: Asset, limit: number) {
  const { gaps, ...totals } = await findGaps(deps, trx, asset, limit)
  return { recommendations: gaps.map(presentGap), ...totals }
}

/** The same with what each table has, for `GET /sdk/recommendations/coverage`. */
export async function readCoverageAdvice(
  deps: RecommendationsDeps,
  trx: Transaction,
  asset: Asset,
  limit: number,
) {
  const { gaps, ...totals } = await findGaps(deps, trx, asset, limit)
  const recommendations = gaps.map(gap => ({
    ...presentGap(gap),
    currently_monitored: Object.fromEntries(WEIGHTED_KINDS.map(kind => [kind, !gap.missing.includes(kind)])),
  }))
  return { recommendations, asset_id: (asset.table ?? asset.source).id, ...totals }
}

/** A SELECT of the tables of an asset that lack a kind of check, and of how many there are. */
function gapsQuery(kinds: readonly CoverageKind[]): string {
  const own = kinds.filter(({ name }) => name !== 'schema_drift').map(({ condition }) => condition)
  const missing = kinds.map(({ name, condition }) => `case when not ${condition} then '${name}' end`)
  return `
    with judged as materialized (
      select concat_ws('.', t.schema_name, t.name) as table_path, t.qualified_name, t.estimated_rows, t.column_count,
        array_remove(array[${missing.join(', ')}]::text[], null) as missing,
        ${own.length === 0 ? 'false' : own.join(' or ')} as is_monitored,
        round(cast(0.7 * coalesce(ln(1 + greatest(t.estimated_rows, 0))
            / nullif(max(ln(1 + greatest(t.estimated_rows, 0))) over (), 0), 0)
          + 0.3 * coalesce(cast(t.column_count as float8) / nullif(max(t.column_count) over (), 0), 0) as numeric), 4)
          as importance
      from tables t where t.company_id = :companyId and t.source_id = :sourceId and t.is_active
        and (cast(:tableId as uuid) is null or t.id = :tableId)
    )
    select cast(count(*) as int) as total, cast(count(*) filter (where is_monitored) as int) as monitored,
      (select jsonb_agg(jsonb_build_object('tablePath', table_path, 'importance', importance,
           'rowCount', estimated_rows, 'columnCount', column_count, 'missing', missing))
         from (select * from judged where cardinality(missing) > 0
           order by importance desc, qualified_name limit :limit) g) as gaps
    from judged`
}

async function findGaps(deps: RecommendationsDeps, trx: Transaction, asset: Asset, limit: number) {
  const [judged] = await rows<{ total: number; monitored: number; gaps: Gap[] | null }>(
    trx,
    gapsQuery(countedKinds(deps)),
    { companyId: companyOf(trx), sourceId: asset.source.id, tableId: asset.table?.id ?? null, limit },
  )
  const { total = 0, monitored = 0, gaps = null } = judged ?? {}
  return {
    gaps: gaps ?? [],
    total_tables: total,
    monitored_tables: monitored,
    coverage_percentage: percentOf(monitored, total, 1),
  }
}

function presentGap({ tablePath, importance, rowCount, columnCount, missing }: Gap) {
  const size = rowCount === null ? '' : `about ${rowCount} rows and `
  return {
    table_path: tablePath,
    importance_score: importance,
    row_count: rowCount,
    column_count: columnCount,
    suggested_monitoring: missing,
    reasoning: `${tablePath} has ${size}${columnCount} columns, and no active ${missing.join(', ')}`,
  }
}
