/** Whether a converted check can be applied, as far as that is known without its server and its table. */
import { parseName } from '../../../connectors/catalog.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { validateBody } from '../../../server/http/validate-body.ts'
import type { FileVocabulary } from '../file/json-schema.ts'
import { MonitorsFileError, readDocument } from '../file/monitors-file.ts'
import { isRecord } from './values.ts'

const MAX_PATH_PARTS = 3

/** A check without its key. */
interface CheckToApply {
  kind: string
  table: string
  body: Record<string, unknown>
}

/** Why an apply would refuse a check, or null. */
export type DescribeFault = (check: CheckToApply) => string | null

/** Judges checks by the kinds and types of checks that there are. */
export function makeDescribeFault(vocabulary: FileVocabulary): DescribeFault {
  return check => {
    for (const path of [check.table, check.body.parent_table_path ?? check.table]) {
      const parts = parseName(String(path))
      if (!parts || parts.includes('') || parts.length > MAX_PATH_PARTS)
        return `${JSON.stringify(path)} is no path of a table: catalog.schema.table, or less`
    }
    try {
      assertReadable(check)
      assertValid(vocabulary, check)
      return null
    } catch (error) {
      if (error instanceof MonitorsFileError) return error.faults.map(({ message }) => message).join('; ')
      if (!hasErrorData(error)) throw error
      return error.message
    }
  }
}

/** @throws MonitorsFileError */
function assertReadable({ kind, table, body }: CheckToApply): void {
  const entries = [{ key: 'check', ...body }]
  readDocument({ version: 1, source: 'source', tables: { [table]: { checks: { [kind]: entries } } } }, '')
}

/** @throws 400 `VALIDATION_ERROR` for the body, or for what the rule type asks for */
function assertValid({ kinds, types }: FileVocabulary, { kind, body }: CheckToApply): void {
  const declared = kinds.find(each => each.kind === kind)
  if (declared) validateBody(declared.body, body)
  const type = types.find(({ family, name }) => family === 'rule' && name === body.rule_type)
  if (type) validateBody(type.config, isRecord(body.rule_config) ? body.rule_config : {})
}
