import { buildPolicy, sourceHash } from '../../server/http/content-policy.ts'
import { html, Markup } from '../../server/markup.ts'
import { drawChart } from './chart.ts'
import type { SharedChart } from './links.ts'

/** Stands in the page, so that it loads nothing at all. */
const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1c2024, #e8eaed); --quiet: light-dark(#5a606a, #a4abb5);
  --page: light-dark(#fff, #111418); --line: light-dark(#dde1e7, #2e353d); --accent: light-dark(#1a62d6, #5b9bff);
  --band: light-dark(#1a62d626, #5b9bff2e); --critical: light-dark(#c62828, #ff7b72) }
body { max-width: 860px; margin: 24px auto; padding: 0 16px; background: var(--page); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif }
h1 { font-size: 20px; overflow-wrap: anywhere } p, summary, svg text { color: var(--quiet) } svg { width: 100%; height: auto }
svg text { fill: var(--quiet); font-size: 12px } .grid { stroke: var(--line) } .band { fill: var(--band) }
.line { fill: none; stroke: var(--accent); stroke-width: 1.5 } .dot { fill: var(--accent) }
.anomaly { fill: var(--critical) } th, td { padding: 2px 16px 2px 0; text-align: left }
td { font-variant-numeric: tabular-nums } .scroll { overflow-x: auto }
:focus-visible { outline: 2px solid var(--accent) }
`

export const chartPolicy = buildPolicy({ 'style-src': [sourceHash(STYLE)], 'img-src': ["'none'"] })

function renderPage(title: string, content: Markup): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        ${new Markup(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `.text
}

/** What a link shows that has expired, was revoked or never was one. */
export const missingPage = renderPage(
  'No chart',
  html`<h1>This link shows no chart</h1>
    <p>It has expired or was revoked. Ask the person who sent it for a new one.</p>`,
)

const formatTime = (at: number | Date) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
const formatValue = (value: number | null) => (value === null ? '–' : String(Number(value.toPrecision(6))))

/** What the values of checks of a kind are. */
const MEASURED: Record<string, string> = {
  validity: 'Invalid rows in percent',
  referential: 'Rows without a parent',
  comparison: 'Differences',
}

/** The page of a link: one chart, and its numbers as a table. */
export function renderChartPage({ series, days, expiresAt }: SharedChart): string {
  const { name, table, kind, points } = series
  const title = `${name} on ${table}`
  const anomalies = points.filter(({ status }) => status === 'fail').length
  const what = MEASURED[kind] ?? 'Value'
  return renderPage(
    title,
    html`<h1>${title}</h1>
      <p>
        ${what ?? 'Value'} in the last ${days} ${days === 1 ? 'day' : 'days'}, times in UTC.
        ${
          points.length === 0
            ? 'There are no values.'
            : `${anomalies} of ${points.length} ${points.length === 1 ? 'value' : 'values'} failed the check.`
        }
      </p>
      ${points.length === 0 ? null : drawChart(title, points)}
      ${
        points.length === 0
          ? null
          : html`<details>
              <summary>The numbers</summary>
              <div class="scroll" tabindex="0" role="region" aria-label="The numbers">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Time</th>
                      <th scope="col">Value</th>
                      <th scope="col">Expected</th>
                      <th scope="col">Result</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${points.toReversed().map(
                      ({ at, value, low, high, status }) =>
                        html`<tr>
                          <td>${formatTime(at)}</td>
                          <td>${formatValue(value)}</td>
                          <td>
                            ${low === null || high === null ? '–' : `${formatValue(low)} to ${formatValue(high)}`}
                          </td>
                          <td>${status}</td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>
            </details>`
      }
      <p>This link works until ${formatTime(expiresAt)} UTC.</p>`,
  )
}
