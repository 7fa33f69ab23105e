import type { ServerRoute } from '@hapi/hapi'
import { access, routesOf } from '../../../server/http/access.ts'
import { param } from '../../../server/http/input.ts'
import type { Contract } from '../models.ts'
import { countClauses, noClauses, statusOfContract } from './contracts.ts'
import { pictureParams, replies } from './schemas.ts'
import type { ContractsDeps } from '../deps.ts'

const MAX_LABEL_LENGTH = 60
const BADGE_STATUS = { passing: 'passing', failing: 'failing', pending: 'unknown' } as const

/** The public picture of the status of a contract. */
export const contractPicture = (deps: ContractsDeps): ServerRoute =>
  routesOf('badges')('GET', '/badges/contracts/{public_id}.svg', access.open, {
    id: 'getContractPicture',
    description: 'The badge of a contract',
    notes: 'It shows passing, failing or unknown. An unknown id gets a grey picture with status 404.',
    tags: ['api', 'badges', 'public'],
    validate: { params: pictureParams },
    response: { status: { 200: replies.picture, 404: replies.picture }, sample: 0 },
    handler: async (request, h) =>
      deps.badges.answerPicture(h, await readPicture(deps, param(request, 'public_id'))),
  })

async function readPicture(deps: ContractsDeps, publicId: string) {
  // The request names no company, so this statement searches all of them; the rest runs as the contract's company.
  const [contract] = await deps.db.statement<Pick<Contract, 'id' | 'name' | 'companyId'>>(
    'select id, name, company_id from data_contracts where public_id = :publicId',
    { publicId },
  )
  if (!contract) return undefined
  const counts = await deps.db.company(contract.companyId, trx => countClauses(trx, [contract.id]))
  const status = statusOfContract(counts.get(contract.id) ?? noClauses())
  return { status: BADGE_STATUS[status], label: contract.name.slice(0, MAX_LABEL_LENGTH) }
}
