import Joi from 'joi'

/** The reply of both health addresses, also with 503. */
export const healthReply = Joi.object({
  success: Joi.boolean().required(),
  data: Joi.object({
    status: Joi.valid('ok', 'degraded').required(),
    version: Joi.string().required(),
    database: Joi.object({
      status: Joi.valid('up', 'down').required(),
      latency_ms: Joi.number().integer().allow(null).required(),
    }).required(),
    jobs: Joi.object({ status: Joi.valid('up', 'late', 'down').required() }).required(),
  }).required(),
  message: Joi.string().allow('').required(),
  error: Joi.string().allow('').required(),
  meta: Joi.object().required(),
})

export const pageParams = Joi.object({
  path: Joi.string().allow('').description('A page, such as getting-started.md'),
})

/** The files of the reference that are served, all others of its package are not. */
export const assetParams = Joi.object({
  file: Joi.valid('swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png').required(),
})

export const html = Joi.string().meta({ contentType: 'text/html' })
export const markdown = Joi.string().meta({ contentType: 'text/markdown' })
export const script = Joi.string().meta({ contentType: 'text/javascript' })
