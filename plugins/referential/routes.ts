import type { CheckResource } from '../checks/api.ts'
import { changeOf, createCheck } from './create.ts'
import { checkDeclaration } from './declaration.ts'
import { dryRunCheck, type ReferentialDryRun } from './dry-run.ts'
import type { ReferentialDeps } from './deps.ts'
import type { CheckPatch, NewCheck } from './fields.ts'
import type { ReferentialCheck } from './models.ts'
import { presentCheck, presentResult } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Orphans that the reply of an execution shows. */
const SAMPLE_LIMIT = 10

/** Referential checks as the API offers them. */
export function referentialResource(deps: ReferentialDeps): CheckResource<ReferentialCheck> {
  const { kind, operatingSchedules } = deps
  return {
    kind,
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
      create: schemas.newCheck,
      patch: schemas.checkPatch,
      run: schemas.emptyBody,
    },
    replies,
    identify: ({ name }) => ({ title: `Referential check ${name}`, details: { name } }),
    subjectOf: ({ tableId, columnName: column, filter, windowSize }) =>
      filter === null && windowSize === null ? { tableId, type: 'referential', column } : null,
    create: async (companyId, assetId, body, audit) =>
      presentCheck(await createCheck(deps, companyId, assetId, body as NewCheck, audit)),
    present: (_trx, check) => presentCheck(check),
    changeOf: (_trx, check, patch) => changeOf(check, patch as CheckPatch),
    sampleLimitOf: () => SAMPLE_LIMIT,
    presentRun: (check, [result], outcome) =>
      presentResult(check, result!, outcome.status === 'counted' ? outcome : null),
    presentResult: (result, check) => presentResult(check, result),
    presentChart: async (trx, { tableId }) => ({
      operating_hours: await operatingSchedules.loadHoursOfTable(trx, tableId),
    }),
    declaration: checkDeclaration(deps),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: async (companyId, body) => ({
        ...(await dryRunCheck(deps, companyId, body as ReferentialDryRun)),
      }),
    },
  }
}
