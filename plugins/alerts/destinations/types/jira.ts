import Joi from 'joi'
import {
  httpsUrl,
  shorten,
  type DeliveryContext,
  type DeliveryOutcome,
  type DestinationType,
  type Payload,
  type PayloadDescription,
} from '../destination.ts'
import { explainStatus, parseAnswer } from './refusals.ts'
import { printableSecret, subjectIdOf } from './services.ts'

interface JiraConfig {
  url: string
  email: string
  api_token: string
  project: string
  issue_type: string
  transition?: string
}

const config = Joi.object<JiraConfig>({
  url: httpsUrl.required().description('The address of the site, such as https://acme.atlassian.net.'),
  email: Joi.string().email({ tlds: false }).max(255).required().description('The account of the API token.'),
  api_token: printableSecret(1_024).description(
    'An API token of this account, which may create, comment and move issues.',
  ),
  project: Joi.string()
    .pattern(/^[A-Z][A-Z0-9_]{1,254}$/)
    .messages({ 'string.pattern.base': '{{#label}} must be the key of a project, such as DATA' })
    .required()
    .description('The key of the project, such as DATA.'),
  issue_type: Joi.string().max(255).default('Task').description('The type of the issues.'),
  transition: Joi.string()
    .max(255)
    .description('The transition that ends an issue; defaults to the first one to a status that is done.'),
})

/** Stored without the project, which each attempt adds. */
interface JiraMessage {
  /** Finds the issue again. */
  label: string
  /** What to do with an issue that exists: nothing if it is the one of this message. One that is closed gets no comment. */
  ifFound: 'keep' | 'comment' | 'resolve'
  comment: object
  fields: { summary: string; labels: string[]; description: object }
}

/** Jira Cloud: https://developer.atlassian.com/cloud/jira/platform/rest/v3/ */
export const jira: DestinationType<JiraConfig> = {
  name: 'jira',
  label: 'Jira',
  messages: 'incidents',
  config,
  urlField: 'url',
  compose: (payload, description) => JSON.stringify(toMessage(payload, description)),
  async deliver({ body, eventType }, context) {
    const message = JSON.parse(body) as JiraMessage
    const search = {
      jql: `project = "${context.config.project}" AND labels = "${message.label}" ORDER BY created DESC`,
    }
    const { outcome: searched, issue } = await findIssue(search, context)
    if (!searched.isDelivered) return searched
    if (message.ifFound === 'resolve')
      return issue ? resolveIssue(searched, issue, message, context) : searched
    if (issue && message.ifFound === 'keep') return searched
    // What goes on after its issue was closed would not be seen there.
    if (issue && !isDone(issue)) return addComment(issue, message, context)
    const created = await createIssue(message, context)
    if (eventType !== 'alert.test' || !created.isDelivered) return created
    return endTest(created, message, context)
  },
}

/** Alerts of one incident are one issue. */
const labelOf = (payload: Payload): string => `tidemark-${subjectIdOf(payload)}`

function toMessage(payload: Payload, description: PayloadDescription): JiraMessage {
  const { event_type: type, alert, incident } = payload
  const { symbol, heading, sentence, facts, links } = description
  const label = labelOf(payload)
  const isFirst = incident ? incident.event === 'opened' : alert.reminded_at === undefined
  const action = isFirst || type === 'alert.test' ? 'keep' : 'comment'
  const opening = [`${symbol} ${heading}`, sentence].filter(text => text !== '').map(text => paragraph(text))
  return {
    label,
    ifFound: type === 'alert.resolved' ? 'resolve' : action,
    comment: documentOf(opening),
    fields: {
      summary: shorten(heading, 255) || 'Alert',
      labels: ['tidemark', label],
      description: documentOf([
        ...(sentence === '' ? [] : [paragraph(sentence)]),
        ...facts.map(({ name, value }) => paragraph(`${name}: ${value}`)),
        ...links.map(({ text, url }) => paragraph(text, url)),
      ]),
    },
  }
}

/** Text nodes of the Atlassian Document Format are not parsed: a name cannot mention or link. */
const documentOf = (content: object[]) => ({ type: 'doc', version: 1, content })

function paragraph(text: string, href?: string) {
  const marks = href === undefined ? {} : { marks: [{ type: 'link', attrs: { href } }] }
  return { type: 'paragraph', content: [{ type: 'text', text, ...marks }] }
}

