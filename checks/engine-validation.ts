import type { Row } from '../connectors/connector.ts'
import type { Sql } from '../connectors/sql.ts'
import type { CheckContext, CheckType, EngineValidation } from './check.ts'
import { problemFromThrown } from './plan.ts'

/**
 * Asks an engine what only it can tell of a check: each question of its type, until one is answered badly.
 * @param context from `contextOf`
 * @param run sends one statement
 * @returns a sentence naming what is wrong, or null
 * @throws whatever `run` throws: of a ConnectorError that blames the check, the message is what is wrong
 */
export async function validateOnEngine(
  type: CheckType,
  context: CheckContext,
  run: (select: Sql) => Promise<readonly Row[]>,
): Promise<string | null> {
  // A type that throws is to blame itself; what `run` throws is the caller's to judge.
  const guilty = (thrown: unknown) => problemFromThrown(type, thrown).message
  let questions: readonly EngineValidation[]
  try {
    questions = type.engineValidations?.(context) ?? []
  } catch (thrown) {
    return guilty(thrown)
  }
  for (const question of questions) {
    const rows = await run(question.select)
    try {
      const sentence = question.validateRows?.(rows) ?? null
      if (sentence !== null) return sentence
    } catch (thrown) {
      return guilty(thrown)
    }
  }
  return null
}
