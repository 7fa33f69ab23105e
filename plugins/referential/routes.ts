import type { Server } from '@hapi/hapi'
import { inCompany } from '../../server/http/access.ts'
import { newestFirst } from '../../server/http/page.ts'
import type { CheckNow, CheckResource } from '../scans/api.ts'
import { findCheck, listChecks, patchCheck, removeCheck, summarize, type CheckFilter } from './checks.ts'
import { createCheck } from './create.ts'
import { checkDeclaration } from './declaration.ts'
import { dryRunCheck, type ReferentialDryRun } from './dry-run.ts'
import type { NewCheck } from './fields.ts'
import { ReferentialResult, type NamedCheck, type ReferentialCheck } from './models.ts'
import { presentCheck, presentResult } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Orphans that the reply of an execution shows. */
const SAMPLE_LIMIT = 10

/** Referential checks as the API offers them. */
export function referentialResource(
  server: Server,
  checkNow: CheckNow<ReferentialCheck, ReferentialResult>,
): CheckResource<NamedCheck, ReferentialResult> {
  return {
    names: {
      path: 'referential',
      one: 'referential check',
      many: 'referential checks',
      id: 'check_id',
      run: 'execute',
      results: 'results',
      audit: 'referential_check',
      notFound: 'REFERENTIAL_CHECK_NOT_FOUND',
      errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'],
    },
    schemas: {
      id: schemas.checkId,
      list: schemas.checkList,
      create: schemas.newCheck,
      patch: schemas.checkPatch,
      run: schemas.emptyBody,
    },
    replies,
    identify: ({ id, name }) => ({ id, title: `Referential check ${name}`, details: { name } }),
    subjectOf: ({ tableId, childColumnName: column }) => ({ tableId, type: 'referential', column }),
    summarize,
    list: (request, assetId, query) =>
      inCompany(request, async trx => {
        const asset = await server.plugins.catalog.findAsset(trx, assetId)
        const { results, total } = await listChecks(trx, asset, query as CheckFilter)
        return { items: results.map(presentCheck), total }
      }),
    create: async (companyId, assetId, body, audit) =>
      presentCheck(await createCheck(server, companyId, assetId, body as NewCheck, audit)),
    find: findCheck,
    present: (_trx, check) => presentCheck(check),
    patch: (trx, check, patch) => patchCheck(server, trx, check, patch),
    remove: (trx, check) => removeCheck(server, trx, check),
    async run(check) {
      const checked = await checkNow(check, { sampleLimit: SAMPLE_LIMIT })
      if (!checked) return undefined
      const { result, outcome } = checked
      return presentResult(check, result, outcome.status === 'counted' ? outcome : null)
    },
    results: (trx, { id }) =>
      ReferentialResult.query(trx).where('referentialCheckId', id).orderBy(newestFirst('checkedAt', 'id')),
    presentResult: (result, check) => presentResult(check, result),
    presentChart: async (trx, { tableId }) => ({
      operating_hours: await server.plugins.operatingSchedules.loadHoursOfTable(trx, tableId),
    }),
    declaration: checkDeclaration(server),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: (companyId, body) => dryRunCheck(server, companyId, body as ReferentialDryRun),
    },
  }
}
