import { hasErrorData } from '../../../server/http/errors.ts'
import type { ContractNode } from '../elements.ts'
import { readContract } from '../enforcement/upload.ts'
import type { ContractFinding } from '../findings.ts'
import type { ContractInput } from '../read-contract.ts'
import type { ContractValidator } from '../validator.ts'

/** What is wrong with a contract, as the published client reads it. */
interface DocumentError {
  message: string
  yaml_path: string
  code: string
  line: number | null
  column: null
}

/** A contract, or what is wrong with it. */
export interface CheckedDocument {
  document: ContractNode | null
  errors: DocumentError[]
}

/** Validates a contract of a company; what is wrong with it is no error of the request. */
export async function checkDocument(
  validator: ContractValidator,
  input: ContractInput,
  companyId: string,
): Promise<CheckedDocument> {
  try {
    const { document } = await readContract(validator, input, companyId)
    return { document, errors: [] }
  } catch (error) {
    if (!hasErrorData(error) || error.output.statusCode !== 400) throw error
    // One that is nested too deeply has a sentence alone.
    const { findings, errors = [{ field: 'contract', error: error.message }] } = (error.data?.details ??
      {}) as {
      findings?: ContractFinding[]
      errors?: { field: string; error: string }[]
    }
    return { document: null, errors: findings?.map(toError) ?? errors.map(toUnreadable) }
  }
}

function toError({ path, keyword, message, line }: ContractFinding): DocumentError {
  return {
    message: `${pathOf(path)}: ${message}`,
    yaml_path: pathOf(path),
    code: keyword,
    line,
    column: null,
  }
}

function toUnreadable({ field, error }: { field: string; error: string }): DocumentError {
  const [, line] = /\bline (\d+)/.exec(error) ?? []
  return {
    message: error,
    yaml_path: field === 'contract' ? '' : field,
    code: 'unreadable',
    line: line === undefined ? null : Number(line),
    column: null,
  }
}

/** `/schema/0/name` as `schema[0].name`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map(step => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
