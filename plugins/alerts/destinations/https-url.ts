import Joi from 'joi'

/** An `https://` address in a config, without user and password. */
export const httpsUrl = Joi.string()
  .max(2048)
  .custom((value: string, helpers) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const refuse = (problem: string) => helpers.message({ custom: `{{#label}} ${problem}` })
    if (!url) return refuse('must be a URL such as https://example.com/hooks/tidemark')
    if (url.protocol !== 'https:')
      return refuse('must start with https://: alerts are sent over verified TLS only')
    if (url.username || url.password)
      return refuse('must not contain a user or password: a credential has a field of its own')
    return value
  })
