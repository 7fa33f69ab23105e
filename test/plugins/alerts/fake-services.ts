/** Doubles of Google Chat, Discord, Opsgenie and Jira Cloud, which refuse what these refuse by their documentation. */
import type { Behaviour } from '../../helpers/receiver.ts'
import { behaviour, isText, type Json } from './fake-receivers.ts'

const refusal = (code: number, status: string, message: string): [number, string] => [
  code,
  JSON.stringify({ error: { code, status, message } }),
]

/** https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create */
export const googleChatService = behaviour((request, body) => {
  const query = new URL(request.path, 'https://chat.googleapis.com').searchParams
  if (!query.get('key') || !query.get('token'))
    return refusal(401, 'UNAUTHENTICATED', 'Request is missing required authentication credential')
  const invalid = (what: string) => refusal(400, 'INVALID_ARGUMENT', `Invalid JSON payload: ${what}`)
  if (body === null || Buffer.byteLength(request.body) > 32_000) return invalid('Message is too long')
  if (body.text !== undefined || /<users\//.test(request.body)) return invalid('a mention')
  if (query.get('messageReplyOption') !== 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD') return invalid('thread')
  if (!isText(body.thread?.threadKey, 4_000)) return invalid('threadKey')
  const [{ cardId, card }, ...others] = body.cardsV2
  const widgets: Json[] = card.sections.flatMap((section: Json) => section.widgets)
  const isCard = cardId && others.length === 0 && isText(card.header.title, 4_000) && widgets.length <= 100
  return isCard && widgets.every(isWidget) ? [200, '{"name":"spaces/A/messages/B"}'] : invalid('card')
})

/** Texts in which any tag would be parsed. */
const isHtml = (text: Json) => isText(text, 4_000) && !/[<>]|&(?!(amp|lt|gt);)/.test(text)

function isWidget({ textParagraph, decoratedText, buttonList, ...others }: Json): boolean {
  if (Object.keys(others).length > 0) return false
  if (textParagraph) return isHtml(textParagraph.text)
  if (decoratedText) return isHtml(decoratedText.text) && isHtml(decoratedText.topLabel)
  return buttonList.buttons.every((button: Json) => button.text && URL.canParse(button.onClick.openLink.url))
}

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
export const discordService = behaviour((request, body) => {
  const invalid = (what: string): [number, string] => [
    400,
    JSON.stringify({ message: 'Invalid Form Body', code: 50_035, errors: { embeds: what } }),
  ]
  if (!request.path.includes('wait=true')) return [204, '']
  const [embed, ...others] = body?.embeds ?? []
  if (!embed || others.length > 0 || embed.fields.length > 25) return invalid('number')
  if (body.allowed_mentions.parse.length > 0) return invalid('someone was notified')
  const fields: [Json, number][] = embed.fields.flatMap((field: Json) => [
    [field.name, 256],
    [field.value, 1_024],
  ])
  const all: [Json, number][] = [[embed.title, 256], [embed.description, 4_096], ...fields]
  if (!all.every(([text, most]) => isText(text, most))) return invalid('Must be fewer in length')
  if (all.map(([text]) => text).join('').length > 6_000) return invalid('MAX_EMBED_SIZE_EXCEEDED')
  return [200, '{"id":"1"}']
})

/** An account of Opsgenie: https://docs.opsgenie.com/docs/alert-api */
export function opsgenieService(apiKey: string): { behaviour: Behaviour; open: Map<string, Json> } {
  const open = new Map<string, Json>()
  const answer = (status: number, message: string): [number, string] => [status, JSON.stringify({ message })]
  return {
    open,
    behaviour: behaviour((request, body) => {
      if (request.headers.authorization !== `GenieKey ${apiKey}`) return answer(401, 'Key is not valid')
      const { pathname, searchParams } = new URL(request.path, 'https://api.opsgenie.com')
      const [, alias] = /^\/v2\/alerts\/([^/]+)\/close$/.exec(pathname) ?? []
      if (alias !== undefined) {
        if (searchParams.get('identifierType') !== 'alias') return answer(422, 'Identifier is not an id')
        open.delete(decodeURIComponent(alias))
        return answer(202, 'Request will be processed')
      }
      if (pathname !== '/v2/alerts') return answer(404, 'No handler')
      const isAlert =
        isText(body.message, 130) &&
        isText(body.alias, 512) &&
        isText(body.description, 15_000) &&
        body.entity.length <= 512 &&
        JSON.stringify(body.details).length <= 8_000 &&
        /^P[1-5]$/.test(body.priority)
      if (!isAlert) return answer(422, 'Request body is not processable')
      open.set(body.alias, body)
      return answer(202, 'Request will be processed')
    }),
  }
}

export interface JiraIssue {
  id: string
  key: string
  labels: string[]
  status: 'new' | 'done'
  fields: Json
  comments: Json[]
}

/** A site of Jira Cloud with the project DATA: https://developer.atlassian.com/cloud/jira/platform/rest/v3/ */
export function jiraService(account: string): { behaviour: Behaviour; issues: JiraIssue[] } {
  const issues: JiraIssue[] = []
  const authorization = `Basic ${Buffer.from(account).toString('base64')}`
  const invalid = (errors: object): [number, string] => [400, JSON.stringify({ errorMessages: [], errors })]
  const routes: [RegExp, (body: Json, key: string) => [number, string]][] = [
    [/^\/rest\/api\/3\/search\/jql$/, body => [200, JSON.stringify({ issues: find(body) })]],
    [/^\/rest\/api\/3\/issue$/, body => create(body)],
    [
      /^\/rest\/api\/3\/issue\/([^/]+)\/comment$/,
      (body, key) => {
        if (!isDocument(body.body)) return invalid({ comment: 'INVALID_INPUT' })
        issueOf(key).comments.push(body.body)
        return [201, '{}']
      },
    ],
    [
      /^\/rest\/api\/3\/issue\/([^/]+)\/transitions$/,
      (body, key) => {
        if (body.transition.id !== '31') return invalid({ transition: 'is not valid' })
        issueOf(key).status = 'done'
        return [204, '']
      },
    ],
  ]
  return {
    issues,
    behaviour: behaviour((request, body) => {
      if (request.headers.authorization !== authorization) return [401, 'Client must be authenticated']
      for (const [pattern, handle] of routes) {
        const match = pattern.exec(request.path)
        if (match) return handle(body, match[1] ?? '')
      }
      return [404, '']
    }),
  }

  function issueOf(key: string): JiraIssue {
    return issues.find(issue => issue.key === key)!
  }

  /** Finds by label, and by id only what is to be reconciled, as a fresh issue is not in the index. */
  function find({ jql, reconcileIssues = [], expand }: Json): object[] {
    const [, label] = /^project = "DATA" AND labels = "([^" ]+)" ORDER BY created DESC$/.exec(jql) ?? []
    return issues
      .toReversed()
      .filter(({ id, labels }) =>
        label === undefined
          ? jql === `id = ${id}` && reconcileIssues.includes(Number(id))
          : labels.includes(label),
      )
      .map(({ id, key, status }) => ({
        id,
        key,
        fields: { status: { statusCategory: { key: status } } },
        ...(expand === 'transitions' && { transitions: TRANSITIONS }),
      }))
  }

  function create({ fields }: Json): [number, string] {
    if (fields.project.key !== 'DATA') return invalid({ project: 'valid project is required' })
    if (fields.issuetype.name !== 'Task') return invalid({ issuetype: 'The issue type selected is invalid.' })
    if (!isText(fields.summary, 255) || /\n/.test(fields.summary)) return invalid({ summary: 'too long' })
    if (!fields.labels.every((label: Json) => isText(label, 255) && !label.includes(' ')))
      return invalid({ labels: 'contains spaces' })
    if (!isDocument(fields.description)) return invalid({ description: 'INVALID_INPUT' })
    const id = String(10_000 + issues.length)
    const key = `DATA-${issues.length + 1}`
    issues.push({ id, key, labels: fields.labels, status: 'new', fields, comments: [] })
    return [201, JSON.stringify({ id, key })]
  }
}

const TRANSITIONS = [
  { id: '21', name: 'Start', to: { statusCategory: { key: 'indeterminate' } } },
  { id: '31', name: 'Close', to: { statusCategory: { key: 'done' } } },
]

/** https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/, of at most 32,767 characters. */
function isDocument(document: Json): boolean {
  const isNode = (node: Json) =>
    node.type === 'text' &&
    isText(node.text, 32_767) &&
    (node.marks ?? []).every((mark: Json) => mark.type === 'link' && URL.canParse(mark.attrs.href))
  return (
    document.type === 'doc' &&
    document.version === 1 &&
    JSON.stringify(document).length <= 32_767 &&
    document.content.every((block: Json) => block.type === 'paragraph' && block.content.every(isNode))
  )
}
