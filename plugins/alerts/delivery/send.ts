import type { Server } from '@hapi/hapi'
import { SIMULATED } from '../demo.ts'
import { failedOutcome, type Message, type DeliveryOutcome } from '../destinations/destination.ts'
import type { Delivery, Destination } from '../models.ts'
import { postGuarded } from '../destinations/post.ts'
import { openConfig, signingSecrets } from '../destinations/secrets.ts'
import { signBody } from '../destinations/signature.ts'

/** The part of a delivery that is the same for every attempt. */
export type DeliveryContent = Pick<Delivery, 'id' | 'messageId' | 'eventType' | 'body' | 'served'>

/** Makes one attempt. Never throws: every error becomes an outcome, with secrets redacted. */
export async function attemptDelivery(
  server: Server,
  destination: Destination,
  delivery: DeliveryContent,
  attempt: { n: number; requestId: string },
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  if (destination.isDemo) return SIMULATED
  let hidden: string[] = []
  try {
    const type = server.destinations.get(destination.destinationType)
    const { config, secrets } = openConfig(server.vault, destination)
    const signing = signingSecrets(server.vault, destination, new Date())
    hidden = [...secrets, ...secrets.flatMap(echoedParts), ...signing]
    const { messageId: id, eventType, body, served } = delivery
    const message: Message = {
      id,
      deliveryId: delivery.id,
      attempt: attempt.n,
      requestId: attempt.requestId,
      eventType,
      body,
      signatures: signBody(body, id, signing, new Date()),
      served,
    }
    const outcome = await type.deliver(message, {
      config: config as never,
      post: (url, { headers, body }) =>
        postGuarded(url, {
          headers: { ...headers, 'x-request-id': attempt.requestId },
          body,
          policy: server.egress,
          signal,
        }),
      signal,
    })
    return redactOutcome(outcome, hidden)
  } catch (error) {
    return redactOutcome(failedOutcome('configuration', (error as Error).message), hidden)
  }
}

/** The parts of a secret address that a receiver may echo: `Cannot POST /services/T0/B0/XXXX`. */
function echoedParts(secret: string): string[] {
  if (!URL.canParse(secret)) return []
  const { pathname, search } = new URL(secret)
  return [pathname + search, pathname].filter(part => part.length > 1)
}

/** Redacts secrets that a receiver echoes, and replaces NUL, which PostgreSQL cannot store. */
function redactOutcome(outcome: DeliveryOutcome, secrets: readonly string[]): DeliveryOutcome {
  const clean = (text: string | null) => {
    if (text === null) return null
    return secrets.reduce(
      (rest, secret) => (secret ? rest.replaceAll(secret, '…') : rest),
      text.replaceAll('\0', '\uFFFD'),
    )
  }
  return { ...outcome, errorMessage: clean(outcome.errorMessage), responseBody: clean(outcome.responseBody) }
}
