import type { CheckResource } from '../checks/api.ts'
import { changeOf, createComparison } from './create.ts'
import { comparisonDeclaration } from './declaration.ts'
import type { ComparisonDeps } from './deps.ts'
import { dryRunComparison, type ComparisonDryRun } from './dry-run.ts'
import type { ComparisonPatch, NewComparison } from './fields.ts'
import { MAX_SAMPLES } from './measure.ts'
import type { Comparison } from './models.ts'
import { presentComparison, presentResult, presentSamples } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Comparisons as the API offers them. */
export function comparisonResource(deps: ComparisonDeps): CheckResource<Comparison> {
  const { kind, operatingSchedules } = deps
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
    create: async (companyId, assetId, body, audit) =>
      presentComparison(await createComparison(deps, companyId, assetId, body as NewComparison, audit)),
    present: (_trx, comparison) => presentComparison(comparison),
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
