import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi'
import { isbot } from 'isbot'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { requestOrigin } from '../../server/http/audit.ts'
import { failure, record } from '../../server/http/envelopes.ts'
import { apiError, hasErrorData } from '../../server/http/errors.ts'
import { acceptsHtml } from '../../server/http/input.ts'
import { html } from '../../server/markup.ts'
import { formPolicy, renderForward, renderMessage } from './card-page.ts'
import { sendPage } from './page-shell.ts'
import { html as page } from './schemas.ts'

const path = '/api/public/magic-login'
const MAX_TOKEN = 200
const refused = Joi.alternatives(failure, page)
const route = routesOf('public')

/** User agents of mail programs and scanners that isbot does not know. */
const SCANNERS = /preview|scan|barracuda|proofpoint|mimecast/i

const body = Joi.object<{ token: string }>({
  token: Joi.string().min(1).max(MAX_TOKEN).required().description('The token of the link.'),
})
  .required()
  .example({ token: 'k7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2' })
  .label('MagicLoginRequest')

const ticket = record(
  {
    ticket: Joi.string().description('Can be exchanged once, at POST /api/v1/auth/tickets.'),
    expires_in: Joi.number().integer().description('Seconds until the ticket expires.'),
    redirect_url: Joi.string().uri().description('The page to open next; holds the ticket in the query.'),
  },
  {
    ticket: 'Zt5Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2q3Yk0',
    expires_in: 300,
    redirect_url: 'http://127.0.0.1:8000/?ticket=Zt5Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2q3Yk0',
  },
).label('MagicLoginResponse')

const refusal = () =>
  apiError(
    'BOT_REFUSED',
    'Programs that open links are not signed in: send the token by POST, from a browser',
  )

/** Recognizes programs that open links in mails by their user agent. */
function isScanner({ headers }: Pick<Request, 'headers'>): boolean {
  const agent = String(headers['user-agent'] ?? '')
  return isbot(agent) || SCANNERS.test(agent)
}

/** Runs before the body is validated, so that a scanner learns nothing about the token it has sent. */
const refuseScanners: Lifecycle.Method = (request, h) => {
  if (isScanner(request)) throw refusal()
  // A form on another site must not sign its visitors in as someone else.
  if (isForm(request) && request.headers['sec-fetch-site'] === 'cross-site') throw refusal()
  return h.continue
}

function isForm({ mime }: Pick<Request, 'mime'>): boolean {
  return mime === 'application/x-www-form-urlencoded'
}

const FAILED_TITLE = 'This link does not work'

const isComplete = (token: unknown): token is string =>
  typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN

/** The page that a link opens: signing in takes a click, which scanners do not make. */
function signInPage(token: string): string {
  return renderMessage(
    'Sign in to Tidemark',
    'This link signs you in. Do not share it.',
    html`<form method="post" action="?">
      <input type="hidden" name="token" value="${token}" />
      <button>Sign in</button>
    </form>`,
  )
}

const showPage = (h: ResponseToolkit, page: string, status: number) =>
  sendPage(h, page, formPolicy, { status })

export const magicRoutes: ServerRoute[] = [
  route('GET', path, access.open, {
    description: 'Show the page of a sign-in link, with a button that sends its token by POST',
    notes:
      'For a browser, whose Accept names text/html. Opening the page does not sign in. Programs that open links in mails are refused, also by their user agent; a link without its token gets a page that says so.',
    validate: {
      query: Joi.object<{ token?: string }>({
        token: Joi.string().allow('').max(8_000).description('The token of the link.'),
      }).unknown(),
    },
    app: { errors: ['BOT_REFUSED'] },
    response: {
      status: { 200: page.description('The page with the button'), 403: refused },
      sample: 0,
    },
    handler(request, h) {
      if (!acceptsHtml(request) || isScanner(request)) throw refusal()
      const { token } = request.query
      if (isComplete(token)) return showPage(h, signInPage(token), 200)
      const advice = 'The link is not complete. Open it again; if you copied it, copy all of it.'
      return showPage(h, renderMessage(FAILED_TITLE, advice), 403)
    },
  }),
  route('POST', path, access.byAddress({ name: 'magic', perMinute: 30, isCountedFirst: true }), {
    description: 'Exchange the token of a link for a sign-in ticket',
    notes:
      'Creates the user at the first sign-in. The token can be used any number of times within 7 days, the ticket once within 5 minutes. The form of the page at GET gets a page that redirects to redirect_url.',
    payload: {
      parse: true,
      maxBytes: 8_192,
      allow: ['application/json', 'application/x-www-form-urlencoded'],
    },
    validate: { payload: body },
    ext: { onPostAuth: { method: refuseScanners } },
    app: { errors: ['INVALID_TOKEN', 'FORBIDDEN', 'BOT_REFUSED', 'USER_EXISTS'] },
    response: {
      status: {
        200: Joi.alternatives(ticket, page).description('The ticket; a page for the form'),
        ...Object.fromEntries([401, 403, 409].map(code => [code, refused])),
      },
      sample: 0,
    },
    async handler(request, h) {
      const { token } = request.payload
      const admitted = request.server.plugins.auth.admitProspect(token, requestOrigin(request))
      if (isForm(request) && acceptsHtml(request)) return signInWithForm(h, admitted)
      const made = await admitted
      return h
        .response({ ticket: made.ticket, expires_in: made.expiresIn, redirect_url: made.redirectUrl })
        .header('Cache-Control', 'no-store')
    },
  }),
]

/** Replies to the form with a page that redirects, or that shows why the sign-in failed. */
async function signInWithForm(h: ResponseToolkit, admitted: Promise<{ redirectUrl: string }>) {
  try {
    return showPage(h, renderForward('You are signed in', (await admitted).redirectUrl), 200)
  } catch (error) {
    if (!hasErrorData(error) || error.isServer) throw error
    return showPage(h, renderMessage(FAILED_TITLE, `${error.message}.`), error.output.statusCode)
  }
}
