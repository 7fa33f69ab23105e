import Joi from 'joi'
import { removeBidiControls } from '../../../../server/one-line.ts'
import { httpsUrl, shorten } from '../destination.ts'
import type {
  DeliveryContext,
  DeliveryOutcome,
  DestinationType,
  Payload,
  PayloadDescription,
} from '../destination.ts'
import { parseAnswer } from './refusals.ts'
import { printableSecret, subjectIdOf } from './services.ts'

interface PagerDutyConfig {
  routing_key: string
  url: string
  /** Never stored. */
  api_token?: never
}

const ENQUEUE_URL = 'https://events.pagerduty.com/v2/enqueue'
const PAGERDUTY_URL = /^https:\/\/events(\.eu)?\.pagerduty\.com\//i

const config = Joi.object<PagerDutyConfig>({
  url: httpsUrl
    .default(ENQUEUE_URL)
    .description('Another address for EU accounts, or for a service with the same API.'),
  routing_key: printableSecret(255)
    .when('url', { is: Joi.string().pattern(PAGERDUTY_URL), then: Joi.string().alphanum().length(32) })
    .messages({
      'string.length':
        '{{#label}} must be the 32 characters of the Integration Key of an Events API v2 integration',
    })
    .description('The Integration Key of an Events API v2 integration.'),
  // Clients of PagerDuty's REST API send it. Events need the routing key only, and an unused secret is not stored.
  api_token: Joi.string()
    .max(255)
    .strip()
    .meta({ openapi: { deprecated: true } })
    .description('Not stored: events need the routing key only.'),
})

/** Stored without the routing key, which each attempt adds. */
interface PagerDutyEvent {
  event_action: 'trigger' | 'resolve'
  dedup_key: string
}

/** PagerDuty, or a service with the same API: https://developer.pagerduty.com/docs/events-api-v2-overview */
export const pagerduty: DestinationType<PagerDutyConfig> = {
  name: 'pagerduty',
  label: 'PagerDuty',
  messages: 'incidents',
  config,
  urlField: 'url',
  compose: (payload, description) =>
    JSON.stringify(
      payload.event_type === 'alert.resolved' ? resolveEvent(payload) : triggerEvent(payload, description),
    ),
  async deliver({ body, eventType }, context) {
    const event = JSON.parse(body) as PagerDutyEvent
    const triggered = await enqueue(event, context)
    if (eventType !== 'alert.test' || !mayHaveOpenedIncident(triggered)) return triggered
    const { dedup_key } = event
    const resolve = () => enqueue({ event_action: 'resolve', dedup_key }, context)
    let closed = await resolve()
    if (!closed.isDelivered && closed.latencyMs < FAST_REFUSAL_MS) closed = await resolve()
    if (closed.isDelivered) return triggered
    const errorMessage = `The test may have left an incident open: resolve it in PagerDuty. ${closed.errorMessage}`
    return { ...closed, errorMessage }
  },
}

/** A refusal that came faster than this leaves time for another try within the attempt. */
const FAST_REFUSAL_MS = 5_000

function resolveEvent(payload: Payload): PagerDutyEvent {
  return { event_action: 'resolve', dedup_key: subjectIdOf(payload) }
}

const MAX_SUMMARY_UNITS = 1_024
/** As JSON: an event may have 512 KB, of which this is at most half. */
const MAX_DETAILS_UNITS = 80_000

function triggerEvent(payload: Payload, { heading, sentence, facts }: PayloadDescription) {
  const { alert, incident, event, links } = payload
  const details = removeBidiControls(JSON.stringify(event.details))
  return {
    event_action: 'trigger',
    dedup_key: subjectIdOf(payload),
    client: 'Tidemark',
    client_url: incident?.url ?? links.alert_url,
    payload: {
      summary: shorten(sentence === '' ? heading : `${heading}. ${sentence}`, MAX_SUMMARY_UNITS),
      source: shorten(event.asset.qualified_name, 255) || 'Tidemark',
      severity: incident?.severity ?? alert.severity,
      timestamp: alert.created_at,
      component: event.asset.asset_type,
      class: event.type,
      custom_details: {
        ...Object.fromEntries(facts.map(({ name, value }) => [name, value])),
        ...(details.length <= MAX_DETAILS_UNITS && { details: JSON.parse(details) as object }),
      },
    },
    links: [
      ...(incident ? [{ href: incident.url, text: 'The incident' }] : []),
      { href: links.alert_url, text: 'The alert' },
      { href: links.asset_url, text: 'The asset' },
    ],
  }
}

async function enqueue(event: object, { config, post }: DeliveryContext<PagerDutyConfig>) {
  const { url, routing_key } = config
  const headers = { 'content-type': 'application/json', 'user-agent': 'Tidemark' }
  return explainRefusal(await post(url, { headers, body: JSON.stringify({ routing_key, ...event }) }))
}

/** Error classes of attempts that ended before anything was sent. */
const NOT_SENT = /^(egress_refused|dns|tls|configuration)$/

/** Whether an incident may be open: the event was accepted, or its outcome is unknown. */
function mayHaveOpenedIncident({ isDelivered, statusCode, errorClass }: DeliveryOutcome): boolean {
  if (isDelivered) return true
  return statusCode === null ? !NOT_SENT.test(errorClass ?? '') : statusCode >= 500
}

function explainRefusal(outcome: DeliveryOutcome): DeliveryOutcome {
  if (outcome.statusCode === 429)
    return { ...outcome, errorMessage: 'PagerDuty limits the events of this integration for a while (429)' }
  if (outcome.statusCode !== 400) return outcome
  const reason = refusalReason(outcome.responseBody)
  return reason
    ? { ...outcome, errorMessage: `PagerDuty refused the event: check routing_key and url: ${reason} (400)` }
    : outcome
}

function refusalReason(body: string | null): string | null {
  const { message, errors } = parseAnswer(body)
  const words = [message, ...(Array.isArray(errors) ? (errors as unknown[]) : [])]
  return shorten(words.filter(word => typeof word === 'string').join(': '), 300) || null
}
