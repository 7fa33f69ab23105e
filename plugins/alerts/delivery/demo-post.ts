import { answeredOutcome, type DeliveryContext } from '../destinations/destination.ts'
import type { DemoReceiver } from '../look-ups.ts'

type Post = DeliveryContext<never>['post']

/**
 * The `post` of demo destinations: their messages go to a receiver in this process, whatever the address, so that the demo
 * needs no exception from the egress policy.
 * @param receive absent without the demo feature: then every message counts as received
 */
export function makeDemoPost(receive: DemoReceiver = () => ({ statusCode: 200, body: '' })): Post {
  return (_url, { headers, body }) => {
    const startedAt = performance.now()
    const answer = receive({ headers, body })
    return Promise.resolve(
      answeredOutcome(answer.statusCode, {
        latencyMs: Math.ceil(performance.now() - startedAt),
        responseBody: `${answer.body}Simulated: this is a demo destination, and nothing was sent`,
      }),
    )
  }
}
