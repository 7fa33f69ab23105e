/** What replies say of a check that a file or a contract manages: a change by hand lasts until the file is applied again. */
import Joi from 'joi'
import { held, inData, record, removalFields } from './envelopes.ts'

/** The file that a check is managed by, and its key in there. */
export interface CheckOwner {
  file: string
  key: string
}

/** The field of a record that names its file. */
export const managedBy = record({
  file: Joi.string().description('The file, as it was applied, or `the contract NAME`.'),
  key: Joi.string().description('Its key in the file, or the clause of the contract.'),
})
  .optional()
  .label('ManagedBy')
  .description('Present when a monitors file or a contract manages the check.')

/** Fields of the reply to a change or a removal. */
export const managedFields = {
  managed_by: managedBy,
  warnings: held.texts
    .optional()
    .description('Present when a monitors file will undo this, or an equal check exists.'),
}

/** The reply to the removal of a check. */
export function checkRemoval(message: string): Joi.Schema {
  return inData(record({ ...removalFields(message), ...managedFields }).label('CheckRemoval'))
}

/** What the reply to a change says of the file; nothing of a check that is managed by none. */
export function warnOfChange(owner: CheckOwner | null | undefined): {
  managed_by?: CheckOwner
  warnings?: string[]
} {
  return warn(owner, 'undoes this change unless the file has it, too')
}

/** The same of a removal. */
export function warnOfRemoval(owner: CheckOwner | null | undefined): {
  managed_by?: CheckOwner
  warnings?: string[]
} {
  return warn(owner, 'creates it again unless it is removed from the file, too')
}

function warn(owner: CheckOwner | null | undefined, what: string) {
  if (!owner) return {}
  const managed = `${owner.file} manages this check by the key ${owner.key}`
  return { managed_by: owner, warnings: [`${managed}: the next apply ${what}`] }
}
