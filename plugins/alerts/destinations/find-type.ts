import type { Logger } from 'pino'
import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import { unknownName } from '../../../server/http/errors.ts'
import type { Registry } from '../../../server/registry.ts'
import type { DestinationType } from './destination.ts'

/** @throws 400 for a name that no type has */
export function getDestinationType(types: Registry<DestinationType>, name: string): DestinationType {
  if (types.has(name)) return types.get(name)
  throw unknownName('destination_type', name, types.names())
}

/** Why no destination of a type can be created, as it says; null if one can. A type that throws has none. */
export function whyUnavailable(log: Logger, type: DestinationType): string | null {
  try {
    const reason: unknown = type.unavailable?.() ?? null
    if (reason === null || typeof reason === 'string') return reason
    ignoreRejection(reason)
    throw new TypeError(`unavailable of ${type.name} must return a sentence or null`)
  } catch (thrown) {
    return reportThrown(log, `destination type ${type.name}`, thrown, { fields: { call: 'unavailable' } })
  }
}
