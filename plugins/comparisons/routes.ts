import { inCompany } from '../../server/http/access.ts'
import type { CheckResource } from '../checks/api.ts'
import { changeOf, findRightSources, listComparisons, type ComparisonFilter } from './comparisons.ts'
import { createComparison } from './create.ts'
import { comparisonDeclaration } from './declaration.ts'
import type { ComparisonDeps } from './deps.ts'
import { dryRunComparison, type ComparisonDryRun } from './dry-run.ts'
import type { ComparisonPatch, NewComparison } from './fields.ts'
import { MAX_SAMPLES } from './measure.ts'
import type { Comparison, NamedComparison } from './models.ts'
import type { Transaction } from '../../server/database/database.ts'
import { presentComparison, presentResult, presentSamples } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Comparisons as the API offers them. */
export function comparisonResource(deps: ComparisonDeps): CheckResource<Comparison> {
  const { catalog, db, kind, operatingSchedules } = deps
  const presentAll = async (trx: Transaction, comparisons: readonly NamedComparison[]) => {
    const rights = await findRightSources(trx, comparisons)
    return comparisons.map(item => presentComparison(item, rights.get(item.otherTableId!)?.name ?? ''))
  }
  const presentOne = async (trx: Transaction, comparison: NamedComparison) =>
    (await presentAll(trx, [comparison]))[0]!
  return {
    kind,
    names: {
      path: 'comparisons',
      one: 'comparison',
      many: 'comparisons',
      id: 'comparison_id',
      run: 'execute',
      results: 'results',
      audit: 'comparison',
      notFound: 'COMPARISON_NOT_FOUND',
      errors: ['ASSET_NOT_FOUND', 'COMPARISON_NOT_FOUND'],
    },
    schemas: {
      id: schemas.comparisonId,
      list: schemas.comparisonList,
      create: schemas.newComparison,
      patch: schemas.comparisonPatch,
      run: schemas.emptyBody,
    },
    replies,
    identify: ({ name }) => ({ title: `Comparison ${name}`, details: { name } }),
    subjectOf: ({ tableId, filter, rightFilter, windowSize }) =>
      filter === null && rightFilter === null && windowSize === null
        ? { tableId, type: 'comparison', column: null }
        : null,
    presentSummary: ({ total, active, pass, fail, error, lastCheckedAt }) => ({
      total_comparisons: total,
      active_comparisons: active,
      passing_comparisons: pass,
      failing_comparisons: fail,
      error,
      last_check_at: lastCheckedAt,
    }),
    list: (request, assetId, query) =>
      inCompany(request, async trx => {
        const asset = await catalog.findAsset(trx, assetId)
        const { results, total } = await listComparisons(trx, asset, query as ComparisonFilter)
        return { items: await presentAll(trx, results), total }
      }),
    create: async (companyId, assetId, body, audit) => {
      const made = await createComparison(deps, companyId, assetId, body as NewComparison, audit)
      return db.company(companyId, trx => presentOne(trx, made))
    },
    present: (trx, comparison) => presentOne(trx, comparison),
    changeOf: (_trx, comparison, patch) => changeOf(comparison, patch as ComparisonPatch),
    sampleLimitOf: () => MAX_SAMPLES,
    presentRun: (comparison, [result], outcome) => ({
      ...presentResult(comparison, result!),
      samples: presentSamples(comparison, outcome),
    }),
    presentResult: (result, comparison) => presentResult(comparison, result),
    presentChart: async (trx, { tableId }) => ({
      operating_hours: await operatingSchedules.loadHoursOfTable(trx, tableId),
    }),
    declaration: comparisonDeclaration(deps),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: async (companyId, body) => ({
        ...(await dryRunComparison(deps, companyId, body as ComparisonDryRun)),
      }),
    },
  }
}
