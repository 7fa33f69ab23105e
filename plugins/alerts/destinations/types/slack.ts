import Joi from 'joi'
import { httpsUrl, shorten, type DestinationType, type DeliveryOutcome } from '../destination.ts'
import { escapeTags } from './escape.ts'

interface SlackConfig {
  webhook_url: string
}

const config = Joi.object<SlackConfig>({
  // The address is enough to post to the channel.
  webhook_url: httpsUrl
    .meta({ secret: true })
    .required()
    .description('The address of an incoming webhook of a Slack app.'),
})

export const slack: DestinationType<SlackConfig> = {
  name: 'slack',
  label: 'Slack',
  messages: 'incidents',
  config,
  urlField: 'webhook_url',
  /**
   * Rich text blocks, in which nothing is parsed: a name such as `<!channel>` or `_id` is shown as it is. Limits:
   * https://docs.slack.dev/reference/block-kit/blocks
   */
  compose(_payload, { symbol, heading, sentence, facts, links }) {
    const lines = facts.flatMap(({ name, value }, place) => [
      bold(`${place > 0 ? '\n' : ''}${name}: `),
      plain(value),
    ])
    return composeBlocks(`${symbol} ${heading}`, [
      ...(sentence === '' ? [] : [richText([plain(sentence)])]),
      richText(lines),
      linksText(links),
    ])
  },
  composeDigest: ({ heading, sentence, sections, links }) =>
    composeBlocks(heading, [
      richText([plain(sentence)]),
      ...sections.map(({ title, lines }) =>
        richText([
          bold(title),
          ...lines.flatMap(({ text, url }) => [plain('\n• '), url === null ? plain(text) : link(text, url)]),
        ]),
      ),
      linksText(links),
    ]),
  async deliver({ body }, { config: { webhook_url: url }, post }) {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Tidemark' }
    return explainRefusal(await post(url, { headers, body }))
  },
}

/** A header block takes no more. */
const MAX_HEADER_UNITS = 150

/** @param heading shown in notifications too */
function composeBlocks(heading: string, blocks: object[]): string {
  return JSON.stringify({
    // Parsed for mentions even without `mrkdwn`.
    text: escapeTags(heading),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: shorten(heading, MAX_HEADER_UNITS), emoji: false },
      },
      ...blocks,
    ],
  })
}

const plain = (text: string) => ({ type: 'text', text })
const bold = (text: string) => ({ type: 'text', text, style: { bold: true } })
const link = (text: string, url: string) => ({ type: 'link', url, text })
const linksText = (links: readonly { text: string; url: string }[]) =>
  richText(links.flatMap(({ text, url }, place) => [...(place > 0 ? [plain(' · ')] : []), link(text, url)]))
const richText = (elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
})

/** Error codes in the body of a refusal, with what to do about them. */
const REFUSALS: [RegExp, string][] = [
  [
    /^(no_service|no_service_id|no_active_hooks|invalid_token|no_team|team_disabled|user_not_found)$/,
    'Slack no longer knows this webhook: create a new one in Slack and change webhook_url',
  ],
  [
    /^(channel_not_found|channel_is_archived)$/,
    'The channel was deleted or archived: restore it, or create a webhook for another one and change webhook_url',
  ],
  [
    /^(action_prohibited|posting_to_general_channel_denied)$/,
    'An administrator of the workspace does not let this webhook post there: ask them, or choose another channel',
  ],
  [/^rate_limited$/, 'Slack limits the messages of this webhook for a while'],
  [
    /^(invalid_|missing_|no_text|too_many_)/,
    'Slack did not understand the message: please report this to Tidemark',
  ],
]

function explainRefusal(outcome: DeliveryOutcome): DeliveryOutcome {
  const code = /^[a-z_]{1,60}$/.exec(outcome.responseBody?.trim() ?? '')?.[0]
  const refusal = REFUSALS.find(([pattern]) => code !== undefined && pattern.test(code))
  if (outcome.isDelivered || !refusal) return outcome
  return { ...outcome, errorMessage: `${refusal[1]} (${outcome.statusCode} ${code})` }
}
