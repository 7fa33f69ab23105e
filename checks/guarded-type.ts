/** Check types of extensions: what they throw or return wrongly costs the check alone, and is shown in no words of theirs. */
import { boundMembers, ignoreRejection } from '../connectors/foreign-code.ts'
import { ConnectorError } from '../connectors/errors.ts'
import { Sql } from '../connectors/sql.ts'
import type { CheckType, EngineValidation } from './check.ts'
import { NotFiniteError } from './measures.ts'

/** A function of a check type threw, did not end, or returned what it may not; the message quotes nothing. */
export class CheckTypeError extends Error {
  override readonly name = 'CheckTypeError'
}

/** What the host does for the calls. */
export interface CheckTypeHost {
  /** Logs what was thrown. */
  report(thrown: unknown, call: string): void
  /** Rejects when `work` does not end in time. */
  within<Answer>(work: () => Answer | Promise<Answer>): Promise<Answer>
}

const THREW = 'it threw an error; the log has more'

/** What a function gave is wrong: why, or null. */
type FindProblem = (answer: unknown) => string | null

/** The functions whose errors become those of the check, with what is wrong with an answer. */
const ANSWERS: Record<string, FindProblem> = {
  valid: () => null,
  isStrict: () => null,
  measure: () => null,
  percentileOf: () => null,
  measures: answer => (isObject(answer) ? null : 'must be an object of measures by their names'),
  engineValidations: answer => (Array.isArray(answer) ? null : 'must be an array'),
  samples(answer) {
    if (!isObject(answer)) return 'must be an object'
    const { where, select, rows, columns } = answer
    if (!((select ?? where) instanceof Sql)) return 'needs where or select, written with sql`…`'
    if (rows !== undefined && !(rows instanceof Sql)) return 'rows must be written with sql`…`'
    const isList = Array.isArray(columns) && columns.every(name => typeof name === 'string')
    return columns === undefined || isList ? null : 'columns must be an array of names'
  },
}

/** A check type whose functions throw a `CheckTypeError`, and none of which can keep a caller waiting. */
export function guardCheckType(type: CheckType, host: CheckTypeHost): CheckType {
  const guarded = boundMembers(type) as CheckType & Record<string, unknown>
  const replace = (name: string, make: (call: (...given: unknown[]) => unknown) => unknown) => {
    const call = guarded[name]
    if (typeof call === 'function') Object.assign(guarded, { [name]: make(call as () => unknown) })
  }
  const attempt = <Answer>(name: string, work: () => Answer): Answer => {
    try {
      return work()
    } catch (thrown) {
      throw toCheckTypeError(thrown, name, host)
    }
  }
  const findReadingProblem = type.family === 'rule' ? findCountsProblem : findNumberProblem
  for (const [name, findProblem] of Object.entries({ ...ANSWERS, readMeasures: findReadingProblem }))
    replace(name, call => (...given: unknown[]) => {
      const answer = attempt(name, () => call(...given))
      ignoreRejection(answer)
      const problem = findProblem(answer)
      if (problem !== null) throw new CheckTypeError(`${name} ${problem}`)
      return name === 'engineValidations'
        ? (answer as EngineValidation[]).map(each => guardRows(each, attempt))
        : answer
    })
  // A warning is no reason to refuse or lose a check.
  replace('configWarnings', call => (...given: unknown[]) => {
    try {
      const warnings = call(...given)
      ignoreRejection(warnings)
      return Array.isArray(warnings) ? warnings.filter(warning => typeof warning === 'string') : []
    } catch (thrown) {
      host.report(thrown, 'configWarnings')
      return []
    }
  })
  replace('validateConfig', call => async (...given: unknown[]) => {
    let sentence: unknown
    try {
      sentence = await host.within(() => call(...given))
    } catch (thrown) {
      throw toCheckTypeError(thrown, 'validateConfig', host)
    }
    if (sentence === undefined || sentence === null || typeof sentence === 'string') return sentence ?? null
    throw new CheckTypeError('validateConfig must give a sentence or null')
  })
  return guarded
}

function guardRows(
  validation: EngineValidation,
  attempt: <Answer>(name: string, work: () => Answer) => Answer,
): EngineValidation {
  if (!('select' in validation) || !validation.validateRows) return validation
  const { select, validateRows } = validation
  return { select, validateRows: rows => attempt('validateRows', () => validateRows(rows)) }
}

/** Errors of the host's own, which functions of check types pass on, keep their words. */
function toCheckTypeError(thrown: unknown, name: string, host: CheckTypeHost): unknown {
  if (thrown instanceof NotFiniteError || thrown instanceof ConnectorError) return thrown
  host.report(thrown, name)
  return new CheckTypeError(THREW)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Taken for zeros, counts that are none would pass. */
function findCountsProblem(answer: unknown): string | null {
  const isCount = (value: unknown) => Number.isFinite(value) && (value as number) >= 0
  return isObject(answer) && isCount(answer.total) && isCount(answer.invalid)
    ? null
    : 'must give total and invalid as numbers, not below 0'
}

function findNumberProblem(answer: unknown): string | null {
  return answer === null || typeof answer === 'number' ? null : 'must give a number or null'
}
