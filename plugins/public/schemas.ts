import Joi from 'joi'

/** The reply of both health addresses, also with 503. */
export const healthReply = Joi.object({
  success: Joi.boolean().required(),
  data: Joi.object({
    status: Joi.valid('ok', 'degraded', 'draining').required(),
    version: Joi.string().required(),
    role: Joi.valid('all', 'web', 'worker').required(),
    database: Joi.object({
      status: Joi.valid('up', 'down').required(),
      latency_ms: Joi.number().integer().allow(null).required(),
      writable: Joi.boolean().allow(null).required(),
      embedded: Joi.boolean().required(),
    }).required(),
    jobs: Joi.object({
      status: Joi.valid('up', 'late', 'down').required(),
      lag_seconds: Joi.number().integer().allow(null).required(),
      late_queues: Joi.number().integer().allow(null).required(),
      dead: Joi.number().integer().allow(null).required(),
      workers: Joi.valid('up', 'stuck', 'none').required(),
    }).required(),
  }).required(),
  message: Joi.string().allow('').required(),
  error: Joi.string().allow('').required(),
  meta: Joi.object().required(),
}).label('Health')

export const pageParams = Joi.object({
  path: Joi.string().allow('').description('A page, such as getting-started'),
})

export const guideParams = Joi.object({
  page: Joi.string().max(200).required().description('A page, such as getting-started'),
})

export const assetParams = (files: readonly string[]) => Joi.object({ file: Joi.valid(...files).required() })

export const html = Joi.string().meta({ contentType: 'text/html' })
export const markdown = Joi.string().meta({ contentType: 'text/markdown' })
export const script = Joi.string().meta({ contentType: 'text/javascript' })
const styleSheet = Joi.string().meta({ contentType: 'text/css' })

export const plainText = Joi.string().meta({ contentType: 'text/plain' })
const typed = (contentType: string) => Joi.string().meta({ contentType })
const section = Joi.array().items(Joi.string().allow(''))
const pages = Joi.array().items(Joi.array().items(Joi.string(), Joi.array().items(section)))

/** A file of our pages, or the search index. */
export const siteFile = Joi.alternatives(
  styleSheet,
  script,
  typed('image/svg+xml'),
  typed('image/x-icon'),
  typed('image/webp'),
  pages,
).description('The file')

export const fileReply = (files: readonly string[]) =>
  (files.some(file => file.endsWith('.css')) ? Joi.alternatives(styleSheet, script) : script).description(
    'The file',
  )

const address = {
  email: Joi.string()
    .email({ tlds: false, minDomainSegments: 1 })
    .max(254)
    .required()
    .description('The email address'),
  token: Joi.string().max(500).required().description('The signature of the link in the mail'),
}

export interface UnsubscribeQuery {
  email: string
  token: string
}

export interface UnsubscribeChange extends UnsubscribeQuery {
  action: 'subscribe' | 'unsubscribe'
}

/** Mail programs and click trackers add parameters of their own. */
export const unsubscribeQuery = Joi.object<UnsubscribeQuery>(address).unknown()

export const unsubscribeChange = Joi.object<UnsubscribeChange>({
  ...address,
  action: Joi.valid('subscribe', 'unsubscribe').default('unsubscribe'),
}).unknown()

const subscription = Joi.object({ email: Joi.string().required(), subscribed: Joi.boolean().required() })
  .example({ email: 'ada@example.com', subscribed: false })
  .label('Subscription')

/** Scripts get the subscription, browsers a page, and mail programs an empty body. */
export const changed = Joi.alternatives(subscription, html.allow('')).description(
  'The subscription, as it is now; a page for browsers',
)
