import Joi from 'joi'
import { httpsUrl, type DeliveryOutcome, type DestinationType, type Payload } from '../destination.ts'
import { escapeWithin } from './escape.ts'
import { explainStatus, parseAnswer } from './refusals.ts'

interface DiscordConfig {
  webhook_url: string
}

const config = Joi.object<DiscordConfig>({
  // It ends in a token that is enough to post to the channel.
  webhook_url: httpsUrl
    .meta({ secret: true })
    .required()
    .description('The address of a webhook of a channel in Discord.'),
})

/** A channel of Discord: https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord: DestinationType<DiscordConfig> = {
  name: 'discord',
  label: 'Discord',
  messages: 'incidents',
  config,
  urlField: 'webhook_url',
  /** An embed: all its texts together may have 6,000 characters. */
  compose(payload, { symbol, heading, sentence, facts, links }) {
    const title = toMarkdown(`${symbol} ${heading}`, 256)
    const buttons = links.map(({ text, url }) => `[${text}](${url})`).join(' · ')
    const description = [toMarkdown(sentence, 1_500), buttons].filter(text => text !== '').join('\n\n')
    let left = MAX_EMBED_UNITS - title.length - description.length
    const fields = facts.flatMap(({ name, value }) => {
      const field = { name: toMarkdown(name, 100), value: toMarkdown(value, 500) }
      left -= field.name.length + field.value.length
      return left < 0 ? [] : [field]
    })
    const embed = { title, url: links[0]?.url, description, color: colorOf(payload), fields }
    // Without this, a name such as `@everyone` could notify a whole server.
    return JSON.stringify({ embeds: [embed], allowed_mentions: { parse: [] } })
  },
  async deliver({ body }, { config: { webhook_url }, post }) {
    const url = new URL(webhook_url)
    // Otherwise Discord answers before it has stored the message, and says nothing if it cannot.
    url.searchParams.set('wait', 'true')
    const headers = { 'content-type': 'application/json', 'user-agent': 'Tidemark' }
    return explainRefusal(await post(url.href, { headers, body }))
  },
}

const MAX_EMBED_UNITS = 6_000

function colorOf({ event_type: type, alert, incident }: Payload): number {
  if (type !== 'alert.triggered') return type === 'alert.resolved' ? 0x12b76a : 0x667085
  return { critical: 0xd92d20, warning: 0xf79009, info: 0x2e90fa }[incident?.severity ?? alert.severity]
}

/** Discord takes a backslash before any punctuation; `:` would make a link of an address and a sign of `:name:`. */
const toMarkdown = (text: string, maxUnits: number) =>
  escapeWithin(text, maxUnits, part => part.replaceAll(/[\\*_~`|<>@#:[\]()+-]/g, String.raw`\$&`))

const REFUSALS = {
  400: 'Discord refused the message; a forum channel needs a webhook of a text channel instead',
  401: 'Discord does not accept the token of this webhook: copy its address to webhook_url again',
  403: 'The webhook may not post to this channel: check it in the settings of the channel',
  404: 'Discord no longer knows this webhook: create a new one and change webhook_url',
  429: 'Discord limits the messages of this webhook for a while',
}

function explainRefusal(outcome: DeliveryOutcome): DeliveryOutcome {
  const explained = explainStatus(outcome, REFUSALS)
  const { retry_after: seconds } = parseAnswer(outcome.responseBody)
  if (outcome.statusCode !== 429 || typeof seconds !== 'number') return explained
  return { ...explained, errorMessage: `${REFUSALS[429]}: it asks for ${seconds} seconds (429)` }
}
