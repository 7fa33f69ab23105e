import Joi from 'joi'
import {
  httpsUrl,
  shorten,
  type DeliveryContext,
  type DeliveryOutcome,
  type DestinationType,
  type Payload,
  type PayloadDescription,
} from '../destination.ts'
import { replaceTags } from './escape.ts'
import { explainStatus } from './refusals.ts'
import { printableSecret, subjectIdOf } from './services.ts'

interface OpsgenieConfig {
  api_key: string
  url: string
}

const ALERTS_URL = 'https://api.opsgenie.com/v2/alerts'

const config = Joi.object<OpsgenieConfig>({
  url: httpsUrl
    .default(ALERTS_URL)
    .description(
      'Another address for accounts in the EU (api.eu.opsgenie.com), or for Jira Service Management.',
    ),
  api_key: printableSecret(255).description(
    'The key of an API integration that may create and update alerts.',
  ),
})

/** Stored without the key, which each attempt adds. */
interface OpsgenieRequest {
  alias: string
  action: 'create' | 'close'
  body: object
}

/** Opsgenie, and alerts of Jira Service Management: https://docs.opsgenie.com/docs/alert-api */
export const opsgenie: DestinationType<OpsgenieConfig> = {
  name: 'opsgenie',
  label: 'Opsgenie',
  messages: 'incidents',
  config,
  urlField: 'url',
  compose: (payload, description) =>
    JSON.stringify(
      payload.event_type === 'alert.resolved'
        ? closeRequest(
            subjectIdOf(payload),
            replaceTags(shorten(`${description.heading}. ${description.sentence}`, 2_000)),
          )
        : createRequest(payload, description),
    ),
  async deliver({ body, eventType }, context) {
    const request = JSON.parse(body) as OpsgenieRequest
    const sent = await send(request, context)
    if (eventType !== 'alert.test' || !sent.isDelivered) return sent
    const closed = await send(closeRequest(request.alias, 'The test is over'), context)
    if (closed.isDelivered) return sent
    const errorMessage = `The test may have left an alert open: close it in Opsgenie. ${closed.errorMessage}`
    return { ...closed, errorMessage }
  },
}

function closeRequest(alias: string, note: string): OpsgenieRequest {
  return { alias, action: 'close', body: { source: 'Tidemark', note } }
}

const PRIORITIES = { critical: 'P1', warning: 'P3', info: 'P5' }

function createRequest(payload: Payload, { heading, sentence, facts, links }: PayloadDescription) {
  const { alert, incident, event } = payload
  // A repeated create with the alias of an open alert only counts on it.
  const alias = subjectIdOf(payload)
  const lines = [heading, sentence, ...links.map(({ text, url }) => `${text}: ${url}`)]
  const body = {
    alias,
    // Both are shown as HTML.
    message: replaceTags(shorten(heading, 130)),
    description: replaceTags(lines.filter(line => line !== '').join('\n')),
    details: Object.fromEntries(facts.map(({ name, value }) => [name, value])),
    entity: shorten(event.asset.qualified_name, 512),
    source: 'Tidemark',
    priority: PRIORITIES[incident?.severity ?? alert.severity],
  }
  return { alias, action: 'create', body } satisfies OpsgenieRequest
}

async function send(
  { alias, action, body }: OpsgenieRequest,
  { config: { url, api_key }, post }: DeliveryContext<OpsgenieConfig>,
): Promise<DeliveryOutcome> {
  const address = new URL(url)
  if (action === 'close') {
    address.pathname = `${address.pathname}/${encodeURIComponent(alias)}/close`
    address.searchParams.set('identifierType', 'alias')
  }
  const headers = {
    authorization: `GenieKey ${api_key}`,
    'content-type': 'application/json',
    'user-agent': 'Tidemark',
  }
  return explainStatus(await post(address.href, { headers, body: JSON.stringify(body) }), REFUSALS)
}

const REFUSALS = {
  401: 'Opsgenie does not accept the key: check api_key, and url for an account in the EU',
  403: 'The key may not do this: give the API integration the right to create and update alerts',
  404: 'Nothing takes alerts at this address: check url',
  422: 'Opsgenie refused the alert: check that api_key is of an API integration',
  429: 'Opsgenie limits the requests of this account for a while',
}
