import Joi from 'joi'
import { httpsUrl, type DestinationType } from './destination.ts'

interface WebhookConfig {
  url: string
  auth: { type: 'none' } | { type: 'bearer' | 'api_key'; value: string }
  headers: Record<string, string>
}

/** Headers of the protocol and of ours: other values could change the meaning of the request or fake its signature. */
const REFUSED_HEADERS =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept-encoding|user-agent|cookie|forwarded|x-request-id|(x-service|content|proxy|sec|webhook|x-forwarded)-.*)$/i

const headerText = Joi.string()
  .max(4096)
  .pattern(/^[\t\x20-\x7e]+$/)
  .messages({ 'string.pattern.base': '{{#label}} must be printable ASCII on one line' })

const auth = Joi.object({
  type: Joi.string()
    .valid('none', 'bearer', 'api_key')
    .required()
    .description('`bearer` sends `Authorization: Bearer`, `api_key` sends `X-API-Key`.'),
  value: headerText
    .meta({ secret: true })
    .when('type', { is: 'none', then: Joi.any().strip(), otherwise: Joi.required() }),
}).default({ type: 'none' })

const headers = Joi.object()
  .pattern(
    Joi.string()
      .pattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/)
      .pattern(REFUSED_HEADERS, { invert: true }),
    headerText,
  )
  .max(20)
  .custom((value: Record<string, string>, helpers) => {
    const [twice] = [...Map.groupBy(Object.keys(value), name => name.toLowerCase()).values()].filter(
      names => names.length > 1,
    )
    return twice
      ? helpers.message({
          custom: `${twice.map(name => `headers.${name}`).join(' and ')} are the same header, since case does not count: remove one of them`,
        })
      : value
  })
  .messages({ 'object.unknown': '{{#label}} is not a header that may be set' })
  .meta({ secret: true })
  .default({})
  .description('Headers of your own, sent with each message.')

const config = Joi.object<WebhookConfig>({
  url: httpsUrl.required().description('An HTTPS address that takes POST requests.'),
  auth,
  headers,
})
  .rename('webhook_url', 'url', { override: true })
  .custom((value: WebhookConfig, helpers) => {
    const reserved = authHeader(value.auth)?.[0]
    const clash = Object.keys(value.headers).find(name => name.toLowerCase() === reserved)
    return clash
      ? helpers.message({ custom: `headers.${clash} is set by auth already: remove one of them` })
      : value
  })

function authHeader(given: WebhookConfig['auth']): [string, string] | null {
  if (given.type === 'none') return null
  return given.type === 'bearer' ? ['authorization', `Bearer ${given.value}`] : ['x-api-key', given.value]
}

/** Any HTTPS endpoint. The body is the payload, signed. */
export const webhook: DestinationType<WebhookConfig> = {
  name: 'webhook',
  label: 'Webhook',
  config,
  urlField: 'url',
  signs: true,
  composeDigest: digest => JSON.stringify({ event_type: 'digest', digest }),
  deliver(message, { config: { url, auth: given, headers: custom }, post }) {
    const credential = authHeader(given)
    return post(url, {
      body: message.body,
      headers: {
        ...custom,
        ...(credential && { [credential[0]]: credential[1] }),
        'content-type': 'application/json',
        'user-agent': 'Tidemark',
        'x-service-delivery': message.deliveryId,
        'x-service-attempt': String(message.attempt),
        ...message.signatures,
      },
    })
  },
}
