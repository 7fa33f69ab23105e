/** Outcomes of `deliver`, which an extension in JavaScript may return in any shape. */
import type { DeliveryOutcome } from '../destinations/destination.ts'

/** Why an attempt failed; other classes count as `other`. */
export const ERROR_CLASSES: ReadonlySet<string> = new Set([
  'egress_refused',
  'dns',
  'connect',
  'tls',
  'timeout',
  'protocol',
  'status',
  'configuration',
  'other',
])

/** As `post` reads of an answer. */
const MAX_RESPONSE_LENGTH = 16 * 1024
const MAX_MESSAGE_LENGTH = 2_000
const MAX_RECIPIENTS = 1_000

/** What is wrong with an outcome, or null. */
export function findOutcomeProblem(outcome: unknown): string | null {
  if (typeof outcome !== 'object' || outcome === null) return 'an object is required'
  const { isDelivered, statusCode, latencyMs, served, ...texts } = outcome as Record<string, unknown>
  if (typeof isDelivered !== 'boolean') return 'isDelivered must be a boolean'
  if (statusCode !== null && !Number.isInteger(statusCode)) return 'statusCode must be an integer or null'
  if (!(Number.isFinite(latencyMs) && (latencyMs as number) >= 0))
    return 'latencyMs must be a number, not below 0'
  for (const name of ['errorClass', 'errorMessage', 'address', 'tlsVersion', 'responseBody'])
    if (texts[name] !== null && typeof texts[name] !== 'string') return `${name} must be a string or null`
  const isList = Array.isArray(served) && served.every(one => typeof one === 'string')
  return served === undefined || (isList && served.length <= MAX_RECIPIENTS)
    ? null
    : 'served must be an array of strings, or left out'
}

/**
 * An outcome whose error is there if and only if it was not delivered, of a known class: an attempt without an error counts
 * as a success.
 */
export function consistentOutcome(outcome: DeliveryOutcome): DeliveryOutcome {
  const {
    isDelivered,
    statusCode,
    errorClass,
    errorMessage,
    address,
    tlsVersion,
    latencyMs,
    responseBody,
    served,
  } = outcome
  const cut = (text: string | null, length: number) => text && text.slice(0, length)
  const validClass = errorClass !== null && ERROR_CLASSES.has(errorClass) ? errorClass : 'other'
  const reason = errorMessage ?? 'The destination gave no reason'
  return {
    isDelivered,
    statusCode,
    errorClass: isDelivered ? null : validClass,
    errorMessage: isDelivered ? null : cut(reason, MAX_MESSAGE_LENGTH),
    address: cut(address, MAX_MESSAGE_LENGTH),
    tlsVersion: cut(tlsVersion, MAX_MESSAGE_LENGTH),
    latencyMs,
    responseBody: cut(responseBody, MAX_RESPONSE_LENGTH),
    ...(served && { served }),
  }
}
