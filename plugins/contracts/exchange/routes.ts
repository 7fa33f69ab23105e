import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import {
  apiError,
  hasCode,
  hasErrorData,
  unprocessableInput,
  type InputError,
} from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { contractActor } from '../audit.ts'
import { putContract } from '../enforcement/contracts.ts'
import { textOf } from '../enforcement/document.ts'
import { CONTRACT_PAYLOAD } from '../enforcement/routes.ts'
import { readUpload } from '../enforcement/upload.ts'
import type { ContractNode } from '../elements.ts'
import type { ContractValidator } from '../validator.ts'
import { chooseDomains, readList, type DomainChoice } from './domains.ts'
import { exportAsset, findExport, requestExport } from './export-job.ts'
import { countChanges, diffContract, nameOf } from './plan-diff.ts'
import { checkDocument, type CheckedDocument } from './check-document.ts'
import {
  applyQuery,
  assetParams,
  documentBody,
  exportBody,
  exportParams,
  exportQuery,
  planQuery,
  replies,
  type Choice,
} from './schemas.ts'
import type { ContractsDeps } from '../deps.ts'

const base = '/api/v1/contracts'
const section = routesOf('contracts')

/** Routes outside of `/sdk` answer bad input with 422. */
const route: typeof section = (method, path, guard, options) => {
  const handler: typeof options.handler = async (request, h) => {
    try {
      return await options.handler(request, h)
    } catch (error) {
      throw asUnprocessable(error, request)
    }
  }
  return section(method, path, guard, { ...options, handler })
}

function asUnprocessable(error: unknown, { query }: AnyRequest): unknown {
  if (!hasErrorData(error) || !hasCode(error, 'VALIDATION_ERROR')) return error
  const { errors = [] } = error.data?.details as { errors?: InputError[] }
  return unprocessableInput(errors, field => (Object.hasOwn(query as object, field) ? 'query' : 'body'))
}

const choiceOf = ({ include, exclude }: Choice): DomainChoice =>
  chooseDomains(readList(include), readList(exclude))

const summaryOf = (document: ContractNode) => ({
  id: textOf(document.id) ?? null,
  name: textOf(document.name) ?? null,
  version: textOf(document.version) ?? null,
  apiVersion: String(document.apiVersion),
})

