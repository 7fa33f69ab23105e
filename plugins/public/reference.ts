import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { html } from '../../server/markup.ts'
import { buildPolicy, sourceHash } from '../../server/http/content-policy.ts'
import { renderHeader, renderPage } from './page-shell.ts'

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

/** For scripts of the references: whether the page is dark, as `theme.js` has set it or the system does. */
const THEME_SCRIPT = `const system = matchMedia('(prefers-color-scheme: dark)')
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark'
const colour = () => document.documentElement.classList.toggle('dark-mode', isDark())
const onTheme = follow => {
  system.addEventListener('change', follow)
  addEventListener('tidemark:theme', follow)
}
colour()
`

/** Redoc inserts empty style sheets, which it fills by script, and that of its scrollbars. */
const REDOC_STYLES = [sourceHash(''), "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='"]

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
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
  }),
  // The validator is another host. Colours depend on a class. The policy allows requests to this host only, which may
  // have more names than the one in the description. Swagger UI's own resolver processes the whole description at each
  // operation that is opened, which takes 2 s; ours only puts in what the operation refers to.
  startScript: `${THEME_SCRIPT}onTheme(colour)
const find = (document, path) => path.reduce((value, key) => value?.[key], document)
function inline(document, value, open = []) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(part => inline(document, part, open))
  const { $ref } = value
  if (typeof $ref === 'string' && $ref.startsWith('#/') && !open.includes($ref))
    return inline(document, find(document, $ref.slice(2).split('/')), [...open, $ref])
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inline(document, part, open)]))
}
const resolver = {
  afterLoad() {
    this.fn.resolveSubtree = async (document, path) => ({
      spec: inline(document, find(document, path)),
      errors: [],
    })
  },
}
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#main',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelExpandDepth: 0,
  defaultModelsExpandDepth: -1,
  syntaxHighlight: false,
  plugins: [() => resolver],
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
  page: renderReference('/redoc', {
    styleSheets: [],
    scripts: ['/redoc/assets/redoc.standalone.js', '/redoc/start.js'],
  }),
  // Search runs in a worker made from a blob.
  policy: buildPolicy({
    'script-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'style-src': ["'self'", ...REDOC_STYLES],
    'connect-src': ["'self'"],
    'worker-src': ['blob:'],
  }),
  startScript: `${THEME_SCRIPT}const probe = document.body.appendChild(document.createElement('i'))
/** A colour of tokens.css as Redoc can read it, which knows neither variables nor light-dark(). */
const token = name => {
  probe.style.color = 'var(--' + name + ')'
  return getComputedStyle(probe).color
}
const [text, quiet, card, hover, line, field, link] =
  ['text', 'quiet', 'card', 'hover', 'line', 'field', 'link'].map(token)
const [ok, warning, critical] = ['ok', 'warning', 'critical'].map(token)
const typography = { fontFamily: 'system-ui, sans-serif', headings: { fontFamily: 'system-ui, sans-serif' } }
const links = { color: link, visited: link, hover: link }
const lightTheme = { colors: { primary: { main: link } }, typography: { ...typography, links } }
const darkTheme = {
  colors: {
    primary: { main: link },
    success: { main: ok },
    error: { main: critical },
    text: { primary: text, secondary: quiet },
    border: { dark: field, light: line },
    gray: { 50: card, 100: hover },
    responses: { success: { color: ok }, error: { color: critical }, redirect: { color: warning }, info: { color: link } },
  },
  schema: { linesColor: field, nestedBackground: card, typeNameColor: text, typeTitleColor: quiet, requireLabelColor: critical, arrow: { color: quiet } },
  typography: { ...typography, links, code: { color: critical, backgroundColor: hover } },
  sidebar: { backgroundColor: card, textColor: text },
  rightPanel: { backgroundColor: card },
  codeBlock: { backgroundColor: '#0b0c0d' },
  fab: { backgroundColor: hover, color: link },
}
const theme = isDark() ? darkTheme : lightTheme
probe.remove()
// Redoc shows a logo from another host and removes it if it cannot be loaded.
HTMLImageElement.prototype.setAttribute = function (name, value) {
  if (name === 'src' && !value.startsWith('data:')) queueMicrotask(() => this.dispatchEvent(new Event('error')))
  else Element.prototype.setAttribute.call(this, name, value)
}
Object.defineProperty(HTMLImageElement.prototype, 'src', {
  set(value) {
    this.setAttribute('src', value)
  },
})
// Redoc cannot change its colours once it is rendered.
onTheme(() => location.reload())
Redoc.init(
  '/openapi.json',
  { nativeScrollbars: true, theme },
  document.getElementById('main'),
)
`,
}

function renderReference(
  path: ReferencePage['path'],
  files: { styleSheets: readonly string[]; scripts: readonly string[] },
): string {
  return renderPage({
    title: path === '/docs' ? 'Try the API · Tidemark' : 'API reference · Tidemark',
    layout: 'reference',
    ...files,
    content: html`${renderHeader(path)}
      <main id="main">
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
