import { html } from '../../server/markup.ts'
import { pages } from './doc-pages.ts'
import { sourceHash, renderPage, buildPolicy, SHELL_STYLE } from './page-shell.ts'

const STYLE = `${SHELL_STYLE}
body { padding: 16px; }
main { max-width: 760px; margin: 32px auto; }
h1 { margin: 0 0 8px; font-size: 32px; line-height: 1.2; }
h2 { margin: 32px 0 12px; font-size: 20px; line-height: 1.3; }
p { margin: 0; color: var(--quiet); }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px; margin: 0; padding: 0; list-style: none; }
a { display: inline-block; padding: 2px 0; color: var(--link); font-weight: 600; }
a:hover { text-decoration-thickness: 2px; }
a:focus-visible { outline: 3px solid var(--on); outline-offset: 3px; border-radius: 4px; }
li p { font-size: 15px; }
.cards li { padding: 14px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
.pages { column-gap: 28px; }
`

export const startPolicy = buildPolicy({ 'style-src': [sourceHash(STYLE)] })

const REFERENCE_LINKS = [
  ['/docs', 'Interactive reference', 'Every request, to try out here.'],
  ['/redoc', 'Reference to read', 'The same on one page, with examples.'],
  ['/openapi.json', 'OpenAPI description', 'The same for programs, in version 3.1.'],
  ['/health', 'Health', 'The state of the service, its database and its jobs.'],
] as const

export const startPage = renderPage({
  title: 'Tidemark',
  style: STYLE,
  content: html`<main>
    <h1>Tidemark</h1>
    <p>
      Watches databases and warehouses: schema changes, freshness, volume and the validity of values. It
      alerts you when something is wrong.
    </p>
    <nav aria-labelledby="reference">
      <h2 id="reference">Reference</h2>
      <ul class="cards">
        ${REFERENCE_LINKS.map(([path, name, text]) => entry(path, name, text))}
      </ul>
    </nav>
    <nav aria-labelledby="documentation">
      <h2 id="documentation">Documentation</h2>
      <ul class="pages">
        ${pages.map(({ name, title }) => {
          const [short = title, text = ''] = title.split(': ', 2)
          return entry(`/api/public/docs/${name}.md`, short, text)
        })}
      </ul>
    </nav>
  </main>`,
})

function entry(path: string, name: string, text: string) {
  const more = text && html`<p>${text.charAt(0).toUpperCase()}${text.slice(1)}</p>`
  return html`<li><a href="${path}">${name}</a>${more}</li>`
}
