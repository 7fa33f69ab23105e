import Joi from 'joi'
import type { AnyRequest } from '../../../server/http/access.ts'
import { storable } from '../../../server/database/storable.ts'
import { hasErrorData, invalidField, invalidInput } from '../../../server/http/errors.ts'
import { inputErrorsOf, VALIDATION_OPTIONS } from '../../../server/http/validation-messages.ts'
import { isNode, type ContractNode } from '../elements.ts'
import type { ContractFinding, ContractVerdict } from '../findings.ts'
import type { ContractInput as ParsedInput } from '../read-contract.ts'
import type { ContractValidator } from '../validator.ts'

/** Where a contract is bound, beside it in the body or in the query. */
export interface ContractBinding {
  source?: string
  extra_columns?: 'allow' | 'fail'
}

/** A contract as a request holds it. */
export interface UploadedContract extends ContractBinding {
  input: ParsedInput
  /** As it is kept. */
  text: string
}

export const bindingFields = {
  source: Joi.string()
    .min(1)
    .max(1_000)
    .description('The source that it is enforced on, by id or name; required for a new contract.'),
  extra_columns: Joi.string()
    .valid('allow', 'fail')
    .description(
      'Whether columns that the contract does not name break it; defaults to allow. A custom property `extraColumns` of the contract, or of one of its tables, goes before it.',
    ),
}

/** A contract in a field, with its binding beside it. */
export const wrappedContract = Joi.object({
  contract: Joi.alternatives(Joi.string().max(1_000_000), Joi.object().unknown())
    .required()
    .description('The YAML, or the contract as an object.'),
  ...bindingFields,
})

/** The contract in the body of a request: YAML, JSON, or either in the field `contract`. @throws 400 */
export function readUpload({ payload, mime, query }: AnyRequest): UploadedContract {
  const asked = query as ContractBinding
  if (payload === undefined || payload === null || payload === '')
    throw invalidField('body', 'is empty: send the contract in it')
  if (typeof payload === 'string' && mime !== 'application/json')
    return { ...asked, input: { text: payload }, text: payload }
  if (!isNode(payload) || !('contract' in payload))
    return { ...asked, input: { value: payload }, text: JSON.stringify(payload, null, 2) }
  const { value, error } = wrappedContract.validate(payload, { ...VALIDATION_OPTIONS, convert: false })
  if (error) throw invalidInput(inputErrorsOf(error, wrappedContract))
  const { contract, ...binding } = value as ContractBinding & { contract: string | ContractNode }
  return typeof contract === 'string'
    ? { ...asked, ...binding, input: { text: contract }, text: contract }
    : { ...asked, ...binding, input: { value: contract }, text: JSON.stringify(contract, null, 2) }
}

/** A contract that was found valid, as it is stored. */
export interface ReadContract {
  document: ContractNode
  warnings: ContractFinding[]
}

const MAX_LISTED_ERRORS = 100

/**
 * Validates and parses a contract of a company.
 * @throws 400 for one that is not valid, with the line of each error in `findings`; 413, 503
 */
export async function readContract(
  validator: Pick<ContractValidator, 'read'>,
  input: ParsedInput,
  companyId: string,
): Promise<ReadContract> {
  const { verdict, json = '{}' } = await validator.read(input, companyId).catch(asInvalidInput)
  assertUsable(verdict)
  return { document: JSON.parse(json) as ContractNode, warnings: verdict.warnings }
}

/** Routes below `/sdk` answer with 400 for a text that is no YAML, too. */
function asInvalidInput(error: unknown): never {
  if (!hasErrorData(error) || error.output.statusCode !== 422) throw error
  const faults = error.data?.detail ?? []
  throw invalidInput(faults.map(({ msg }) => ({ field: 'contract', error: msg })))
}

function assertUsable({ valid, api_version: version, errors }: ContractVerdict): void {
  if (valid && version?.startsWith('v3.')) return
  if (valid)
    throw invalidField(
      'apiVersion',
      `is ${version}, but only contracts of version 3 are enforced: migrate it`,
    )
  throw invalidInput(
    errors.slice(0, MAX_LISTED_ERRORS).map(({ path, line, message }) => ({
      field: storable(path) || 'contract',
      error: `${line === null ? '' : `line ${line}: `}${storable(message)}`,
    })),
    { findings: errors },
    Math.max(0, errors.length - MAX_LISTED_ERRORS),
  )
}
