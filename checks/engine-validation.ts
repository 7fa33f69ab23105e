import type { Row } from '../connectors/connector.ts'
import type { Sql } from '../connectors/sql.ts'
import type { CheckContext, CheckType, EngineValidation } from './check.ts'
import { problemFromThrown } from './plan.ts'

/**
 * Validates a check on the engine: runs the type's `engineValidations` until one fails.
 * @param context from `contextOf`
 * @param run sends one statement
 * @returns a sentence that names what is wrong, or null
 * @throws what `run` throws; if a ConnectorError blames the check, its message says what is wrong
 */
export async function validateOnEngine(
  type: CheckType,
  context: CheckContext,
  run: (select: Sql) => Promise<readonly Row[]>,
): Promise<string | null> {
  // An exception of the type itself is a problem of the check; exceptions of `run` are for the caller.
  const messageOf = (thrown: unknown) => problemFromThrown(type, thrown).message
  let validations: readonly EngineValidation[]
  try {
    validations = type.engineValidations?.(context) ?? []
  } catch (thrown) {
    return messageOf(thrown)
  }
  for (const validation of validations) {
    const rows = await run(validation.select)
    try {
      const sentence = validation.validateRows?.(rows) ?? null
      if (sentence !== null) return sentence
    } catch (thrown) {
      return messageOf(thrown)
    }
  }
  return null
}