interface Transition {
  id: string
  name: string
  to?: { statusCategory?: { key?: string } }
}

interface Issue {
  key: string
  fields?: { status?: { statusCategory?: { key?: string } } }
  transitions?: Transition[]
}

const isDone = ({ fields }: Issue): boolean => fields?.status?.statusCategory?.key === 'done'

type Context = DeliveryContext<JiraConfig>

/** The newest issue of a search, with its transitions. */
async function findIssue(search: object, context: Context) {
  const request = { ...search, maxResults: 1, fields: ['status'], expand: 'transitions' }
  const outcome = await send('search/jql', request, context)
  const { issues } = parseAnswer(outcome.responseBody) as { issues?: Issue[] }
  if (!outcome.isDelivered || Array.isArray(issues)) return { outcome, issue: issues?.[0] }
  const errorMessage =
    'Jira answered the search with something else: check that url is the address of the site'
  return { outcome: { ...outcome, isDelivered: false, errorClass: 'status', errorMessage }, issue: undefined }
}

function createIssue({ fields }: JiraMessage, context: Context): Promise<DeliveryOutcome> {
  const { project, issue_type } = context.config
  return send(
    'issue',
    { fields: { ...fields, project: { key: project }, issuetype: { name: issue_type } } },
    context,
  )
}

function addComment({ key }: Issue, { comment }: JiraMessage, context: Context): Promise<DeliveryOutcome> {
  return send(`issue/${encodeURIComponent(key)}/comment`, { body: comment }, context)
}

/** Ends an issue with a comment. A retry finds an ended issue, and does nothing more. */
async function resolveIssue(
  outcome: DeliveryOutcome,
  issue: Issue,
  message: JiraMessage,
  context: Context,
): Promise<DeliveryOutcome> {
  if (isDone(issue)) return outcome
  const { transition: wanted } = context.config
  const transitions = issue.transitions ?? []
  const transition = transitions.find(({ name, to }) =>
    wanted === undefined ? to?.statusCategory?.key === 'done' : name === wanted,
  )
  if (!transition) return missingTransition(outcome, issue, wanted)
  const path = `issue/${encodeURIComponent(issue.key)}/transitions`
  const moved = await send(path, { transition: { id: transition.id } }, context)
  return moved.isDelivered ? addComment(issue, message, context) : moved
}

function missingTransition(outcome: DeliveryOutcome, { key, transitions = [] }: Issue, wanted?: string) {
  const what = wanted === undefined ? 'to a status that is done' : `"${wanted}"`
  const names = transitions.map(({ name }) => name).join(', ') || 'none'
  const errorMessage = shorten(
    `${key} has no transition ${what} from its status: set transition to one that it has (${names})`,
    500,
  )
  return { ...outcome, isDelivered: false, errorClass: 'configuration', errorMessage }
}

/** Ends the issue of a test. */
async function endTest(created: DeliveryOutcome, message: JiraMessage, context: Context) {
  const { id } = parseAnswer(created.responseBody)
  // A search may lag behind what was created; it does not for issues that it is asked to reconcile.
  const search = { jql: `id = ${Number(id)}`, reconcileIssues: [Number(id)] }
  const { outcome, issue } = await findIssue(search, context)
  const ended = issue ? await resolveIssue(outcome, issue, message, context) : outcome
  if (issue && ended.isDelivered) return created
  const reason = ended.errorMessage ?? 'Jira did not find it again'
  const errorMessage = `The test may have left an issue open: close it in Jira. ${reason}`
  return { ...ended, isDelivered: false, errorClass: ended.errorClass ?? 'status', errorMessage }
}

async function send(path: string, body: object, { config, post }: Context): Promise<DeliveryOutcome> {
  const { url, email, api_token } = config
  const headers = {
    authorization: `Basic ${Buffer.from(`${email}:${api_token}`).toString('base64')}`,
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'Tidemark',
  }
  const address = new URL(`/rest/api/3/${path}`, url)
  return explainStatus(await post(address.href, { headers, body: JSON.stringify(body) }), REFUSALS)
}

const REFUSALS = {
  400: 'Jira refused the request: check project, issue_type and transition, and that the issue type has no other required field',
  401: 'Jira does not accept the account: check email and api_token',
  403: 'The account may not do this: let it browse the project, create, comment and move issues',
  404: 'Jira does not know this site, or the account does not see the project: check url and project',
  429: 'Jira limits the requests of this account for a while',
}
