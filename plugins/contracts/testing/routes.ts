import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { waitHeaders } from '../../../server/http/run-accepted.ts'
import { DOMAINS } from '../enforcement/clause.ts'
import { CONTRACT_PAYLOAD } from '../enforcement/routes.ts'
import { readContract, readUpload } from '../enforcement/upload.ts'
import { exportAsset } from '../exchange/export-job.ts'
import { assetParams, documentBody, draftQuery, replies, testQuery } from '../exchange/schemas.ts'
import type { ContractValidator } from '../validator.ts'
import { requestTest } from './test-job.ts'
import type { ContractsDeps } from '../deps.ts'

const route = routesOf('contracts')

/** What a contract would say of a source now, and the contract that an asset keeps now. */
export const testingRoutes = (deps: ContractsDeps, validator: ContractValidator): ServerRoute[] => [
  route('POST', '/api/v1/sdk/assets/{asset_id}/contract-test', access.write, {
    id: 'testContract',
    description: 'Judge all clauses of a contract now, without storing it',
    notes:
      'Reads the catalog of the source and runs the checks of the contract once. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job. Pipelines use it as a gate.',
    payload: CONTRACT_PAYLOAD,
    validate: { params: assetParams, query: testQuery, headers: waitHeaders, payload: documentBody },
    response: replies.test,
    app: { errors: ['ASSET_NOT_FOUND', 'CONFLICT'] },
    handler: async (request, h) => {
      const upload = readUpload(request)
      const { document } = await readContract(validator, upload.input, caller(request).companyId)
      const run = await inCompany(request, async trx => {
        const { source, table } = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        if (table) throw invalidField('asset_id', `is a table, but must be a source: ${source.name}`)
        if (!source.isActive) throw deps.catalog.sourceInactive(source)
        const extraColumns = upload.extra_columns ?? 'allow'
        return requestTest(deps, trx, { source, document, extraColumns })
      })
      return deps.catalog.answerStarted(request, h, 'ContractTest', run, { asset_id: run.assetId })
    },
  }),
  route('GET', '/api/v1/sdk/assets/{asset_id}/contract-draft', access.read, {
    id: 'getContractDraft',
    description: 'Draft a contract from the catalog and the checks of an asset',
    notes:
      'Types, keys and descriptions come from the catalog, tags become the classification, the checks that there are become quality rules and service levels, and what all rows keep in the latest profile is promised too. Nothing is stored.',
    validate: { params: assetParams, query: draftQuery },
    response: replies.draft,
    handler: request =>
      inCompany(request, async trx => {
        const asset = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        const isExtended = request.query.mode === 'extended'
        const contract = await exportAsset(deps, trx, asset, {
          domains: new Set(DOMAINS),
          isExtended,
          isFromProfiles: true,
        })
        return { data: { contract } }
      }),
  }),
]
