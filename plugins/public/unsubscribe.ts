import type { ResponseToolkit, ServerRoute } from '@hapi/hapi'
import { access, routesOf, type ValidRequest } from '../../server/http/access.ts'
import { acceptsHtml } from '../../server/http/input.ts'
import { changed, html, unsubscribeQuery, unsubscribeChange, type UnsubscribeChange } from './schemas.ts'
import { sendPage } from './page-shell.ts'
import { preferencesPolicy, renderPreferences, refusalPage } from './unsubscribe-page.ts'

const route = routesOf('public')
const path = '/api/public/unsubscribe'

/** Subscribing an address to mail and unsubscribing it: a page, and the requests of its switch and of mail programs. */
export const unsubscribeRoutes: ServerRoute[] = [
  route('GET', path, access.open, {
    description: 'Show whether an address receives mail',
    notes: 'A page with a switch, which the link in a mail opens. It changes nothing: POST does.',
    validate: { query: unsubscribeQuery },
    response: { status: { 200: html, 403: html } },
    async handler(request, h) {
      const { email, token } = request.query
      const { subscriptions } = request.server.plugins.alerts
      if (!subscriptions.isToken(email, token)) return showPage(h, refusalPage).code(403)
      return showPage(h, renderPreferences(email, token, await subscriptions.isSubscribed(email)))
    },
  }),
  route('POST', path, access.open, {
    description: 'Unsubscribe an address, or subscribe it again',
    notes:
      'The body List-Unsubscribe=One-Click of mail programs (RFC 8058), urlencoded or multipart, gets an empty 200; a client that accepts text/html gets a page.',
    payload: {
      parse: true,
      multipart: { output: 'data' },
      allow: ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'],
      maxBytes: 4_096,
    },
    validate: { query: unsubscribeChange },
    response: { status: { 200: changed, 403: html }, sample: 0 },
    handler: change,
  }),
]

async function change(request: ValidRequest<unknown, UnsubscribeChange>, h: ResponseToolkit) {
  const { email, token, action } = request.query
  const { subscriptions } = request.server.plugins.alerts
  if (!subscriptions.isToken(email, token)) return showPage(h, refusalPage).code(403)
  await subscriptions[action](email)
  const isSubscribed = action === 'subscribe'
  if (isOneClick(request.payload)) return h.response('').code(200)
  if (acceptsHtml(request)) return showPage(h, renderPreferences(email, token, isSubscribed))
  return h.response({ email, subscribed: isSubscribed })
}

function isOneClick(body: unknown): boolean {
  return (body as Record<string, unknown> | null)?.['List-Unsubscribe'] === 'One-Click'
}

function showPage(h: ResponseToolkit, text: string) {
  return sendPage(h, text, preferencesPolicy)
}
