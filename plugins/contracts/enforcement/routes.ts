import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditAtEnd, auditRequestAll } from '../../../server/http/audit.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { param } from '../../../server/http/input.ts'
import { pagination } from '../../../server/http/page.ts'
import { auditContract, contractActor } from '../audit.ts'
import type { Contract } from '../models.ts'
import type { ContractValidator } from '../validator.ts'
import {
  clausesOf,
  countClauses,
  findContract,
  historyOf,
  listContracts,
  noClauses,
  putContract,
  removeContract,
  summarizeContracts,
  type ClauseCounts,
} from './contracts.ts'
import { previewContract } from '../adoption/preview.ts'
import { presentClause, presentContract, presentEvent } from './present.ts'
import {
  bindingQuery,
  contractBody,
  plannedContract,
  contractList,
  contractParams,
  historyQuery,
  replies,
} from './schemas.ts'
import { readContract, readUpload } from './upload.ts'
import type { ContractsDeps } from '../deps.ts'

const base = '/api/v1/sdk/contracts'
const route = routesOf('contracts')

/** A body of YAML, or of JSON; one without a type is read as YAML, which includes JSON. */
export const CONTRACT_PAYLOAD = {
  allow: ['application/json', 'text/plain', 'text/yaml'],
  defaultContentType: 'text/plain',
}

export const enforcementRoutes = (deps: ContractsDeps, validator: ContractValidator): ServerRoute[] => [
  route('GET', base, access.read, {
    description: 'List the contracts that are enforced',
    notes: 'With their status and how many clauses have which.',
    validate: { query: contractList },
    response: replies.contracts,
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { results, total, counts } = await listContracts(deps, trx, page)
        const contracts = await presentAll(deps, trx, results, counts)
        const summary = summarizeContracts(counts)
        return { data: { contracts, summary, pagination: pagination(total, page) } }
      }),
  }),
  route('PUT', `${base}/{name}`, access.write, {
    id: 'updateContract',
    description: 'Enforce a contract on a source, or replace it',
    notes: [
      'A contract of the Open Data Contract Standard, version 3, in YAML or JSON. Its schema is compared with the catalog',
      'now and at each discovery; its quality rules become checks, and its freshness becomes schedules. A clause that',
      'cannot be enforced says why. An invalid contract is 400 with the line of each error in `details.findings`.',
    ],
    payload: CONTRACT_PAYLOAD,
    validate: { params: contractParams, query: bindingQuery, payload: contractBody },
    response: replies.stored,
    app: { isHeavy: true, errors: ['ASSET_NOT_FOUND'] },
    handler: async (request, h) => {
      const { companyId } = caller(request)
      const { input, warnings } = await readInput(request, validator)
      const { contract, isNew } = await putContract(deps, companyId, input, contractActor(request))
      const data = await deps.db.company(companyId, trx => presentDetailed(deps, trx, contract))
      return h.response({ data: { ...data, warnings } }).code(isNew ? 201 : 200)
    },
  }),
  route('POST', `${base}/{name}/plan`, access.write, {
    id: 'previewContract',
    description: 'Say what enforcing a contract would do',
    notes:
      'Takes what the PUT takes, and stores nothing. Checks and freshness schedules that judge a clause already are adopted, not made twice: `checks` counts them, and `message` says it in a sentence.',
    payload: CONTRACT_PAYLOAD,
    validate: { params: contractParams, query: bindingQuery, payload: plannedContract },
    response: replies.preview,
    app: { isHeavy: true, errors: ['ASSET_NOT_FOUND'] },
    handler: async request => {
      const { input, warnings } = await readInput(request, validator)
      return { data: { ...(await previewContract(deps, caller(request).companyId, input)), warnings } }
    },
  }),
  route('GET', `${base}/{name}`, access.read, {
    description: 'Get a contract and the status of each clause',
    notes: 'With the document as it was sent.',
    validate: { params: contractParams },
    response: replies.contract,
    app: { errors: ['CONTRACT_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => ({
        data: await presentDetailed(deps, trx, await named(request, trx)),
      })),
  }),
  route('GET', `${base}/{name}/history`, access.read, {
    id: 'listContractEvents',
    description: 'List what happened to a contract, newest first',
    notes: 'Who replaced it, and when which clause changed its status, and why.',
    validate: { params: contractParams, query: historyQuery },
    response: replies.history,
    app: { errors: ['CONTRACT_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { results, total } = await historyOf(trx, await named(request, trx), page)
        return { data: { events: results.map(presentEvent), pagination: pagination(total, page) } }
      }),
  }),
  route('DELETE', `${base}/{name}`, access.write, {
    description: 'Remove a contract with its checks',
    notes: 'Its alerts are resolved, and its history is gone.',
    validate: { params: contractParams },
    response: replies.removed,
    app: { errors: ['CONTRACT_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const name = param(request, 'name')
        const contract = await auditAtEnd(
          events => auditRequestAll(request, trx, events),
          record => removeContract(deps, trx, name, record),
        )
        await auditContract(request, trx, 'removed', contract)
        return { data: { success: true, message: `The contract ${name} was removed` } }
      }),
  }),
]

/** A contract as a request has it, with what the standard allows but is worth a look. @throws 400 */
async function readInput(request: AnyRequest, validator: ContractValidator) {
  const { input, text, source, extra_columns: extraColumns } = readUpload(request)
  const { document, warnings } = await readContract(validator, input, caller(request).companyId)
  return { input: { name: param(request, 'name'), text, document, source, extraColumns }, warnings }
}

function named(request: AnyRequest, trx: Transaction): Promise<Contract> {
  return findContract(trx, param(request, 'name'))
}

async function presentAll(
  deps: ContractsDeps,
  trx: Transaction,
  contracts: readonly Contract[],
  counts: ReadonlyMap<string, ClauseCounts>,
) {
  const sources = await rows<{ id: string; name: string }>(
    trx,
    'select id, name from sources where company_id = ? and id = any(cast(? as uuid[]))',
    [companyOf(trx), contracts.map(({ sourceId }) => sourceId)],
  )
  const names = new Map(sources.map(({ id, name }) => [id, name]))
  return contracts.map(contract =>
    presentContract(contract, {
      counts: counts.get(contract.id) ?? noClauses(),
      source: names.get(contract.sourceId) ?? '',
      baseUrl: deps.baseUrl,
    }),
  )
}

async function presentDetailed(deps: ContractsDeps, trx: Transaction, contract: Contract) {
  const [summary] = await presentAll(deps, trx, [contract], await countClauses(trx, [contract.id]))
  const clauses = await clausesOf(trx, contract)
  return { ...summary, contract: contract.text, clauses: clauses.map(presentClause) }
}