/** Contracts in the shapes of the published client, on the code of those below `/sdk/contracts`. */
export const exchangeRoutes = (deps: ContractsDeps, validator: ContractValidator): ServerRoute[] => [
  route('POST', `${base}/validate`, access.read, {
    id: 'validateOwnContract',
    description: 'Validate a contract, with a summary of it',
    notes:
      'As `/api/public/contracts/validate`, for callers with a credential. An invalid contract has status 200.',
    payload: CONTRACT_PAYLOAD,
    validate: { payload: documentBody },
    response: replies.validated,
    handler: async request => {
      const { document, errors } = await readChecked(request, validator)
      return { data: { valid: document !== null, errors, contract_summary: document && summaryOf(document) } }
    },
  }),
  route('POST', `${base}/{asset_id}/plan`, access.read, {
    id: 'planContract',
    description: 'Compare a contract with the stored one of its name',
    notes: 'What applying it would add, change and remove, by part of the contract. It stores nothing.',
    payload: CONTRACT_PAYLOAD,
    validate: { params: assetParams, query: planQuery, payload: documentBody },
    response: replies.planned,
    app: { isHeavy: true },
    handler: async request => {
      const { document, errors } = await readChecked(request, validator)
      await inCompany(request, async trx => deps.catalog.findAsset(trx, param(request, 'asset_id')))
      if (!document) return { data: { valid: false, errors, diffs: {}, summary: {} } }
      const { domains } = choiceOf(request.query)
      const diffs = await inCompany(request, trx => diffContract(trx, document, domains))
      return { data: { valid: true, errors, diffs, summary: countChanges(diffs) } }
    },
  }),
  route('POST', `${base}/{asset_id}/apply`, access.write, {
    id: 'applyContract',
    description: 'Enforce a contract on the source of an asset',
    notes: 'As `PUT /api/v1/sdk/contracts/{name}`, by the name or the id in the document.',
    payload: CONTRACT_PAYLOAD,
    validate: { params: assetParams, query: applyQuery, payload: documentBody },
    response: replies.applied,
    app: { isHeavy: true },
    handler: async request => {
      const { document, text, errors } = await readChecked(request, validator)
      const { source } = await inCompany(request, trx =>
        deps.catalog.findAsset(trx, param(request, 'asset_id')),
      )
      const { domains, unsupported } = choiceOf(request.query)
      const refused = { applied: {}, unsupported_domains: unsupported, pruned: false, contract: null }
      if (!document) return { data: { valid: false, errors, ...refused } }
      // Nothing to enforce is asked for by a mistake, such as parts that contracts do not have.
      if (domains.size === 0) return { data: { valid: true, errors, ...refused } }
      const applied = await inCompany(request, trx => diffContract(trx, document, domains))
      const name = nameOf(document)
      const input = { name, text, document, source: source.id, domains: [...domains] }
      await putContract(deps, caller(request).companyId, input, contractActor(request))
      const pruned = Object.values(applied).some(({ removed }) => removed.length > 0)
      const done = { applied, unsupported_domains: unsupported, pruned, contract: name }
      return { data: { valid: true, errors, ...done } }
    },
  }),
  route('GET', `${base}/{asset_id}/export`, access.read, {
    id: 'exportContract',
    description: 'Write a contract from the catalog and the checks of an asset',
    notes:
      'YAML; of a source, that of its first 500 tables. `GET /sdk/assets/{asset_id}/contract-draft` has it as JSON.',
    validate: { params: assetParams, query: exportQuery },
    response: replies.yaml,
    app: { isHeavy: true },
    handler: async (request, h) => {
      const { domains } = choiceOf(request.query)
      const isExtended = request.query.mode === 'extended'
      const text = await inCompany(request, async trx => {
        const asset = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        return exportAsset(deps, trx, asset, { domains, isExtended, isFromProfiles: false })
      })
      return h.response(text).type('application/yaml')
    },
  }),
  route('POST', `${base}/export-jobs`, access.write, {
    id: 'createContractExport',
    description: 'Export the contracts of several sources as a zip archive',
    notes: 'A job writes it; it can be downloaded for 24 hours.',
    validate: { payload: exportBody },
    response: replies.submitted,
    app: { errors: ['ASSET_NOT_FOUND'] },
    handler: async (request, h) => {
      const asked = await inCompany(request, trx => requestExport(deps, trx, request.payload))
      return h.response({ data: { job_id: asked.id } }).code(202)
    },
  }),
  route('GET', `${base}/export-jobs/{id}`, access.read, {
    id: 'getContractExport',
    description: 'Get the state of an export of contracts',
    notes: 'It ends as completed or failed.',
    validate: { params: exportParams },
    response: replies.status,
    app: { errors: ['JOB_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const found = await findExport(trx, param(request, 'id'))
        const { id, status, contracts, error, createdAt, completedAt } = found
        return {
          data: { job_id: id, status, contracts, error, created_at: createdAt, completed_at: completedAt },
        }
      }),
  }),
  route('GET', `${base}/export-jobs/{id}/download`, access.read, {
    id: 'downloadContractExport',
    description: 'Download the archive of a completed export',
    notes: 'A zip archive with one contract a source or table.',
    validate: { params: exportParams },
    response: replies.zip,
    app: { errors: ['JOB_NOT_FOUND', 'CONFLICT'] },
    handler: async (request, h) => {
      const found = await inCompany(request, trx => findExport(trx, param(request, 'id')))
      if (!found.archive)
        throw apiError('CONFLICT', `The export is ${found.status}: download it once it is completed`, {
          status: found.status,
        })
      return h
        .response(found.archive)
        .type('application/zip')
        .header('Content-Disposition', 'attachment; filename="contracts.zip"')
    },
  }),
]

async function readChecked(
  request: AnyRequest,
  validator: ContractValidator,
): Promise<CheckedDocument & { text: string }> {
  const { input, text } = readUpload(request)
  return { ...(await checkDocument(validator, input, caller(request).companyId)), text }
}
