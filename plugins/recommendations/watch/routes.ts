import type { ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { param } from '../../../server/http/input.ts'
import { presentStarted } from '../../../server/http/run-accepted.ts'
import { estimateBackfill, presentBackfill } from '../backfill.ts'
import { sendApply } from './jobs.ts'
import type { WatchPolicy } from '../models.ts'
import { findPolicy, removePolicy } from './policy.ts'
import { replies, watchBody, watchParams } from './schemas.ts'
import { watchTables } from './watch.ts'
import type { RecommendationsDeps } from '../deps.ts'

const route = routesOf('watch')

const watchPath = '/api/v1/sdk/assets/{asset_id}/watch'

export const watchRoutes = (deps: RecommendationsDeps): ServerRoute[] => [
  route('POST', watchPath, access.write, {
    id: 'createWatch',
    description: 'Watch many tables of a source: row counts, freshness, key columns',
    notes:
      'Creates what is missing and changes nothing that is there. With `row_count`, `freshness` or `keys` once, with the defaults of single checks. With `level` the choice is kept as the policy of the source, and applied to what each discovery and profile finds: what a person removes stays removed. With `dry_run` it returns what would be created, and what that costs at the source. A level for more than 500 tables is applied by a job: the answer is then 202.',
    validate: { params: watchParams, payload: watchBody },
    response: replies.watched,
    app: { isHeavy: true },
    handler: async (request, h) => {
      const { result, started } = await inCompany(request, async trx => {
        const {
          source,
          result: found,
          run,
        } = await watchTables(deps, trx, {
          assetId: param(request, 'asset_id'),
          by: actorOf(caller(request)),
          request: request.payload,
        })
        const counts = {
          row_count: found.row_count.created,
          freshness: found.freshness.created,
          not_null: found.not_null.created,
          unique: found.unique.created,
        }
        const { level, dry_run: isDryRun, recommended, asset_id, matched } = found
        if (!isDryRun && (level !== null || Object.values(counts).some(count => count > 0)))
          await auditRequest(request, trx, {
            action: 'watch.created',
            target: { type: 'source', id: source.id },
            details: run ? { level, matched } : { ...counts, ...(level !== null && { level, recommended }) },
          })
        // The first profiles of its tables take a while, and so do thousands of tables.
        if (run || (level !== null && level !== 'light' && !isDryRun))
          await sendApply(deps, trx, { companyId: source.companyId, sourceId: source.id })
        if (!run) return { result: found }
        const answer = presentStarted('Watching', run, '/api/v1/sdk/jobs')
        return { result: found, started: { ...answer, asset_id, matched, level } }
      })
      if (started) return h.response({ data: started }).code(202)
      const { backfill, ...data } = result
      const bytes = data.dry_run ? await estimateBackfill(deps, caller(request).companyId, backfill) : null
      return { data: { ...data, backfill: presentBackfill(backfill, bytes) } }
    },
  }),
  route('GET', watchPath, access.read, {
    id: 'getWatch',
    description: 'Get the policy that a source is watched by',
    notes: 'The level is null without one.',
    validate: { params: watchParams },
    response: replies.policy,
    handler: request =>
      inCompany(request, async trx => {
        const { source } = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: presentPolicy(source.id, await findPolicy(trx, source)) }
      }),
  }),
  route('DELETE', watchPath, access.write, {
    id: 'deleteWatch',
    description: 'Remove the policy that a source is watched by',
    notes: 'Its checks stay. Tables that are found later get none.',
    validate: { params: watchParams },
    response: replies.removed,
    app: { errors: ['ASSET_NOT_FOUND', 'NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const { source } = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        const { level } = await removePolicy(trx, source)
        await auditRequest(request, trx, {
          action: 'watch.removed',
          target: { type: 'source', id: source.id },
          details: { level },
        })
        return { data: { success: true, message: 'The policy was removed' } }
      }),
  }),
]

function presentPolicy(assetId: string, policy: WatchPolicy | undefined) {
  return {
    asset_id: assetId,
    level: policy?.level ?? null,
    include_patterns: policy?.includePatterns ?? [],
    exclude_patterns: policy?.excludePatterns ?? [],
    backfill: policy?.backfill ?? true,
    applied_at: policy?.appliedAt ?? null,
    created_at: policy?.createdAt ?? null,
    updated_at: policy?.updatedAt ?? null,
  }
}
