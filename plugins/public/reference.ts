import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { html } from '../../server/markup.ts'
import { sourceHash, renderPage, buildPolicy, SHELL_STYLE } from './page-shell.ts'

/** A page that shows `/openapi.json`. */
export interface ReferencePage {
  path: '/docs' | '/redoc'
  description: string
  page: string
  policy: string
  /** Served as a file, since the policy allows no inline script. */
  startScript: string
  /** The folder of the renderer's files; null if it is not installed. */
  folder: string | null
  /** The files of the folder that are served. */
  files: readonly string[]
}

const STYLE = `${SHELL_STYLE}
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 20px; padding: 10px 20px; background: var(--card); border-bottom: 1px solid var(--line); }
header p { margin: 0; font-size: 18px; font-weight: 600; }
header nav { display: flex; flex-wrap: wrap; gap: 4px 20px; }
header a { color: var(--link); }
header a:focus-visible { outline: 3px solid var(--on); outline-offset: 3px; border-radius: 4px; }
header [aria-current] { color: inherit; text-decoration: none; }
#reference > p { margin: 0; padding: 20px; }
@media (prefers-color-scheme: dark) {
  #reference .redoc-wrap h5, #reference .redoc-wrap h5 * { color: var(--quiet); }
  #reference .redoc-wrap polygon { fill: var(--quiet); }
  #reference .redoc-wrap [role=tab][aria-selected=true] { background: #33383d; }
}
`

/** Redoc inserts empty style sheets and fills them by script: this is the hash of the empty text. */
const EMPTY_STYLE = sourceHash('')

/** The interactive reference, rendered by Swagger UI. */
export const swagger: ReferencePage = {
  path: '/docs',
  description: 'The interactive reference',
  folder: packageFolder('swagger-ui-dist/package.json'),
  files: ['swagger-ui.css', 'swagger-ui-bundle.js'],
  page: renderReference('/docs', {
    styleSheets: ['/docs/assets/swagger-ui.css'],
    scripts: ['/docs/assets/swagger-ui-bundle.js', '/docs/start.js'],
  }),
  // Styles set by script need no permission; the icons of the style sheet are data addresses.
  policy: buildPolicy({
    'script-src': ["'self'"],
    'style-src': ["'self'", sourceHash(STYLE)],
    'connect-src': ["'self'"],
  }),
  // The validator is another host. Colours depend on a class. The policy allows requests to this host only, which may
  // have more names than the one in the description.
  startScript: `const dark = matchMedia('(prefers-color-scheme: dark)')
const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', colour)
colour()
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
  persistAuthorization: false,
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.href)
    request.url = location.origin + pathname + search
    return request
  },
})
`,
}

/** The reference on one page, rendered by Redoc. */
export const redoc: ReferencePage = {
  path: '/redoc',
  description: 'The reference on one page',
  folder: redocFolder(),
  files: ['redoc.standalone.js'],
  page: renderReference('/redoc', { scripts: ['/redoc/assets/redoc.standalone.js', '/redoc/start.js'] }),
  // Search runs in a worker made from a blob. Two requests of Redoc are refused without harm: a logo from another host,
  // and the style of scrollbars, which `nativeScrollbars` leaves unused.
  policy: buildPolicy({
    'script-src': ["'self'"],
    'style-src': [sourceHash(STYLE), EMPTY_STYLE],
    'connect-src': ["'self'"],
    'worker-src': ['blob:'],
  }),
  startScript: `const dark = matchMedia('(prefers-color-scheme: dark)')
const darkTheme = {
  colors: {
    primary: { main: '#8ab4ff' },
    success: { main: '#6fcf7f' },
    error: { main: '#ff9b93' },
    text: { primary: '#edeef0', secondary: '#a9afb7' },
    border: { dark: '#60646c', light: '#33383d' },
    gray: { 50: '#1a1d20', 100: '#25292d' },
    responses: { success: { color: '#6fcf7f' }, error: { color: '#ff9b93' }, redirect: { color: '#f0c36d' }, info: { color: '#8ab4ff' } },
  },
  schema: { linesColor: '#60646c', nestedBackground: '#1a1d20', typeNameColor: '#edeef0', typeTitleColor: '#a9afb7', requireLabelColor: '#ff9b93', arrow: { color: '#a9afb7' } },
  typography: { links: { color: '#8ab4ff', visited: '#8ab4ff', hover: '#b5cfff' }, code: { color: '#ffb3a7', backgroundColor: '#25292d' } },
  sidebar: { backgroundColor: '#1a1d20', textColor: '#edeef0' },
  rightPanel: { backgroundColor: '#1a1d20' },
  codeBlock: { backgroundColor: '#0b0c0d' },
  fab: { backgroundColor: '#25292d', color: '#8ab4ff' },
}
// Redoc cannot change its colours once it is rendered.
dark.addEventListener('change', () => location.reload())
Redoc.init(
  '/openapi.json',
  { nativeScrollbars: true, theme: dark.matches ? darkTheme : {} },
  document.getElementById('reference'),
)
`,
}

function renderReference(
  path: ReferencePage['path'],
  files: { styleSheets?: readonly string[]; scripts: readonly string[] },
): string {
  const link = (to: string, name: string) =>
    to === path ? html`<a href="${to}" aria-current="page">${name}</a>` : html`<a href="${to}">${name}</a>`
  return renderPage({
    title: path === '/docs' ? 'Tidemark: interactive reference' : 'Tidemark: reference',
    style: STYLE,
    ...files,
    content: html`<header>
        <p>Tidemark</p>
        <nav aria-label="Pages">
          ${link('/', 'Start')} ${link('/docs', 'Interactive reference')}
          ${link('/redoc', 'Reference to read')}
        </nav>
      </header>
      <main id="reference">
        <p>This page needs JavaScript; the same content is in <a href="/openapi.json">/openapi.json</a>.</p>
      </main>`,
  })
}

/** The build puts a copy beside this file; sources use the installed package. */
function redocFolder(): string | null {
  const copy = fileURLToPath(new URL('redoc', import.meta.url))
  return existsSync(copy) ? copy : packageFolder('redoc/bundles/redoc.standalone.js')
}

function packageFolder(file: string): string | null {
  try {
    const path = fileURLToPath(import.meta.resolve(file))
    return existsSync(path) ? dirname(path) : null
  } catch {
    return null
  }
}
