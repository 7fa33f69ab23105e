import type { Request, Server, ServerRoute } from '@hapi/hapi'
import type { CheckOutcome } from '../../checks/check.ts'
import { access, caller, inCompany } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { findCheck, listChecks, listResults, noCheck, patchCheck, summarize } from './checks.ts'
import { createCheck } from './create.ts'
import type { CheckPatch, NewCheck } from './fields.ts'
import { ReferentialCheck, type ReferentialResult } from './models.ts'
import { presentCheck, presentResult } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Runs a check now; undefined when it is gone. */
type CheckNow = (
  check: ReferentialCheck,
  choice: { sampleLimit: number },
) => Promise<{ result: ReferentialResult; outcome: CheckOutcome } | undefined>

/** Orphans that the reply of an execution shows. */
const SAMPLE_LIMIT = 10

/** The routes of referential checks and their results. */
export function routes(server: Server, checkNow: CheckNow): ServerRoute[] {
  const { catalog, alerts } = server.plugins
  const assetOf = (trx: Transaction, request: Request) => catalog.findAsset(trx, param(request, 'asset_id'))
  const checkOf = async (trx: Transaction, request: Request) =>
    findCheck(trx, await assetOf(trx, request), param(request, 'check_id'))

  const base = '/api/v1/sdk/referential/{asset_id}'
  const tags = ['api', 'referential']
  const { assetParams, checkParams } = schemas
  return [
    {
      method: 'GET',
      path: `${base}/summary`,
      options: {
        ...access.read,
        description: 'How the referential checks of an asset do',
        tags,
        validate: { params: assetParams },
        response: replies.summary,
      },
      handler: request =>
        inCompany(request, async trx => {
          const summary = await summarize(trx, caller(request).companyId, await assetOf(trx, request))
          return {
            data: {
              total_checks: summary.total,
              active_checks: summary.active,
              passing_checks: summary.passing,
              failing_checks: summary.failing,
              error: summary.error,
              last_check_at: summary.lastCheckAt,
            },
          }
        }),
    },
    {
      method: 'GET',
      path: base,
      options: {
        ...access.read,
        description: 'List the referential checks of an asset',
        tags,
        validate: { params: assetParams, query: schemas.checkList },
        response: replies.checks,
      },
      handler: request =>
        inCompany(request, async trx => {
          const query = queryOf<Page & { is_active?: boolean }>(request)
          const { results, total } = await listChecks(trx, await assetOf(trx, request), query)
          return { data: { items: results.map(presentCheck) }, pagination: pagination(total, query) }
        }),
    },
    {
      method: 'POST',
      path: base,
      options: {
        ...access.write,
        description: 'Make a referential check',
        tags,
        validate: { params: assetParams, payload: schemas.newCheck },
        response: replies.made,
      },
      handler: async (request, h) => {
        const { companyId } = caller(request)
        const body = bodyOf<NewCheck>(request)
        const check = await createCheck(server, companyId, param(request, 'asset_id'), body, (trx, made) =>
          tell(request, trx, 'created', made, { name: made.name }),
        )
        return h.response({ data: presentCheck(check) }).code(201)
      },
    },
    {
      method: 'GET',
      path: `${base}/{check_id}`,
      options: {
        ...access.read,
        description: 'A referential check',
        tags,
        validate: { params: checkParams },
        response: replies.check,
        app: { errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'] },
      },
      handler: request =>
        inCompany(request, async trx => ({ data: presentCheck(await checkOf(trx, request)) })),
    },
    {
      method: 'PATCH',
      path: `${base}/{check_id}`,
      options: {
        ...access.write,
        description: 'Change a referential check',
        tags,
        validate: { params: checkParams, payload: schemas.checkPatch },
        response: replies.check,
        app: { errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'] },
      },
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<CheckPatch>(request)
          const check = await patchCheck(server, trx, await checkOf(trx, request), patch)
          await tell(request, trx, 'updated', check, { fields: fieldsOf(patch) })
          return { data: presentCheck(check) }
        }),
    },
    {
      method: 'DELETE',
      path: `${base}/{check_id}`,
      options: {
        ...access.write,
        description: 'Remove a referential check and its results',
        tags,
        validate: { params: checkParams },
        response: replies.removed,
        app: { errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'] },
      },
      handler: request =>
        inCompany(request, async trx => {
          const check = await checkOf(trx, request)
          await ReferentialCheck.query(trx).deleteById(check.id)
          await alerts.resolveOrphaned(trx, { type: 'referential_failure', causes: [check.id] })
          await tell(request, trx, 'removed', check, { name: check.name })
          return { data: { success: true, message: `Referential check ${check.name} was removed` } }
        }),
    },
    {
      method: 'POST',
      path: `${base}/{check_id}/execute`,
      options: {
        ...access.write,
        description: 'Run a referential check now',
        tags,
        validate: { params: checkParams, payload: schemas.noBody },
        response: replies.executed,
        app: { errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'] },
      },
      handler: async request => {
        const check = await inCompany(request, trx => checkOf(trx, request))
        const checked = await checkNow(check, { sampleLimit: SAMPLE_LIMIT })
        if (!checked) throw noCheck(param(request, 'check_id'))
        const { result, outcome } = checked
        return { data: presentResult(result, outcome.status === 'counted' ? outcome.samples : null) }
      },
    },
    {
      method: 'GET',
      path: `${base}/{check_id}/results`,
      options: {
        ...access.read,
        description: 'The results of a referential check, newest first',
        tags,
        validate: { params: checkParams, query: schemas.resultList },
        response: replies.results,
        app: { errors: ['ASSET_NOT_FOUND', 'REFERENTIAL_CHECK_NOT_FOUND'] },
      },
      handler: request =>
        inCompany(request, async trx => {
          const page = queryOf<Page>(request)
          const { results, total } = await listResults(trx, await checkOf(trx, request), page)
          return {
            data: { items: results.map(result => presentResult(result)) },
            pagination: pagination(total, page),
          }
        }),
    },
  ]
}

const tell = auditorOf('referential_check', ({ id }: ReferentialCheck) => id)
