import { hasErrorData, invalidInput, type InputError } from '../../../server/http/errors.ts'
import type { Table } from '../../catalog/api.ts'

/** Finds a table whose path stands in another field than `table_path`, and names that field in errors. */
export async function namingField(field: string, finding: Promise<Table>): Promise<Table> {
  try {
    return await finding
  } catch (error) {
    const details = hasErrorData(error) ? error.data?.details : undefined
    if (details?.field !== 'table_path') throw error
    const {
      errors,
      field: _field,
      error: _error,
      ...more
    } = details as { errors: InputError[] } & Partial<InputError>
    throw invalidInput(
      errors.map(each => ({ ...each, field, error: each.error.replace('table_path', field) })),
      more,
    )
  }
}
