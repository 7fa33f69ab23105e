import type { Stage } from './connector.ts'
import type { ConnectorError } from './errors.ts'

/** Says that a stage is done; `skipped` where the engine has nothing of the kind to try. */
export type StageReporter = (name: Stage['name'], message: string, status?: 'passed' | 'skipped') => void

export const STAGE_NAMES: readonly Stage['name'][] = ['reach', 'tls', 'sign_in', 'read_catalog']

/**
 * Runs a connection test and times its stages. What is thrown fails the first stage that was not done, and the
 * later ones are skipped; it never rejects for a failure of the database.
 * @param classify the engine's reading of what its driver throws
 * @param run tries the connection and calls `step` after each stage, in their order
 */
export async function runConnectionTest(
  classify: (thrown: unknown) => ConnectorError,
  run: (step: StageReporter) => Promise<void>,
): Promise<Stage[]> {
  const done = new Map<Stage['name'], Stage>()
  let since = performance.now()
  const elapsed = () => Math.round(performance.now() - since)
  try {
    await run((name, message, status = 'passed') => {
      const latencyMs = status === 'passed' ? elapsed() : 0
      done.set(name, { name, status, latencyMs, message })
      since = performance.now()
    })
  } catch (thrown) {
    const error = classify(thrown)
    const name = STAGE_NAMES.find(stage => !done.has(stage)) ?? 'read_catalog'
    done.set(name, { name, status: 'failed', latencyMs: elapsed(), message: error.message, error })
  }
  return STAGE_NAMES.map(
    name => done.get(name) ?? { name, status: 'skipped', latencyMs: 0, message: 'An earlier stage failed.' },
  )
}

/**
 * Tests a connection by a session, which is closed then.
 * @param open opens the session and reports the stages until it is signed in
 * @param describe reads the catalog and says what it has
 */
export function testSession<Session extends { close(): Promise<void> }>(
  classify: (thrown: unknown) => ConnectorError,
  open: (step: StageReporter) => Promise<Session>,
  describe: (session: Session) => Promise<string>,
): Promise<Stage[]> {
  return runConnectionTest(classify, async step => {
    const session = await open(step)
    try {
      step('read_catalog', await describe(session))
    } finally {
      await session.close()
    }
  })
}
