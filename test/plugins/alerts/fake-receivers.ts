/** Receivers that take and refuse what the places of the built-in types do, by what is published about them. */
import type { Behaviour, Received } from '../../helpers/receiver.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the bodies are looked at as what they are
export type Json = any

type Judge = (request: Received, body: Json) => [status: number, body: string]

export function behaviour(judge: Judge): Behaviour {
  return (request, response) => {
    let body: Json
    try {
      body = JSON.parse(request.body)
    } catch {
      body = null
    }
    const [status, said] = judge(request, body)
    response.writeHead(status).end(said)
  }
}

export const isText = (text: unknown, most: number) =>
  typeof text === 'string' && text.length > 0 && [...text].length <= most && text.length <= most

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and /reference/block-kit/blocks */
export const slackPlace = behaviour((request, body) => {
  if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json' || body === null)
    return [400, 'invalid_payload']
  if (!isText(body.text, 4_000)) return [400, 'no_text']
  // What stands in angle brackets would be parsed: a mention, a link.
  if (/[<>]|&(?!(amp|lt|gt);)/.test(body.text)) return [400, 'invalid_payload']
  if (!Array.isArray(body.blocks) || body.blocks.length > 50) return [400, 'invalid_blocks']
  return body.blocks.every(isBlock) ? [200, 'ok'] : [400, 'invalid_blocks']
})

function isBlock(block: Json): boolean {
  if (block.type === 'header') return block.text.type === 'plain_text' && isText(block.text.text, 150)
  if (block.type !== 'rich_text') return false
  return block.elements.every(
    (section: Json) =>
      section.type === 'rich_text_section' &&
      section.elements.every((element: Json) =>
        element.type === 'link'
          ? URL.canParse(element.url) && isText(element.text, 3_000)
          : element.type === 'text' && isText(element.text, 3_000),
      ),
  )
}

/** https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
export const teamsPlace = behaviour((request, body) => {
  if (Buffer.byteLength(request.body) > 28 * 1024) return [413, '']
  const [attachment, ...others] = body?.attachments ?? []
  const card = attachment?.content
  const isCard =
    body?.type === 'message' &&
    others.length === 0 &&
    attachment?.contentType === 'application/vnd.microsoft.card.adaptive' &&
    card.type === 'AdaptiveCard' &&
    Number(card.version) <= 1.5 &&
    card.body.every(isElement) &&
    card.actions.every((action: Json) => action.type === 'Action.OpenUrl' && URL.canParse(action.url))
  return isCard ? [202, ''] : [400, '{"error":{"code":"TriggerInputSchemaMismatch"}}']
})

/** Text runs only: a TextBlock, and a Fact, would read Markdown. */
function isElement(element: Json): boolean {
  if (element.type === 'Container')
    return (
      /^(default|emphasis|good|attention|warning|accent)$/.test(element.style) &&
      element.items.every(isElement)
    )
  return (
    element.type === 'RichTextBlock' &&
    element.inlines.every((run: Json) => run.type === 'TextRun' && isText(run.text, 2_000))
  )
}

/** A service of PagerDuty, as far as its Events API v2 shows: which incidents are open. */
export interface PagerDutyPlace {
  behaviour: Behaviour
  /** The last event by the key of what is open. */
  open: Map<string, Json>
  /** Keys of all that was ever opened. */
  opened: string[]
}

export const ROUTING_KEY = 'e93facc04764012d7bfb002500d5d1a6'

/** https://developer.pagerduty.com/docs/send-alert-event, with the limits of https://support.pagerduty.com */
export function pagerDutyPlace(): PagerDutyPlace {
  const place: PagerDutyPlace = {
    open: new Map(),
    opened: [],
    behaviour: behaviour((request, event) => {
      const errors = faults(request, event)
      if (errors.length > 0)
        return [400, JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors })]
      if (event.event_action === 'resolve') place.open.delete(event.dedup_key)
      else {
        place.open.set(event.dedup_key, event)
        place.opened.push(event.dedup_key)
      }
      const said = { status: 'success', message: 'Event processed', dedup_key: event.dedup_key }
      return [202, JSON.stringify(said)]
    }),
  }
  return place
}

function faults(request: Received, event: Json): string[] {
  if (event === null) return ['JSON parse error']
  const { payload } = event
  const isTrigger = event.event_action === 'trigger'
  return Object.entries({
    "Length of 'routing_key' is incorrect (should be 32 characters)": event.routing_key?.length !== 32,
    'The event is larger than 512 KB': Buffer.byteLength(request.body) > 512 * 1024,
    "'event_action' is unknown": !isTrigger && event.event_action !== 'resolve',
    "'dedup_key' is missing or too long": !isText(event.dedup_key, 255),
    "'payload.summary' is missing or too long": isTrigger && !isText(payload?.summary, 1_024),
    "'payload.source' is missing": isTrigger && !isText(payload?.source, 255),
    "'payload.severity' is invalid": isTrigger && !/^(critical|error|warning|info)$/.test(payload?.severity),
    "'payload.timestamp' is invalid": isTrigger && Number.isNaN(Date.parse(payload?.timestamp)),
    "'links' are invalid": isTrigger && !event.links.every((link: Json) => URL.canParse(link.href)),
  }).flatMap(([fault, isSo]) => (isSo ? [fault] : []))
}
