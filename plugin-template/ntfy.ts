import Joi from 'joi'
import { httpsUrl, shorten, type DestinationType } from 'tidemark/destination'

export interface NtfyConfig {
  /** The server; defaults to ntfy.sh. */
  url: string
  topic: string
  /** An access token, for a protected topic. */
  token?: string
}

/** From 1 to 5, which wakes people up. */
const PRIORITIES = { info: 3, warning: 4, critical: 5 }

/** ntfy: a topic to which phones and desktops subscribe. https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy: DestinationType<NtfyConfig> = {
  name: 'ntfy',
  label: 'ntfy',
  config: Joi.object<NtfyConfig>({
    url: httpsUrl.default('https://ntfy.sh').description('The server.'),
    // Its name is enough to read a topic.
    topic: Joi.string()
      .pattern(/^[-_A-Za-z0-9]{1,64}$/)
      .required()
      .meta({ secret: true })
      .description('The topic to publish to.'),
    token: Joi.string()
      .pattern(/^[\x21-\x7e]{1,255}$/)
      .meta({ secret: true })
      .description('An access token of a user who may write to the topic.'),
  }),
  urlField: 'url',
  compose(payload, { symbol, heading, sentence, facts, links }) {
    const lines = facts.map(({ name, value }) => `${name}: ${value}`)
    const isOpen = payload.event_type === 'alert.triggered'
    return JSON.stringify({
      title: `${symbol} ${heading}`,
      // ntfy turns a message of more than 4,096 bytes into a file to download.
      message: [sentence, ...lines]
        .filter(Boolean)
        .map(line => shorten(line, 150))
        .join('\n'),
      priority: isOpen ? PRIORITIES[payload.alert.severity] : PRIORITIES.info,
      click: links[0]?.url,
    })
  },
  async deliver({ body }, { config: { url, topic, token }, post }) {
    const outcome = await post(url, {
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      // The topic is a secret, and the composed body is stored.
      body: JSON.stringify({ topic, ...(JSON.parse(body) as object) }),
    })
    if (outcome.statusCode !== 401 && outcome.statusCode !== 403) return outcome
    const errorMessage = `ntfy does not allow this token to write to the topic: correct topic or token (${outcome.statusCode})`
    return { ...outcome, errorMessage }
  },
}
