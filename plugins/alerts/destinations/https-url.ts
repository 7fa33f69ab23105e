import Joi from 'joi'

/** An address to post to, in a config: `https://`, with neither user nor password in it. */
export const httpsUrl = Joi.string()
  .max(2048)
  .custom((value: string, helpers) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const say = (problem: string) => helpers.message({ custom: `{{#label}} ${problem}` })
    if (!url) return say('must be a URL such as https://example.com/hooks/tidemark')
    if (url.protocol !== 'https:')
      return say('must start with https://: alerts are sent over verified TLS only')
    if (url.username || url.password)
      return say('must not hold a user or password: a credential has a field of its own')
    return value
  })
