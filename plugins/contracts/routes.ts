import type { Lifecycle, Request, ServerRoute } from '@hapi/hapi'
import { access, routesOf } from '../../server/http/access.ts'
import { apiError, unprocessable } from '../../server/http/errors.ts'
import { addressOf } from '../../server/http/limits.ts'
import { envelope } from '../../server/http/replies.ts'
import type { ContractVerdict } from './findings.ts'
import { CONTENT_TYPES, contractBody, errorReply, verdictReply } from './schemas.ts'
import type { ContractInput } from './read-contract.ts'
import type { ContractValidator } from './validator.ts'

const route = routesOf('contracts')

const VALIDATIONS_PER_MINUTE = 30
const PATH = '/api/public/contracts/validate'

export function routes({ validate }: ContractValidator): ServerRoute[] {
  return [
    route('POST', PATH, access.byAddress({ name: 'contracts', perMinute: VALIDATIONS_PER_MINUTE }), {
      description: 'Validate a data contract of the Open Data Contract Standard',
      notes: [
        'Versions 2.2.2, 3.0.0 to 3.0.2 and 3.1.0, chosen by apiVersion. An invalid contract has status 200 and valid',
        'false; 422 means that the text is not YAML. A 3.x contract that only a newer 3.x accepts is valid with',
        `warnings. A client address may validate ${VALIDATIONS_PER_MINUTE} contracts per minute; 503 means that too many are waiting.`,
      ],
      // A body without a type is parsed as YAML, which includes JSON.
      payload: { allow: ['application/json', 'text/plain', 'text/yaml'], defaultContentType: 'text/plain' },
      validate: { payload: contractBody },
      response: {
        status: { 200: verdictReply, 413: errorReply, 415: errorReply, 503: errorReply },
        sample: 0,
      },
      handler: async request => {
        const address = addressOf(request, request.server.config.trustProxy)
        return presentVerdict(await validate(readInput(request), address))
      },
    }),
  ]
}

/** The requests whose body is a contract. */
const TAKES_CONTRACTS =
  /^(post \/api\/public\/contracts\/validate|put \/api\/v1\/sdk\/contracts\/[^/]+|post \/api\/v1\/sdk\/contracts\/[^/]+\/plan|post \/api\/v1\/sdk\/assets\/[^/]+\/contract-test|post \/api\/v1\/contracts\/(validate|[^/]+\/(plan|apply)))$/

/**
 * hapi parses only text and JSON, so the other YAML types become text. What is no type of a contract is refused after
 * the credential: where none is asked for, here, with the types that are taken.
 */
export const normalizeContentType: Lifecycle.Method = (request, h) => {
  if (!TAKES_CONTRACTS.test(`${request.method} ${request.path}`)) return h.continue
  const { headers } = request
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const given = type.trim().toLowerCase()
  if (given === 'application/yaml' || given === 'application/x-yaml') headers['content-type'] = 'text/yaml'
  else if (isOpen(request) && given !== '' && !CONTENT_TYPES.some(known => known === given))
    throw apiError('UNSUPPORTED_MEDIA_TYPE', `Send the contract as one of ${CONTENT_TYPES.join(', ')}`)
  return h.continue
}

const isOpen = ({ path }: Request) => path.startsWith('/api/public/')

function readInput({ payload, mime }: Request): ContractInput {
  if (payload === '' || payload === undefined) {
    const msg = 'the body is empty: send the contract in it'
    throw unprocessable([{ loc: ['body'], msg, type: 'string.empty' }])
  }
  if (typeof payload === 'string' && mime !== 'application/json') return { text: payload }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return { value: payload }
  const { contract, ...rest } = payload as { contract?: unknown }
  if (contract === undefined || Object.keys(rest).length > 0) return { value: payload }
  if (typeof contract === 'string') return { text: contract }
  const msg =
    'contract must be a string that holds the YAML; a contract that is JSON needs no field around it'
  throw unprocessable([{ loc: ['body', 'contract'], msg, type: 'string.base' }])
}

function presentVerdict({ found, ...verdict }: ContractVerdict) {
  const message = verdict.valid
    ? 'The contract is valid'
    : 'The contract is not valid: errors say where and why'
  return envelope(verdict, message, { errors_found: found.errors, warnings_found: found.warnings })
}
