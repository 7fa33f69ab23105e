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
  startScript: `const dark = matchMedia('(prefers-color-scheme: dark)')
const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', colour)
colour()
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
dark.addEventListener('change', () => location.reload())
Redoc.init(
  '/openapi.json',
  { nativeScrollbars: true, theme: dark.matches ? darkTheme : {} },
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
