import Joi from 'joi'
import { held } from '../../../server/http/envelopes.ts'
import type { AlertKind } from '../../alerts/api.ts'
import { CLAUSE_KINDS } from './clause.ts'

/** A clause of a contract does not hold. */
export const contractViolation: AlertKind = {
  name: 'contract_violation',
  label: 'contract',
  title: 'broken contract',
  isRechecked: true,
  details: Joi.object({
    contract: held.text.description('The name of the contract.'),
    contract_version: held.text.allow(null),
    owner: held.text.allow(null).description('Who answers for the contract.'),
    clause: held.text.description('The clause that does not hold, in words.'),
    clause_key: held.text,
    clause_kind: Joi.valid(...CLAUSE_KINDS),
    reason: held.text.allow(null),
    table_path: held.text.allow(null).description('As the contract names it.'),
    column_name: held.text.allow(null),
  }),
  facts: ({ contract, contract_version: version, owner, clause }, { join }) => [
    ['Contract', join([contract, version], ' ')],
    ['Owner', owner],
    ['Clause', clause],
  ],
}
