import type { Connection, Row } from '../connectors/connector.ts'
import { sql, type Sql } from '../connectors/sql.ts'
import type { CheckContext, CheckType, EngineValidation } from './check.ts'
import { problemFromThrown } from './plan.ts'
import { validateVolatility } from './sql/render.ts'

/** How a check is validated: statements of the type's own run, and those with a user's SQL in them do not. */
export interface ValidationSession {
  run(select: Sql): Promise<readonly Row[]>
  /** Absent where the engine has nothing of the kind. */
  validate?(statement: Sql): Promise<void>
}

/** A validation session on a connection, each of whose statements has so many milliseconds. */
export function validationSession(
  connection: Pick<Connection, 'query' | 'validate'>,
  timeoutMs: number,
): ValidationSession {
  return {
    run: select => connection.query(select, { timeoutMs }),
    ...(connection.validate && { validate: statement => connection.validate!(statement, { timeoutMs }) }),
  }
}

/** A validation session that runs equal statements once: many texts of users call the same functions. */
export function askOnce(session: ValidationSession): ValidationSession {
  const answers = new Map<string, Promise<readonly Row[]>>()
  const run: ValidationSession['run'] = select => {
    const answer = answers.get(select.key) ?? session.run(select)
    answers.set(select.key, answer)
    return answer
  }
  return { ...session, run }
}

/**
 * Validates a check on the engine: runs the type's `engineValidations` until one fails.
 * @param context from `buildCheckContext`
 * @returns a sentence that names what is wrong; null if nothing is; undefined if the engine could not be asked everything,
 *   because it accepts no statement without running it
 * @throws what the session throws; if a ConnectorError blames the check, its message says what is wrong
 */
export async function validateOnEngine(
  type: CheckType,
  context: CheckContext,
  session: ValidationSession,
): Promise<string | null | undefined> {
  // An exception of the type itself is a problem of the check; those of the session are for the caller.
  const messageOf = (thrown: unknown) => problemFromThrown(type, thrown).message
  let validations: readonly EngineValidation[]
  try {
    validations = type.engineValidations?.(context) ?? []
  } catch (thrown) {
    return messageOf(thrown)
  }
  return validateEach(validations, session, messageOf)
}

/**
 * The same of the filter of a check: that none of its functions is volatile, and that the engine knows its names and types.
 * Nothing of it is run.
 */
export function validateFilterOnEngine(
  { filter, table, dialect }: Pick<CheckContext, 'filter' | 'table' | 'dialect'>,
  session: ValidationSession,
): Promise<string | null | undefined> {
  if (!filter) return Promise.resolve(null)
  const validations = [
    ...validateVolatility(filter.text, dialect, 'filter'),
    {
      accepts: sql`select 1 as tidemark_probe from ${dialect.table(table)} where 1 = 0 and ${filter.condition}`,
    },
  ]
  return validateEach(validations, session, thrown => (thrown as Error).message)
}

async function validateEach(
  validations: readonly EngineValidation[],
  session: ValidationSession,
  messageOf: (thrown: unknown) => string,
): Promise<string | null | undefined> {
  let isUnanswered = false
  for (const validation of validations) {
    if ('accepts' in validation) {
      if (session.validate) await session.validate(validation.accepts)
      else isUnanswered = true
      continue
    }
    const rows = await session.run(validation.select)
    try {
      const sentence = validation.validateRows?.(rows) ?? null
      if (sentence !== null) return sentence
    } catch (thrown) {
      return messageOf(thrown)
    }
  }
  return isUnanswered ? undefined : null
}
