import type { Transaction } from '../../../server/database/database.ts'
import { hasErrorData, invalidInput, type InputError } from '../../../server/http/errors.ts'
import { createDestination, probeNew, type DestinationDeps, type NewDestination } from './destinations.ts'

/** Per request. */
export const MAX_NEW_DESTINATIONS = 20

/**
 * Checks new destinations at once, before their transaction, since their addresses are probed.
 * @throws 400 that lists the errors of all of them, with the place of each: `destinations.1.config.url`
 */
export async function probeAll(deps: DestinationDeps, given: readonly NewDestination[]): Promise<void> {
  const probed = await Promise.allSettled(given.map(input => probeNew(deps, input)))
  const errors = probed.flatMap((outcome, place) =>
    outcome.status === 'rejected' ? errorsOf(outcome.reason, place) : [],
  )
  if (errors.length === 0) return
  const refusal = invalidInput(errors)
  refusal.message = `No destination was created. ${refusal.message}`
  throw refusal
}

/** The errors of the destination at a place. @throws what no caller caused */
function errorsOf(reason: unknown, place: number): InputError[] {
  if (!hasErrorData(reason) || reason.data?.code !== 'VALIDATION_ERROR') throw reason
  const { errors } = reason.data.details as { errors: InputError[] }
  return errors.map(({ field, error, ...more }) => {
    const whole = `destinations.${place}.${field}`
    return { field: whole, error: error.replace(field, whole), ...more }
  })
}

/** Creates destinations that were probed, in their order: all of them, or none. */
export async function createDestinations(
  deps: DestinationDeps,
  trx: Transaction,
  given: readonly NewDestination[],
) {
  const created: Awaited<ReturnType<typeof createDestination>>[] = []
  for (const input of given) created.push(await createDestination(deps, trx, input))
  return created
}
