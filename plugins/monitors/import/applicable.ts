/** Whether a converted check can be applied, as far as that is known without its server and its table. */
import { findFilterProblem, readFilter } from '../../../checks/plan.ts'
import { parseName } from '../../../connectors/catalog.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
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

/** Judges what an import makes. */
export interface ImportJudge {
  /** Why an apply would refuse a check, or null. */
  describeFault(check: CheckToApply): string | null
  /** Why a condition cannot be the filter of a check, or null. */
  describeFilterFault(text: string): string | null
}

/** Judges checks by `makeDescribeFault`, and filters as SQL of a dialect. */
export async function makeImportJudge(vocabulary: FileVocabulary, dialect: Dialect): Promise<ImportJudge> {
  // Which columns a table has is not known before an apply.
  const reader = { dialect, table: { columns: [] } }
  // Loads the parser, with which the others are read at once.
  await findFilterProblem('true', reader)
  return {
    describeFault: makeDescribeFault(vocabulary),
    describeFilterFault(text) {
      try {
        const { references } = readFilter(text, reader).text
        // The statement that checks share may have the table under another name.
        const qualified = references.find(parts => parts.length > 1)
        return qualified ? `${qualified.join('.')} names more than a column` : null
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}

/** Judges checks by the kinds and types of checks that there are. */
export function makeDescribeFault(vocabulary: FileVocabulary): ImportJudge['describeFault'] {
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
