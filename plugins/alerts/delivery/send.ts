import { reportThrown } from '../../../server/extension-errors.ts'
import { callWithin, DeadlineError } from '../../../server/with-timeout.ts'
import type { Deps } from '../deps.ts'
import {
  EgressFailure,
  failedOutcome,
  type DeliveryContext,
  type DeliveryOutcome,
  type DestinationType,
  type Message,
} from '../destinations/destination.ts'
import { makeDemoPost } from './demo-post.ts'
import { demoEgress, openEgress, type OpenEgress } from './egress.ts'
import { consistentOutcome, findOutcomeProblem } from './outcome-shape.ts'
import type { Delivery, Destination } from '../models.ts'
import { openConfig, signingSecrets } from '../destinations/secrets.ts'
import { signBody } from '../destinations/signature.ts'

/**
 * The body of a message that its type could not compose: each attempt to send it fails. Composing throws nothing, since it
 * is done in the transaction that stores what was found, for all destinations.
 */
export const UNCOMPOSED = ''

/** What an attempt uses. */
type AttemptDeps = Pick<Deps, 'types' | 'vault' | 'egress' | 'deadlines' | 'log' | 'lookUps'>

/** The part of a delivery that is the same for every attempt. */
type DeliveryContent = Pick<Delivery, 'id' | 'messageId' | 'eventType' | 'body' | 'served'>

/** What an attempt is about beside its body; null of a digest. */
export type MessageAbout = Pick<Message, 'severity' | 'event'>

const ABOUT_NOTHING: MessageAbout = { severity: null, event: null }

/** Makes one attempt. Never throws: every error becomes an outcome, with secrets redacted. */
export async function attemptDelivery(
  deps: AttemptDeps,
  destination: Destination,
  delivery: DeliveryContent,
  attempt: { n: number; requestId: string; about: MessageAbout | null },
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  let hidden: string[] = []
  try {
    const type = deps.types.get(destination.destinationType)
    if (delivery.body === UNCOMPOSED) return uncomposedOutcome(type)
    const { config, secrets } = openConfig(deps.vault, destination)
    const signing = signingSecrets(deps.vault, destination, new Date())
    hidden = [...secrets, ...secrets.flatMap(echoedParts), ...signing]
    const { messageId: id, eventType, body, served } = delivery
    const message: Message = {
      id,
      deliveryId: delivery.id,
      attempt: attempt.n,
      requestId: attempt.requestId,
      eventType,
      body,
      ...(attempt.about ?? ABOUT_NOTHING),
      signatures: type.signs ? signBody(body, id, signing, new Date()) : {},
      served,
    }
    const open = (given: AbortSignal) =>
      destination.isDemo
        ? demoEgress(makeDemoPost(deps.lookUps.demoReceiver))
        : openEgress({ policy: deps.egress, requestId: attempt.requestId, signal: given })
    const outcome = await callDeliver(deps, type, { message, config, open, secrets: hidden, signal })
    return redactOutcome(outcome, hidden)
  } catch (error) {
    return redactOutcome(failedOutcome('configuration', (error as Error).message), hidden)
  }
}

/** Lets a type make its attempt: what it throws is logged, and it ends in time, with an outcome that can be stored. */
async function callDeliver(
  { deadlines, log }: AttemptDeps,
  type: DestinationType,
  {
    message,
    config,
    open,
    secrets,
    signal,
  }: {
    message: Message
    config: object
    open(given: AbortSignal): OpenEgress
    secrets: readonly string[]
    signal: AbortSignal
  },
): Promise<DeliveryOutcome> {
  const what = `destination type ${type.name}`
  const startedAt = performance.now()
  const failed = (errorClass: string, errorMessage: string) =>
    failedOutcome(errorClass, errorMessage, { latencyMs: Math.round(performance.now() - startedAt) })
  let opened: OpenEgress | undefined
  const attempt = (given: AbortSignal) => {
    opened = open(given)
    const { egress } = opened
    const post: DeliveryContext<never>['post'] = (url, request) =>
      egress.request(url, { ...request, method: 'POST' })
    return type.deliver(message, { config, egress, post, signal: given } as DeliveryContext<never>)
  }
  try {
    const limits = { signal, graceMs: deadlines.grace }
    const outcome = await callWithin(deadlines.deliver, attempt, limits)
    const problem = findOutcomeProblem(outcome)
    return problem === null
      ? consistentOutcome(outcome)
      : failed('configuration', `The ${what} returned a wrong outcome of deliver: ${problem}`)
  } catch (thrown) {
    if (thrown instanceof DeadlineError)
      return failed(
        'timeout',
        `The ${what} did not end deliver within ${deadlines.deliver / 1_000} s: check that the receiver answers`,
      )
    if (thrown instanceof EgressFailure) return failed(thrown.errorClass, thrown.message)
    return failed('configuration', reportThrown(log, what, thrown, { secrets, fields: { call: 'deliver' } }))
  } finally {
    opened?.close()
  }
}

function uncomposedOutcome({ name }: DestinationType): DeliveryOutcome {
  const message = `The destination type ${name} could not compose the message; the log has more`
  return failedOutcome('configuration', message)
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
