import Joi from 'joi'
import { httpsUrl, type DestinationType } from '../destination.ts'
import { escapeTags, escapeWithin, replaceTags } from './escape.ts'
import { explainStatus } from './refusals.ts'
import { subjectIdOf } from './services.ts'

interface GoogleChatConfig {
  webhook_url: string
}

const config = Joi.object<GoogleChatConfig>({
  // Its key and token are enough to post to the space.
  webhook_url: httpsUrl
    .meta({ secret: true })
    .required()
    .description('The address of an incoming webhook of a space in Google Chat.'),
})

/** A space of Google Chat: https://developers.google.com/workspace/chat/quickstart/webhooks */
export const googleChat: DestinationType<GoogleChatConfig> = {
  name: 'google_chat',
  label: 'Google Chat',
  messages: 'incidents',
  config,
  urlField: 'webhook_url',
  /**
   * A card, within the limit of 32,000 bytes, since each part is bounded after it was escaped. The texts of widgets are
   * parsed for tags and for mentions such as `<users/all>`.
   */
  compose(payload, { symbol, heading, sentence, facts, links }) {
    const explanation = sentence === '' ? [] : [{ textParagraph: { text: toHtml(sentence, 1_500) } }]
    const card = {
      header: { title: replaceTags(`${symbol} ${heading}`) },
      sections: [
        {
          widgets: [
            ...explanation,
            ...facts.map(({ name, value }) => ({
              decoratedText: { topLabel: toHtml(name, 100), text: toHtml(value, 500), wrapText: true },
            })),
            {
              buttonList: {
                buttons: links.map(({ text, url }) => ({ text, onClick: { openLink: { url } } })),
              },
            },
          ],
        },
      ],
    }
    return JSON.stringify({
      fallbackText: replaceTags(`${symbol} ${heading}`),
      cardsV2: [{ cardId: 'alert', card }],
      thread: { threadKey: subjectIdOf(payload) },
    })
  },
  async deliver({ body }, { config: { webhook_url }, post }) {
    const url = new URL(webhook_url)
    // Without it, the thread is ignored. A space without threads gets a message of its own.
    url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    const headers = { 'content-type': 'application/json; charset=UTF-8', 'user-agent': 'Tidemark' }
    return explainStatus(await post(url.href, { headers, body }), REFUSALS)
  },
}

const toHtml = (text: string, maxUnits: number) => escapeWithin(text, maxUnits, escapeTags)

const REFUSALS = {
  400: 'Google Chat refused the message: check that webhook_url is whole, with its key and token',
  401: 'Google Chat does not accept the token: copy the webhook to webhook_url again',
  403: 'The webhook may not post: an administrator may have switched webhooks or the space off',
  404: 'Google Chat no longer knows this webhook or space: create a webhook and change webhook_url',
  429: 'Google Chat limits the messages of this space for a while',
}
