import Joi from 'joi'
import { describePayload, httpsUrl, shorten, type DestinationType } from 'tidemark/destination'

/** The `config` of a destination. */
export interface NtfyConfig {
  /** The server; ntfy.sh unless told. */
  url: string
  topic: string
  /** An access token, where the topic is not open to all. */
  token?: string
}

/** ntfy counts five, from 1; people are woken by the last. */
const PRIORITIES = { info: 3, warning: 4, critical: 5 }

/** ntfy: a topic to which phones and desktops subscribe. https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy: DestinationType<NtfyConfig> = {
  name: 'ntfy',
  label: 'ntfy',
  config: Joi.object<NtfyConfig>({
    url: httpsUrl.default('https://ntfy.sh').description('The server.'),
    // Whoever knows the name of a topic can read it.
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
  compose(payload) {
    const { symbol, heading, sentence, facts, links } = describePayload(payload)
    const lines = facts.map(({ name, value }) => `${name}: ${value}`)
    const isOpen = payload.event_type === 'alert.triggered'
    return JSON.stringify({
      title: `${symbol} ${heading}`,
      // Of more than 4,096 bytes ntfy makes a file to download.
      message: [sentence, ...lines].map(line => shorten(line, 150)).join('\n'),
      priority: isOpen ? PRIORITIES[payload.alert.severity] : PRIORITIES.info,
      click: links[0]?.url,
    })
  },
  async deliver({ body }, { config: { url, topic, token }, post }) {
    const outcome = await post(url, {
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      // The topic is a secret, and what is composed is stored.
      body: JSON.stringify({ topic, ...(JSON.parse(body) as object) }),
    })
    if (outcome.statusCode !== 401 && outcome.statusCode !== 403) return outcome
    const errorMessage = `ntfy lets nobody write to this topic without a right to: correct topic or token (${outcome.statusCode})`
    return { ...outcome, errorMessage }
  },
}
