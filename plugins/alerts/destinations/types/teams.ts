import Joi from 'joi'
import {
  httpsUrl,
  shorten,
  type DestinationType,
  type DeliveryOutcome,
  type Payload,
} from '../destination.ts'

interface TeamsConfig {
  webhook_url: string
}

const config = Joi.object<TeamsConfig>({
  // It contains a signature: the address is enough to post to the channel.
  webhook_url: httpsUrl
    .meta({ secret: true })
    .required()
    .description('The address of a workflow that starts when a Teams webhook request is received.'),
})

/** A chat or channel of Microsoft Teams, over a workflow that a webhook request starts. */
export const teams: DestinationType<TeamsConfig> = {
  name: 'teams',
  label: 'Microsoft Teams',
  messages: 'incidents',
  config,
  urlField: 'webhook_url',
  /**
   * An Adaptive Card, with all names in text runs: these are not parsed, while clients show escaped Markdown differently.
   * Within the limit of 28 KiB, since each part of a description is bounded.
   */
  compose(payload, { symbol, heading, sentence, facts, links }) {
    return composeCard(
      { heading: `${symbol} ${heading}`, style: styleOf(payload) },
      [
        ...(sentence === '' ? [] : [richText([{ text: sentence }])]),
        ...facts.map(({ name, value }, place) => ({
          ...richText([{ text: `${name}: `, weight: 'Bolder' }, { text: value }]),
          spacing: place === 0 ? 'Medium' : 'Small',
        })),
      ],
      links,
    )
  },
  /** Lines show their text only: a run of text has no link, and a card takes six actions. */
  composeDigest: ({ heading, sentence, sections, links }) =>
    composeCard(
      { heading, style: 'emphasis' },
      [
        richText([{ text: sentence }]),
        ...sections.flatMap(({ title, lines }) => [
          { ...richText([{ text: title, weight: 'Bolder' }]), spacing: 'Medium' },
          ...lines.map(({ text }) => ({ ...richText([{ text: `• ${text}` }]), spacing: 'Small' })),
        ]),
      ],
      links,
    ),
  async deliver({ body }, { config: { webhook_url: url }, post }) {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Tidemark' }
    return explainRefusal(await post(url, { headers, body }))
  },
}

function composeCard(
  { heading, style }: { heading: string; style: string },
  body: object[],
  links: readonly { text: string; url: string }[],
): string {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: heading,
    msteams: { width: 'Full' },
    body: [
      {
        type: 'Container',
        style,
        bleed: true,
        items: [richText([{ text: heading, weight: 'Bolder', size: 'Medium' }])],
      },
      ...body,
    ],
    actions: links.map(({ text, url }) => ({ type: 'Action.OpenUrl', title: text, url })),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] })
}

function styleOf({ event_type: type, alert }: Payload): string {
  if (type !== 'alert.triggered') return type === 'alert.resolved' ? 'good' : 'emphasis'
  return { critical: 'attention', warning: 'warning', info: 'accent' }[alert.severity]
}

function richText(runs: object[]) {
  return { type: 'RichTextBlock', inlines: runs.map(run => ({ type: 'TextRun', ...run })) }
}

/** Error codes in the body of a refusal, with what to do about them. */
const REFUSALS: [RegExp, string][] = [
  [
    /WorkflowTriggerIsNotEnabled|WorkflowNotFound|FlowNotFound|FlowSuspended/i,
    'The workflow is switched off or deleted: switch it on in Teams, or create a new one and change webhook_url',
  ],
  [
    /AuthorizationFailed|AuthorizationRequired|AuthenticationFailed|SignatureMismatch|InvalidSharedAccess/i,
    'The workflow does not accept this request: let anyone with the address trigger it, or copy its address to webhook_url again',
  ],
  [
    /TriggerInputSchemaMismatch/i,
    'The workflow expects another message: create it from the template that posts a card to a channel',
  ],
]

/** Connectors answer 200 with this body if Teams refused the message. */
const CONNECTOR_ERROR = /^\s*Webhook message delivery failed with error:?\s*(.*)/is

function explainRefusal(outcome: DeliveryOutcome): DeliveryOutcome {
  const body = outcome.responseBody ?? ''
  if (outcome.isDelivered) {
    const [, reason] = CONNECTOR_ERROR.exec(body) ?? []
    if (reason === undefined) return outcome
    const errorMessage = `The webhook accepted the message, but Teams did not: ${shorten(reason, 300)}`
    return { ...outcome, isDelivered: false, errorClass: 'status', errorMessage }
  }
  const refusal = REFUSALS.find(([pattern]) => pattern.test(body))
  return refusal ? { ...outcome, errorMessage: `${refusal[1]} (${outcome.statusCode})` } : outcome
}
