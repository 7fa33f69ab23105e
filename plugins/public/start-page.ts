import { html, type Markup } from '../../server/markup.ts'
import { pageAddress, pageGroups } from './doc-pages.ts'
import { renderSearch, siteScripts } from './docs-site.ts'
import { renderHeader, renderPage } from './page-shell.ts'

const REFERENCES = [
  ['/docs', 'Try the API', 'Every request, with a form to send it'],
  ['/redoc', 'API reference', 'Every request on one page, with examples'],
  ['/openapi.json', 'OpenAPI description', 'The same for programs, in version 3.1'],
  ['/health', 'Health', 'The state of the service, its database and its jobs'],
] as const

/** A code block with a line per text; the script of the site adds a button that copies it. */
function renderCode(...lines: string[]): Markup {
  return html`<pre><code>${lines.join('\n')}</code></pre>`
}

/** The start page: what the service is, the first steps, and links to everything else. */
export function renderStart(baseUrl: string): string {
  const request = (path: string) =>
    renderCode(`curl -s "$BASE/api/v1${path}" \\`, '  -H "Authorization: Bearer $KEY"')
  const groups = [
    ...pageGroups.map(({ title, pages }) => ({
      title,
      links: pages.map(({ name, title, text }) => [pageAddress(name), title, text] as const),
    })),
    { title: 'API', links: REFERENCES },
  ]
  return renderPage({
    title: 'Tidemark',
    layout: 'start',
    scripts: siteScripts,
    content: html`${renderHeader('/guide', renderSearch())}
      <main id="main">
        <h1>Know when your data is wrong</h1>
        <p class="lead">
          Tidemark monitors databases and warehouses: schema changes, freshness, volume and the validity of
          values. It alerts you when something needs attention.
        </p>
        <section aria-labelledby="first">
          <h2 id="first">First steps</h2>
          <ol class="steps">
            <li>
              <p>
                <a href="/">Open the console</a>: the overview says what needs attention.
                <a href="${pageAddress('start-console')}">At the console</a> leads from there to the first
                alert.
              </p>
            </li>
            <li>
              <p>
                Or use the API: set the address and your API key. <code>npm start</code> prints the key of the
                demo.
              </p>
              ${renderCode(`BASE=${baseUrl}`, 'KEY=aa_live_…')}
            </li>
            <li>
              <p>List the tables that are monitored.</p>
              ${request('/assets?limit=20')}
            </li>
            <li>
              <p>List the alerts that need attention.</p>
              ${request('/sdk/alerts/inbox')}
            </li>
          </ol>
          <p><a href="${pageAddress('getting-started')}">Continue with getting started</a></p>
        </section>
        <nav aria-labelledby="documentation">
          <h2 id="documentation">Documentation</h2>
          <div class="groups">
            ${groups.map(
              ({ title, links }) =>
                html`<section>
                  <h3>${title}</h3>
                  <ul>
                    ${links.map(([path, name, text]) => html`<li><a href="${path}">${name}</a> ${text}</li>`)}
                  </ul>
                </section>`,
            )}
          </div>
        </nav>
      </main>`,
  })
}
