import type { Lifecycle, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { buildPolicy, sourceHash } from '../../server/http/content-policy.ts'
import { acceptsHtml } from '../../server/http/input.ts'
import { html, Markup } from '../../server/markup.ts'
import type { Config } from '../../server/settings/config.ts'
import type { AuthApi } from '../auth/api.ts'
import { cookieParsing } from './session.ts'
import { findViewer, renderShell, type Viewer } from './shell.ts'
import { fileAddress, importMap, moduleAddress, preloadAddresses } from './modules.ts'

const route = routesOf('console')

/** A screen of the console: the address of its page, and for those that messages link to, the same in the API. */
interface Screen {
  path: string
  description: string
  api?: string
}

/** Shown without the frame: these people have no session, or one of another account. */
const ACCOUNT_SCREENS: readonly Screen[] = [
  { path: '/invitation', description: 'Join a company with an invitation' },
  { path: '/register', description: 'Create a company and its owner' },
  { path: '/forgot', description: 'Ask for a link to choose a new password' },
  { path: '/reset', description: 'Choose a new password with a link' },
]

const SCREENS: readonly Screen[] = [
  { path: '/', description: 'Whether the data is all right' },
  { path: '/alerts/{id?}', description: 'Alerts, and one of them', api: '/api/v1/sdk/alerts' },
  {
    path: '/incidents/{id?}',
    description: 'Alerts that belong together, and their cause',
    api: '/api/v1/sdk/incidents',
  },
  { path: '/catalog', description: 'All tables' },
  { path: '/tables/{id?}', description: 'A table, its checks and its history', api: '/api/v1/assets' },
  { path: '/sources/{id?}', description: 'Sources, and one of them', api: '/api/v1/assets' },
  { path: '/checks', description: 'All checks' },
  { path: '/recommendations', description: 'Recommended checks of a source' },
  { path: '/changes', description: 'Schema changes' },
  { path: '/connect', description: 'How tools send lineage, and what has arrived' },
  {
    path: '/routing/{id?}',
    description: 'Where alerts are sent, and what became of them',
    api: '/api/v1/sdk/alerts/destinations',
  },
  { path: '/contracts/{id?}', description: 'Contracts that are enforced, and one of them' },
  { path: '/schedules/{id?}', description: 'Operating schedules, and one of them' },
  { path: '/settings/{id?}', description: 'The own user, and who may do what in the company' },
  ...ACCOUNT_SCREENS,
]

const POLICY = buildPolicy({
  // The import map stands in the page, since browsers take none from elsewhere.
  'script-src': ["'self'", sourceHash(importMap)],
  'connect-src': ["'self'"],
})

/** The pages of the console. The script shows the screen of the address; the server writes the frame around it. */
export function pageRoutes(config: Config, auth: Pick<AuthApi, 'isRegistrationOpen'>): ServerRoute[] {
  const plain = { open: renderPage(config, true), closed: renderPage(config, false) }
  const handler =
    (path: string, api: string | undefined): Lifecycle.Method =>
    async (request, h) => {
      const { id = '' } = request.params as { id?: string }
      // Programs follow the links of messages too.
      if (api !== undefined && !acceptsHtml(request))
        return h.redirect(`${config.baseUrl}${api}${id && `/${encodeSegment(id)}`}`)
      const isAccount = ACCOUNT_SCREENS.some(screen => screen.path === path)
      const viewer = isAccount ? undefined : await findViewer(request)
      const isOpen = await auth.isRegistrationOpen()
      return (
        h
          .response(
            viewer
              ? renderPage(config, isOpen, { viewer, path: request.path })
              : plain[isOpen ? 'open' : 'closed'],
          )
          .type('text/html')
          .header('Content-Security-Policy', POLICY)
          // The name of a user is for no cache, nor for who comes back after a sign-out.
          .header('Cache-Control', viewer ? 'no-store' : 'no-cache')
          .vary('Accept')
          .vary('Cookie')
      )
    }
  return SCREENS.map(({ path, description, api }) =>
    route('GET', path, access.open, {
      id: `get${nameOf(path)}Screen`,
      description,
      notes: `For people: a page that is the same for all, but for the name of a signed-in user.${
        api ? ' A client whose Accept does not name text/html is redirected to the API.' : ''
      }`,
      validate: path.includes('{')
        ? {
            params: Joi.object({ id: Joi.string().max(2_000).description('An id or a qualified name') }),
          }
        : {},
      app: { path: path.replace('?}', '}') },
      response: {
        status: { 200: Joi.string().meta({ contentType: 'text/html' }), ...(api && { 302: true }) },
        sample: 0,
      },
      state: cookieParsing,
      handler: handler(path, api),
    }),
  )
}

const nameOf = (path: string) => {
  const [, name = ''] = path.split('/')
  return name === '' ? 'Overview' : name[0]!.toUpperCase() + name.slice(1)
}

/** Safe in a URL and between double quotes of a shell. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll('!', '%21')
}

/**
 * @param canRegister whether a person without an invitation may register
 * @param frame whose frame is in the page, and the path that it is shown for
 */
function renderPage(config: Config, canRegister: boolean, frame?: { viewer: Viewer; path: string }): string {
  const settings = JSON.stringify({
    providers: [...config.oauth.keys()],
    hasDemo: config.demoEnabled,
    canRegister,
    hasMail: config.smtpUrl !== undefined,
  })
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <meta name="tidemark" content="${settings}" />
        <title>Tidemark</title>
        <link rel="icon" href="/favicon.svg" />
        <script src="${fileAddress('assets/theme.js')}"></script>
        ${[
          'tokens',
          'console',
          'screens',
          'forms',
          'checks',
          'routing',
          'people',
          'watching',
          'profile',
          'lineage',
          'incidents',
          'overview',
          'charts',
          'table-page',
          'connect',
          'tables',
          'uplot',
        ].map(name => html`<link rel="stylesheet" href="${fileAddress(`assets/${name}.css`)}" />`)}
        ${new Markup(`<script type="importmap">${importMap}</script>`)}
        ${preloadAddresses('main').map(address => html`<link rel="modulepreload" href="${address}" />`)}
        <script type="module" src="${moduleAddress('main')}"></script>
      </head>
      <body>
        <noscript>
          <p class="noscript">
            The console needs JavaScript. Without it, use the
            <a href="/guide/index">API and its documentation</a>.
          </p>
        </noscript>
        <div id="app">
          ${
            frame
              ? renderShell(frame.viewer, frame.path)
              : html`<div class="booting" aria-hidden="true"></div>`
          }
        </div>
      </body>
    </html> `.text
}
