import type { Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access } from '../../server/http/access.ts'
import { acceptsHtml } from '../../server/http/input.ts'
import { pascalCase } from '../../server/openapi/components.ts'
import { html, type Markup } from '../../server/markup.ts'
import { assetPath } from './assets.ts'
import { renderMessage } from './card-page.ts'
import { scriptPolicy, sendPage } from './page-shell.ts'
import { html as page } from './schemas.ts'

/** What a link in a message leads to: the path of its page, and of the same thing in the API. */
interface LinkedRecord {
  path: string
  api: string
  title: string
  sentence: string
  /** The documentation page that says more, and what it is about. */
  guide: [name: string, text: string]
}

const RECORDS: LinkedRecord[] = [
  {
    path: '/alerts',
    api: '/api/v1/sdk/alerts',
    title: 'An alert from Tidemark',
    sentence: 'Tidemark found that data needs attention. Only people of your company can read the alert.',
    guide: ['alerts', 'How to acknowledge, snooze and resolve alerts'],
  },
  {
    path: '/tables',
    api: '/api/v1/assets',
    title: 'A table that Tidemark monitors',
    sentence: 'Only people of your company can read its columns, checks and history.',
    guide: ['checks', 'What is checked'],
  },
  {
    path: '/sources',
    api: '/api/v1/assets',
    title: 'A database that Tidemark monitors',
    sentence: 'Only people of your company can read its tables, checks and state.',
    guide: ['engines', 'Databases and the grants that they need'],
  },
  {
    path: '/routing',
    api: '/api/v1/sdk/alerts/destinations',
    title: 'A destination of alerts',
    sentence: 'Only people of your company can read where alerts are sent and what became of them.',
    guide: ['destinations', 'How to set up and test destinations'],
  },
]

/** Pages that links in messages open. Programs that follow one are redirected to the API. */
export const linkRoutes: ServerRoute[] = RECORDS.map(record => ({
  method: 'GET',
  path: `${record.path}/{id?}`,
  options: {
    ...access.open,
    id: `get${pascalCase(record.path)}Page`,
    description: `${record.title}: how to see it, for people`,
    notes:
      'The page is the same for every id. A client whose Accept does not name text/html is redirected to the API.',
    tags: ['api', 'public'],
    validate: {
      params: Joi.object({ id: Joi.string().max(2_000).description('An id or a qualified name') }),
    },
    app: { path: `${record.path}/{id}` },
    response: { status: { 200: page, 302: true }, sample: 0 },
  },
  handler(request, h) {
    const { id = '' } = request.params as { id?: string }
    const address = `${request.server.config.baseUrl}${record.api}${id && `/${encodeSegment(id)}`}`
    if (!acceptsHtml(request)) return h.redirect(address)
    return sendPage(h, renderRecord(record, address), scriptPolicy)
  },
}))

/** A code block with a line per text; the script of the site adds a button that copies it. */
export function renderCode(...lines: string[]): Markup {
  return html`<pre><code>${lines.join('\n')}</code></pre>`
}

function renderRecord({ title, sentence, guide: [name, text] }: LinkedRecord, address: string): string {
  return renderCommand(
    title,
    sentence,
    html`<p>Read it with your API key:</p>
      ${renderCode('KEY=aa_live_…', `curl -s "${address}" \\`, '  -H "Authorization: Bearer $KEY"')}
      <ul>
        <li><a href="/api/public/docs/${name}.md">${text}</a></li>
        <li><a href="/api/public/docs/access.md#api-keys">Where API keys come from</a></li>
        <li><a href="/">Start page</a></li>
      </ul>`,
  )
}

/** The page of an invitation: the invited person registers with its token. */
export function renderInvitation({ config }: Server, token: string): string {
  return renderCommand(
    'You are invited to Tidemark',
    'An admin of a company has invited you. The invitation is for one email address and ends after 7 days.',
    html`<p>Register with that address and a password of your choice:</p>
      ${renderCode(
        `curl -s "${config.baseUrl}/api/v1/auth/register" \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"email": "…", "password": "…", "invitation_token": "${token}"}'`,
      )}
      <ul>
        <li><a href="/api/public/docs/access.md">Users, roles and keys</a></li>
        <li><a href="/">Start page</a></li>
      </ul>`,
  )
}

/** The page that a magic link ends at: its ticket is exchanged for an access token. */
export function renderTicket({ config }: Server, ticket: string): string {
  return renderCommand(
    'Your sign-in is ready',
    'Exchange the ticket for an access token. It can be used once, within 5 minutes.',
    html`${renderCode(
        `curl -s "${config.baseUrl}/api/v1/auth/tickets" \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"ticket": "${ticket}"}'`,
      )}
      <ul>
        <li><a href="/api/public/docs/getting-started.md">What to do with the token: getting started</a></li>
        <li><a href="/">Start page</a></li>
      </ul>`,
  )
}

function renderCommand(title: string, sentence: string, more: Markup): string {
  return renderMessage(title, sentence, more, { scripts: [assetPath('site.js')] })
}

/** Safe in a URL and between double quotes of a shell. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll('!', '%21')
}
