import Joi from 'joi'
import { httpsUrl, shorten, type DestinationType, type DeliveryOutcome, type Payload } from './destination.ts'

interface TeamsConfig {
  webhook_url: string
}

const config = Joi.object<TeamsConfig>({
  // It holds a signature: whoever knows the address can write into the channel.
  webhook_url: httpsUrl.meta({ secret: true }).required(),
})

/** A chat or channel of Microsoft Teams, by a workflow that starts when a webhook request is received. */
export const teams: DestinationType<TeamsConfig> = {
  name: 'teams',
  label: 'Microsoft Teams',
  config,
  urlField: 'webhook_url',
  /**
   * An Adaptive Card, with all names in text runs: these are not parsed, while escaped Markdown is shown differently
   * by the clients of each system. Within the 28 KiB that Teams takes, since each part of a description is bounded.
   */
  compose(payload, { symbol, heading, sentence, facts, links }) {
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      fallbackText: heading,
      msteams: { width: 'Full' },
      body: [
        {
          type: 'Container',
          style: styleOf(payload),
          bleed: true,
          items: [richText([{ text: `${symbol} ${heading}`, weight: 'Bolder', size: 'Medium' }])],
        },
        richText([{ text: sentence }]),
        ...facts.map(({ name, value }, place) => ({
          ...richText([{ text: `${name}: `, weight: 'Bolder' }, { text: value }]),
          spacing: place === 0 ? 'Medium' : 'Small',
        })),
      ],
      actions: links.map(({ text, url }) => ({ type: 'Action.OpenUrl', title: text, url })),
    }
    const contentType = 'application/vnd.microsoft.card.adaptive'
    return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] })
  },
  async deliver({ body }, { config: { webhook_url: url }, post }) {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Tidemark' }
    return explainRefusal(await post(url, { headers, body }))
  },
}

function styleOf({ event_type: type, alert }: Payload): string {
  if (type !== 'alert.triggered') return type === 'alert.resolved' ? 'good' : 'emphasis'
  return { critical: 'attention', warning: 'warning', info: 'accent' }[alert.severity]
}

function richText(runs: object[]) {
  return { type: 'RichTextBlock', inlines: runs.map(run => ({ type: 'TextRun', ...run })) }
}

/** What is said in the body of a refusal, and what to do about it. */
const REFUSALS: [RegExp, string][] = [
  [
    /WorkflowTriggerIsNotEnabled|WorkflowNotFound|FlowNotFound|FlowSuspended/i,
    'The workflow is switched off or gone: switch it on in Teams, or make a new one and change webhook_url',
  ],
  [
    /AuthorizationFailed|AuthorizationRequired|AuthenticationFailed|SignatureMismatch|InvalidSharedAccess/i,
    'The workflow does not take this request: let anyone with the address trigger it, or copy its address to webhook_url anew',
  ],
  [
    /TriggerInputSchemaMismatch/i,
    'The workflow expects another message: make it from the template that posts a card to a channel',
  ],
]

/** Connectors say so in the body of a 200 when Teams did not take what they passed on. */
const CONNECTOR_ERROR = /^\s*Webhook message delivery failed with error:?\s*(.*)/is

function explainRefusal(outcome: DeliveryOutcome): DeliveryOutcome {
  const said = outcome.responseBody ?? ''
  if (outcome.isDelivered) {
    const [, reason] = CONNECTOR_ERROR.exec(said) ?? []
    if (reason === undefined) return outcome
    const errorMessage = `The webhook took the message, but Teams did not: ${shorten(reason, 300)}`
    return { ...outcome, isDelivered: false, errorClass: 'status', errorMessage }
  }
  const known = REFUSALS.find(([pattern]) => pattern.test(said))
  return known ? { ...outcome, errorMessage: `${known[1]} (${outcome.statusCode})` } : outcome
}
